/* Times in the viewer's zone, and clocks that go on between two looks at the service. */

import { createTimeWords, durationText } from './time-words.js';

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const words = createTimeWords(zone, undefined);

/** Lets the server write the next page as this script would. */
export function leaveZone() {
  const said = encodeURIComponent(`${zone} ${navigator.language}`);
  document.cookie = `carillon_zone=${said}; path=/; max-age=31536000; samesite=strict`;
}

export function writeTimes(/** @type {ParentNode} */ root) {
  const clock = root.querySelector('#clock') ?? document.getElementById('clock');
  const now = clock instanceof HTMLElement ? Number(clock.dataset.now) : Date.now();
  for (const shown of root.querySelectorAll('time')) {
    const at = Date.parse(shown.dateTime);
    shown.textContent = words.write(shown.dataset.show ?? '', at, now);
    shown.title = `${shown.dataset.show === 'minute' ? `${words.write('', at, now)}, ` : ''}${shown.dateTime} (${zone})`;
  }
  for (const place of root.querySelectorAll('#clock-zone, .viewer-zone')) place.textContent = words.zoneName;
}

/** Service time as it stood at a moment of `performance.now()`. */
let anchor = { now: 0, speed: 0, at: 0 };

/** Takes the service's clock as the page has it; where there is none, it stands. */
export function setClock() {
  const { now, speed = 0 } = document.getElementById('clock')?.dataset ?? {};
  anchor = { now: Number(now), speed: Number(speed), at: performance.now() };
}

export function tick() {
  if (anchor.speed === 0) return;
  const now = anchor.now + (performance.now() - anchor.at) * anchor.speed;
  const shown = document.querySelector('#clock-now time');
  if (shown !== null) shown.textContent = words.write('', now, now);
  for (const lasting of document.querySelectorAll('[data-since]'))
    lasting.textContent = durationText(now - Number(lasting.getAttribute('data-since')));
}

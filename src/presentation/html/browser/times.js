/* Times in the viewer's zone, and clocks that go on between two looks at the service. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** @type {Intl.DateTimeFormatOptions} */
const clockTime = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const full = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', ...clockTime });
/** @type {Record<string, Intl.DateTimeFormat>} */
const formats = {
  time: new Intl.DateTimeFormat(undefined, clockTime),
  minute: new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', ...clockTime, second: undefined }),
};

export function writeTimes(/** @type {ParentNode} */ root) {
  for (const shown of root.querySelectorAll('time')) {
    shown.textContent = (formats[shown.dataset.show ?? ''] ?? full).format(new Date(shown.dateTime));
    shown.title = `${shown.dateTime} (${zone})`;
  }
  const place = root.querySelector('#clock-zone');
  if (place !== null) place.textContent = zone.replaceAll('_', ' ');
}

function writeDuration(/** @type {number} */ ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}:${two(seconds % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
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
  if (shown !== null) shown.textContent = full.format(new Date(now));
  for (const lasting of document.querySelectorAll('[data-since]'))
    lasting.textContent = writeDuration(now - Number(lasting.getAttribute('data-since')));
}

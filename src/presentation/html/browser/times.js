/* Times in the viewer's zone, and clocks that go on between two looks at the service. */

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** @type {Intl.DateTimeFormatOptions} */
const clockTime = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
const full = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric', ...clockTime });
const seconds = new Intl.DateTimeFormat(undefined, clockTime);
const near = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...clockTime });
const dayMs = 86_400_000;

/** @typedef {Record<string, string>} Parts A date and a time as the words around them are written, in English. */

function partsOf(/** @type {number} */ at) {
  /** @type {Parts} */
  const parts = Object.fromEntries(near.formatToParts(at).map(({ type, value }) => [type, value]));
  return parts;
}

function minuteOf(/** @type {Parts} */ { hour, minute }) {
  return `${Number(hour)}:${minute}`;
}

/** `today`, `tomorrow`, `Wed 25 Nov`; of another year with the year. `now`: of the service. */
function dayOf(/** @type {number} */ at, /** @type {number} */ now) {
  const { weekday, day, month, year } = partsOf(at);
  const isDay = (/** @type {number} */ other) => {
    const there = partsOf(other);
    return there.day === day && there.month === month && there.year === year;
  };
  if (isDay(now)) return 'today';
  if (isDay(now + dayMs)) return 'tomorrow';
  if (isDay(now - dayMs)) return 'yesterday';
  return `${weekday} ${day} ${month}${partsOf(now).year === year ? '' : ` ${year}`}`;
}

/** @type {Record<string, (at: number, now: number) => string>} */
const shows = {
  time: (at) => seconds.format(at),
  clock: (at) => minuteOf(partsOf(at)),
  // A date with a number in it and a time are kept apart.
  minute: (at, now) => [dayOf(at, now), minuteOf(partsOf(at))].join(/\d/.test(dayOf(at, now)) ? ', ' : ' '),
  about: (at, now) => `${dayOf(at, now)} about ${minuteOf(partsOf(at))}`,
  brief: (at, now) => {
    const day = dayOf(at, now);
    if (day === 'today') return minuteOf(partsOf(at));
    return Math.abs(at - now) < 6 * dayMs ? `${partsOf(at).weekday} ${minuteOf(partsOf(at))}` : day.replace(/^\w+ /, '');
  },
};

export function writeTimes(/** @type {ParentNode} */ root) {
  const clock = root.querySelector('#clock') ?? document.getElementById('clock');
  const now = clock instanceof HTMLElement ? Number(clock.dataset.now) : Date.now();
  for (const shown of root.querySelectorAll('time')) {
    const at = Date.parse(shown.dateTime);
    shown.textContent = shows[shown.dataset.show ?? '']?.(at, now) ?? full.format(at);
    shown.title = `${shown.dataset.show === 'minute' ? `${full.format(at)}, ` : ''}${shown.dateTime} (${zone})`;
  }
  for (const place of root.querySelectorAll('#clock-zone, .viewer-zone')) place.textContent = zone.replaceAll('_', ' ');
}

function writeDuration(/** @type {number} */ ms) {
  const whole = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
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

/* How pages write instants; their server uses it for the first look. */

const dayMs = 86_400_000;

/** @typedef {Record<string, string>} Parts A date and a time as the words around them are written, in English. */

function minuteOf(/** @type {Parts} */ { hour, minute }) {
  return `${Number(hour)}:${minute}`;
}

/** `locale`: of figures and months where no words stand around them; undefined: as the machine has it. */
export function createTimeWords(/** @type {string} */ timeZone, /** @type {string | undefined} */ locale) {
  /** @type {Intl.DateTimeFormatOptions} */
  const clockTime = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone };
  const full = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', ...clockTime });
  const seconds = new Intl.DateTimeFormat(locale, clockTime);
  const near = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', ...clockTime });

  const partsOf = (/** @type {number} */ at) => {
    /** @type {Parts} */
    const parts = Object.fromEntries(near.formatToParts(at).map(({ type, value }) => [type, value]));
    return parts;
  };

  /** `today`, `tomorrow`, `Wed 25 Nov`; of another year with the year. `now`: of the service. */
  const dayOf = (/** @type {number} */ at, /** @type {number} */ now) => {
    const { weekday, day, month, year } = partsOf(at);
    const isDay = (/** @type {number} */ other) => {
      const there = partsOf(other);
      return there.day === day && there.month === month && there.year === year;
    };
    if (isDay(now)) return 'today';
    if (isDay(now + dayMs)) return 'tomorrow';
    if (isDay(now - dayMs)) return 'yesterday';
    return `${weekday} ${day} ${month}${partsOf(now).year === year ? '' : ` ${year}`}`;
  };

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
  const write = (/** @type {string} */ show, /** @type {number} */ at, /** @type {number} */ now) =>
    shows[show]?.(at, now) ?? full.format(at);
  return { write, zoneName: timeZone.replaceAll('_', ' ') };
}

/** `1:05` or `1:00:05`. */
export function durationText(/** @type {number} */ ms) {
  const whole = Math.max(0, Math.floor(ms / 1000));
  const two = (/** @type {number} */ value) => String(value).padStart(2, '0');
  const minutes = Math.floor(whole / 60);
  return minutes < 60 ? `${minutes}:${two(whole % 60)}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** What words mean: a while from now on, or times of one day of which one is meant. Wall times as `wallTime` answers them. */
export type SpokenTime =
  | { kind: 'after'; ms: number }
  | { kind: 'at'; walls: readonly number[] }
  | { kind: 'unclear'; reason: 'no_time' | 'not_understood' | 'ambiguous' };

const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const months = 'january february march april may june july august september october november december'.split(' ');
const numbers = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'];
const minutesInWords: Readonly<Record<string, string>> = {
  fifteen: '15',
  twenty: '20',
  thirty: '30',
  'forty-five': '45',
  'forty five': '45',
};
/** Where a part of the day is all that is said, it begins then; minutes after midnight. */
const partsOfDay: Readonly<Record<string, number>> = {
  morning: 9 * 60,
  noon: 12 * 60,
  midday: 12 * 60,
  afternoon: 14 * 60,
  evening: 18 * 60,
};

/** What people say around a time without changing it. Any other word that the grammar does not know makes it unclear. */
const fillers =
  /\b(?:please|could you|can you|you can|call|ring|phone|me|us|back|again|on|at|around|about|maybe|well|yes|ok|okay|the|that|would be|would suit(?: me)?|suits me|if (?:that|it) is possible|if possible|is|works|best|fine|good|then|of|for me|thanks|thank you|i am free|i'm free|try|let's say|say)\b/g;

/**
 * Reads a time in English words, by a fixed grammar: `tomorrow at 5`, `Monday morning`, `in half an hour`, `half past four`. `now`: what
 * the wall of the callee shows. Every word has to have its place in the grammar: `not tomorrow` is unclear.
 */
export function readSpokenTime(said: string, now: number): SpokenTime {
  let text = ` ${normalise(said)} `;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    const found = pattern.exec(text);
    if (found !== null) text = `${text.slice(0, found.index)} ${text.slice(found.index + found[0].length)}`;
    return found;
  };
  const after = readWhile(take);
  if (after !== null) return isDone(text) ? { kind: 'after', ms: after } : { kind: 'unclear', reason: 'not_understood' };
  const day = readDay(take, now);
  const clock = readClock(take);
  if (!isDone(text)) return { kind: 'unclear', reason: 'not_understood' };
  if (day === 'ambiguous' || clock === 'ambiguous') return { kind: 'unclear', reason: 'ambiguous' };
  if (clock === null) return { kind: 'unclear', reason: day === null ? 'not_understood' : 'no_time' };
  const midnight = day ?? startOf(now);
  return { kind: 'at', walls: clock.map((minutes) => midnight + minutes * minuteMs) };
}

type Take = (pattern: RegExp) => RegExpExecArray | null;

function normalise(said: string): string {
  let text = said.toLowerCase().replaceAll('’', "'");
  for (const [value, word] of numbers.entries()) text = text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), String(value));
  for (const [word, value] of Object.entries(minutesInWords)) text = text.replaceAll(new RegExp(`\\b${word}\\b`, 'g'), value);
  return text
    .replaceAll(/\b([ap])\.? ?m\b\.?/g, '$1m')
    .replaceAll(/(\d)([ap]m)\b/g, '$1 $2')
    .replaceAll(/[,;!?]|\.(?!\d)/g, ' ');
}

function isDone(text: string): boolean {
  return text.replaceAll(fillers, ' ').trim() === '';
}

function startOf(wall: number): number {
  return Math.floor(wall / dayMs) * dayMs;
}

/** Milliseconds of `in 20 minutes`; null: nothing of the kind is said. */
function readWhile(take: Take): number | null {
  if (take(/\bin (?:an?|1) hour and a half\b/) !== null) return 90 * minuteMs;
  if (take(/\bin (?:half an hour|a half hour)\b/) !== null) return 30 * minuteMs;
  if (take(/\bin a quarter of an hour\b/) !== null) return 15 * minuteMs;
  const found = take(/\bin (\d{1,3}|an?) ?(minutes?|mins?|hours?|hrs?)\b/);
  if (found === null) return null;
  const [, amount = '', unit = ''] = found;
  return (/^an?$/.test(amount) ? 1 : Number(amount)) * (unit.startsWith('m') ? 1 : 60) * minuteMs;
}

/** The midnight with which the day begins; null: no day is named. */
function readDay(take: Take, now: number): number | 'ambiguous' | null {
  const today = startOf(now);
  if (take(/\b(?:the )?day after tomorrow\b/) !== null) return today + 2 * dayMs;
  if (take(/\btomorrow\b/) !== null) return today + dayMs;
  if (take(/\b(?:later )?today\b|\bthis (?=morning|afternoon|evening)/) !== null) return today;
  const written = take(/\b(\d{4})-(\d\d)-(\d\d)\b/);
  if (written !== null) return Date.UTC(Number(written[1]), Number(written[2]) - 1, Number(written[3]));
  const name = months.join('|');
  const dated = take(
    new RegExp(`\\b(?:(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${name})|(${name}) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?)\\b(?! ?[ap]m)`),
  );
  if (dated !== null) return dateOf(Number(dated[1] ?? dated[4]), months.indexOf(dated[2] ?? dated[3] ?? ''), today);
  const named = take(new RegExp(`\\b(next |this |coming )?(${weekdays.join('|')})\\b`));
  if (named === null) return null;
  const [, which, weekday = ''] = named;
  const ahead = (weekdays.indexOf(weekday) - new Date(today).getUTCDay() + 7) % 7;
  // On a Monday nobody knows whether "Monday" is today; and "next Friday" may be that of this week or of the next.
  if (ahead === 0) return 'ambiguous';
  const daysLeft = (7 - new Date(today).getUTCDay()) % 7;
  if (which === 'next ' && ahead <= daysLeft) return 'ambiguous';
  return today + ahead * dayMs;
}

/** The next such day. */
function dateOf(day: number, month: number, today: number): number | 'ambiguous' {
  const year = new Date(today).getUTCFullYear();
  const dates = [year, year + 1].map((each) => Date.UTC(each, month, day));
  const next = dates.find((date) => date >= today);
  return next === undefined || new Date(next).getUTCDate() !== day ? 'ambiguous' : next;
}

/** Minutes after midnight, two where it may be before noon or after; null: no time is named. */
function readClock(take: Take): number[] | 'ambiguous' | null {
  const half = take(/\b(?:in (?:the )?)?(am|pm|morning|afternoon|evening)\b/g) ?? take(/\b(tonight)\b/);
  const part = half?.[1] === 'tonight' ? 'evening' : half?.[1];
  const time = readTime(take);
  if (time === null) {
    if (part !== undefined && part in partsOfDay) return [partsOfDay[part] ?? 0];
    const noon = take(/\b(?:noon|midday)\b/);
    return noon === null ? null : [12 * 60];
  }
  const { hour, minute, isFull } = time;
  if (hour > 23 || minute > 59) return 'ambiguous';
  const at = hour * 60 + minute;
  if (isFull || hour > 12 || hour === 0) return part === undefined || part === (hour < 12 ? 'am' : 'pm') ? [at] : dayPart(at, part);
  const [before, behind] = [(hour % 12) * 60 + minute, ((hour % 12) + 12) * 60 + minute];
  if (part === undefined) return [before, behind];
  return part === 'am' || part === 'morning' ? [before] : [behind];
}

/** A time on the clock of 24 hours with a part of the day: they have to agree. */
function dayPart(at: number, part: string): number[] | 'ambiguous' {
  const isBefore = at < 12 * 60;
  return isBefore === (part === 'am' || part === 'morning') ? [at] : 'ambiguous';
}

/** `isFull`: on the clock of 24 hours. */
function readTime(take: Take): { hour: number; minute: number; isFull: boolean } | null {
  const past = take(/\b(half past|quarter past|quarter to) (\d{1,2})\b/);
  if (past !== null) {
    const hour = Number(past[2]);
    if (past[1] === 'quarter to') return { hour: hour === 1 ? 12 : hour - 1, minute: 45, isFull: false };
    return { hour, minute: past[1] === 'half past' ? 30 : 15, isFull: false };
  }
  const exact = take(/\b(\d{1,2})[:.](\d\d)\b/) ?? take(/\b(\d{1,2}) (15|20|30|45)\b/);
  if (exact !== null) return { hour: Number(exact[1]), minute: Number(exact[2]), isFull: /^0\d/.test(exact[1] ?? '') };
  const plain = take(/\b(\d{1,2})(?: o'?clock)?\b/);
  return plain === null ? null : { hour: Number(plain[1]), minute: 0, isFull: false };
}

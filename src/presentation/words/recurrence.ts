import { localMinute } from '../../shared/input/times.ts';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A schedule in words: `Weekdays at 8:30`, `Mondays at 13:00`; any other cron expression as written. */
export function recurrenceText(when: string): string {
  const [, every] = /^every (\S+)$/.exec(when) ?? [];
  if (every !== undefined) return `Every ${{ '1d': 'day', '24h': 'day', '7d': 'week', '1h': 'hour' }[every] ?? every}`;
  const [, minute = '', hour = '', ofMonth = '', month = '', week = ''] = /^(?:cron )?(\d+) (\d+) (\S+) (\S+) (\S+)$/.exec(when) ?? [];
  const on = daysText(week.toLowerCase());
  if (ofMonth !== '*' || month !== '*' || on === null) return when;
  return `${on} at ${Number(hour)}:${minute.padStart(2, '0')}`;
}

function daysText(week: string): string | null {
  if (week === '*') return 'Every day';
  if (['mon-fri', '1-5'].includes(week)) return 'Weekdays';
  const named = week.split(',').map((each) => days.find((day, index) => each === String(index) || each === day.slice(0, 3).toLowerCase()));
  return named.includes(undefined) ? null : named.map((day) => `${day}s`).join(', ');
}

export function zoneText(timeZone: string): string {
  return (timeZone.split('/').at(-1) ?? timeZone).replaceAll('_', ' ');
}

interface ClockEffects {
  clockChanges: readonly { effect: 'skipped' | 'doubled' | 'moved'; local: string; at: string }[];
  untouchedCron: string | null;
}

/** One sentence per effect of clock changes on a schedule, with the time that avoids it. */
export function clockChangeLines({ clockChanges, untouchedCron }: ClockEffects, zone: string | null): string[] {
  const lines = clockChanges.map(({ effect, local, at }) => {
    const [date, time] = local.split('T');
    if (effect === 'doubled') return `On ${date}, ${time} comes twice: two runs, the second only if the first has ended.`;
    if (effect === 'moved') return `On ${date} there is no ${time}: the run takes place at ${localMinute(at, zone).slice(-5)}.`;
    return `On ${date} there is no ${time}: no run.`;
  });
  return untouchedCron === null ? lines : [...lines, `No clock change touches ${recurrenceText(untouchedCron)} (${untouchedCron}).`];
}

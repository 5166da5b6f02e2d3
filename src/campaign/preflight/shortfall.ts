import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { Forecast } from '../../rules/forecast/forecast.ts';
import { count, plural } from '../../shared/input/figures.ts';
import { instantText } from '../../shared/input/times.ts';
import type { CampaignForecast, WindowNeeds } from './campaign-forecast.ts';

const minuteMs = 60_000;

/** Who is left without a call when all goes as well as it can. */
export function neverCalledText({ neverCalled }: Forecast): string {
  return `even at best ${plural(neverCalled, 'recipient')} would never be called`;
}

/** What the likely course lacks, and how much time or how many calls would be enough, in sentences; null when it lacks nothing. */
export function shortfallText({ endsAt }: CampaignRules, { needs, lines: linesNow }: CampaignForecast): string | null {
  if (needs === null) return null;
  const whom =
    needs.missing === 'first_attempts'
      ? `${plural(needs.recipients, 'recipient')} would likely never be called`
      : `${plural(needs.recipients, 'recipient')} would likely not get all attempts`;
  const until = endsAt === null ? '' : ` before ${instantText(endsAt)}`;
  const time = needs.moreMs === null ? null : `${atLeast(needs.moreMs)} more`;
  const calls = needs.concurrentCalls === null ? null : `${count(needs.concurrentCalls)} concurrent calls (now ${count(linesNow)})`;
  const lines = [
    `The window is too short: ${whom}${until}.`,
    time === null && calls === null
      ? 'No later end and no number of concurrent calls is enough.'
      : `It needs ${[time, calls].filter((part) => part !== null).join(' or ')}.`,
    ...(calls === null ? [limitText(needs)] : []),
  ];
  return lines.join(' ');
}

function limitText({ limitedBy, moreMs }: WindowNeeds): string {
  const begin = moreMs === null ? 'The reason:' : 'No number of concurrent calls is enough, because';
  switch (limitedBy) {
    case 'shared_words':
      return `${begin} too many opening lines are the same (see below).`;
    case 'account_limit':
      return `${begin} the account allows no more.`;
    case 'starts_per_minute':
      return `${begin} pacing.starts_per_minute lets too few calls begin.`;
    case 'warm_up':
      return `${begin} pacing.warm_up keeps lines unused for too long.`;
    case 'delays':
      return `${begin} the delays between attempts last too long.`;
    case 'windows':
    case null:
      return `${begin} the windows of those rows do not last long enough.`;
  }
}

/** A length of time, never told shorter than it is: `40 min`, `3 h 20 min`, `2 d 5 h`. */
function atLeast(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / minuteMs));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.ceil(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

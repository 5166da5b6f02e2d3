import type { CampaignForecast } from '../../campaign/preflight/campaign-forecast.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { Forecast } from '../../rules/forecast/forecast.ts';
import { count, percent, plural } from '../../shared/input/figures.ts';
import { instantText } from '../../shared/input/times.ts';
import { neverCalledText, shortfallText } from '../../campaign/preflight/start-time.ts';
import { wrapped } from '../../shared/input/printable.ts';

const minuteMs = 60_000;

/** Expected end, greatest cost, and what the windows lack. */
export function renderForecast(rules: CampaignRules, forecast: CampaignForecast): string[] {
  const { assumptions, calls, minutes } = forecast;
  const { answerRate, callMs, ringMs, shortTalkMs } = assumptions;
  const talk = `${callMs / 1000} s`;
  const row = (label: string, course: Forecast, callsOf: number, minutesOf: number): string =>
    `  ${label.padEnd(10)}${endText(course, rules.endsAt).padEnd(24)}${count(callsOf).padStart(13)}${count(minutesOf).padStart(13)}`;
  return [
    '',
    `If it starts ${instantText(forecast.startsAt)}`,
    `  ${''.padEnd(10)}${'ends'.padEnd(24)}${'calls'.padStart(13)}${'minutes'.padStart(13)}`,
    row('earliest', forecast.earliest, calls.fewest, minutes.fewest),
    row('likely', forecast.likely, calls.likely, minutes.likely),
    row('slowest', forecast.slowest, forecast.slowest.calls, Math.ceil(forecast.slowest.callMs / minuteMs)),
    `  ${'at most'.padEnd(34)}${count(calls.most).padStart(13)}${count(minutes.most).padStart(13)}`,
    ...wrapped(
      `Assumptions: at best everyone answers the first call, ${shortTalkMs / 1000} s each; likely ${percent(answerRate)} answer and talk ${talk}, ` +
        `the others ring ${ringMs / 1000} s and wait as after no answer or voicemail, whichever is longer; slowest, nobody is ever reached, ` +
        `every call lasts ${talk} and every delay is the longest. ` +
        'At most: with as many carrier failures as may go uncounted. No end is a bound: the service, other campaigns, pauses and the size ' +
        'of batches may slow it down.',
      '  ',
    ),
    ...(forecast.lines === rules.pacing.maxConcurrentCalls
      ? []
      : wrapped(`All campaigns of the account together may use ${count(forecast.lines)} lines.`, '  ')),
    ...(rules.retry.resetAfterMs === null
      ? []
      : wrapped(
          `retry.reset_after renews the budget, so a recipient who is never reached is called without limit. The forecast counts the first ${count(rules.retry.maxAttempts)} attempts.`,
          '  ',
        )),
    ...renderNeeds(rules, forecast),
    ...renderLost(forecast),
  ];
}

/** Last line of a check whose campaign cannot call every recipient. */
export function cannotFinishLine(forecast: CampaignForecast): string {
  return `The window is too short: ${neverCalledText(forecast.earliest)}. No call was placed.`;
}

export function endText({ finishesAt, endless, neverCalled, cutShort }: Forecast, endsAt: number | null): string {
  if (endless) return 'more than a year';
  if (finishesAt === null) return 'no call';
  return neverCalled + cutShort > 0 && endsAt !== null ? `cut off by ends_at` : instantText(finishesAt);
}

function renderNeeds(rules: CampaignRules, forecast: CampaignForecast): string[] {
  const text = shortfallText(rules, forecast);
  if (text === null) return [];
  const { needs } = forecast;
  const isAccount = needs?.limitedBy === 'account_limit' && needs.concurrentCalls === null;
  return ['', ...wrapped(isAccount ? `${text} carillon adjust --account changes that.` : text)];
}

/** Losses of the slowest course when the likely one has none. */
function renderLost({ needs, slowest }: CampaignForecast): string[] {
  const lost = slowest.neverCalled + slowest.cutShort;
  if (needs !== null || lost === 0) return [];
  return ['', ...wrapped(`If nobody answers, ${plural(lost, 'recipient')} would not get all their attempts before the end.`)];
}

import type { CampaignForecast, WindowNeeds } from '../../preflight/campaign-forecast.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import type { Forecast } from '../../domain/forecast/forecast.ts';
import { count } from '../terminal/printable.ts';
import { wrapped } from '../terminal/wrapped.ts';

const minuteMs = 60_000;

/** `2026-11-30 17:05 UTC`. */
export function instantText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** When the campaign would end, what it costs at most, and what its windows lack. */
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
      `Supposed: at best all answer the first call, ${shortTalkMs / 1000} s each; likely ${percent(answerRate)} answer and talk ${talk}, ` +
        `the others ring ${ringMs / 1000} s and wait as after no answer or voicemail, whichever is longer; slowest, nobody is ever reached, ` +
        `every call lasts ${talk} and every delay is the longest. ` +
        'At most: with as many failures of the carrier as may go uncounted. No end is a bound: the service, other campaigns, pauses and the size ' +
        'of batches may slow it down.',
      '  ',
    ),
    ...(forecast.lines === rules.pacing.maxConcurrentCalls
      ? []
      : wrapped(`All campaigns of the account together may use ${count(forecast.lines)} lines.`, '  ')),
    ...(rules.retry.resetAfterMs === null
      ? []
      : wrapped(
          `retry.reset_after renews the budget: whoever is never reached is called on and on. Counted are the first ${count(rules.retry.maxAttempts)} attempts.`,
          '  ',
        )),
    ...renderNeeds(rules, forecast),
    ...renderLost(forecast),
  ];
}

/** Last line of a check whose campaign cannot call everybody. */
export function cannotFinishLine(forecast: CampaignForecast): string {
  return `The window is too short: ${neverCalledText(forecast.earliest)}. No call was placed.`;
}

/** Who is left without a call when all goes as well as it can. */
export function neverCalledText({ neverCalled }: Forecast): string {
  return `even at best ${recipientsText(neverCalled)} would never be called`;
}

/** When a course of the forecast ends, in a few words. */
export function endText({ finishesAt, endless, neverCalled, cutShort }: Forecast, endsAt: number | null): string {
  if (endless) return 'more than a year';
  if (finishesAt === null) return 'no call';
  return neverCalled + cutShort > 0 && endsAt !== null ? `cut off by ends_at` : instantText(finishesAt);
}

function renderNeeds(rules: CampaignRules, forecast: CampaignForecast): string[] {
  const text = shortfallText(rules, forecast);
  return text === null ? [] : ['', ...wrapped(text)];
}

/** What the likely course lacks, and how much time or how many calls would be enough, in sentences; null when it lacks nothing. */
export function shortfallText({ endsAt }: CampaignRules, { needs, lines: linesNow }: CampaignForecast): string | null {
  if (needs === null) return null;
  const whom =
    needs.missing === 'first_attempts'
      ? `${recipientsText(needs.recipients)} would likely never be called`
      : `${recipientsText(needs.recipients)} would likely not get all attempts`;
  const until = endsAt === null ? '' : ` before ${instantText(endsAt)}`;
  const time = needs.moreMs === null ? null : `${atLeast(needs.moreMs)} more`;
  const calls =
    needs.concurrentCalls === null ? null : `${count(needs.concurrentCalls)} concurrent calls (now ${count(linesNow)})`;
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
      return `${begin} the account allows no more (carillon adjust --account).`;
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

/** What the course that takes longest loses, when the likely one does not. */
function renderLost({ needs, slowest }: CampaignForecast): string[] {
  const lost = slowest.neverCalled + slowest.cutShort;
  if (needs !== null || lost === 0) return [];
  return ['', ...wrapped(`Should nobody answer, ${recipientsText(lost)} would not get all attempts before the end.`)];
}

function recipientsText(times: number): string {
  return times === 1 ? '1 recipient' : `${count(times)} recipients`;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** A length of time, never told shorter than it is: `40 min`, `3 h 20 min`, `2 d 5 h`. */
function atLeast(ms: number): string {
  const minutes = Math.max(1, Math.ceil(ms / minuteMs));
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const hours = Math.ceil(minutes / 60);
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

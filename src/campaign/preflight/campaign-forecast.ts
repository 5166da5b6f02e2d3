import { windowsOf } from '../../rules/caller-choice.ts';
import { paceMs, type StartLimit } from '../../rules/forecast/line-use.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { forecast, type CallAssumptions, type Forecast, type ForecastGroup, type ForecastInput } from '../../rules/forecast/forecast.ts';
import { coarsened } from '../../rules/forecast/coarse.ts';
import { firstThat } from '../../rules/collections.ts';
import { warmUpLines } from '../../rules/pacing/pacing.ts';
import { likelyRetries, longestRetries, type RetryPath } from './retry-path.ts';

export interface ForecastAssumptions {
  /** Mean length of an answered call. */
  callMs: number;
  /** Share of calls that are answered, 0 to 1. */
  answerRate: number;
}

export const usualAssumptions: ForecastAssumptions = { callMs: 90_000, answerRate: 0.35 };

/** How long an unanswered call rings, and how long the shortest talk lasts. */
export const ringMs = 30_000;
export const shortTalkMs = 30_000;

/** Maximum that a campaign file may request. */
const mostLines = 100_000;

export interface WindowNeeds {
  /** Whether some recipients get no first attempt, or only miss retries. */
  missing: 'first_attempts' | 'further_attempts';
  recipients: number;
  /** How much later the campaign would have to end; null: no later end suffices. */
  moreMs: number | null;
  /** Fewest concurrent calls that suffice; null: no number does. */
  concurrentCalls: number | null;
  limitedBy: 'shared_words' | 'account_limit' | 'starts_per_minute' | 'caller_limits' | 'warm_up' | 'delays' | 'windows' | null;
}

export interface CampaignForecast {
  startsAt: number;
  /** Concurrent calls that both campaign and account allow. */
  lines: number;
  assumptions: ForecastAssumptions & { ringMs: number; shortTalkMs: number };
  /** Best case: every first call is answered and short. */
  earliest: Forecast;
  likely: Forecast;
  /**
   * Worst case: no call is answered, each lasts as long as a talk, retries wait longest. Not a bound: omitted influences may slow it down.
   */
  slowest: Forecast;
  /** True when every recipient gets a call before the end in the best case. */
  canFinish: boolean;
  needs: WindowNeeds | null;
  calls: Range;
  /** Talk and ring time. */
  minutes: Range;
}

export type QuickForecast = Pick<CampaignForecast, 'earliest' | 'likely'>;

export interface Range {
  fewest: number;
  likely: number;
  most: number;
}

export interface ForecastRequest {
  rules: CampaignRules;
  groups: readonly ForecastGroup[];
  startsAt: number;
  assumptions?: ForecastAssumptions;
  /** Limit on open calls over all campaigns of the account; null: unlimited. */
  accountLines?: number | null;
  /** Open calls that the opening lines can distinguish; null: unlimited. */
  wordsLines?: number | null;
}

/** Forecasts end, sufficiency of the windows, and greatest cost. Ignores other campaigns, refusals and the service's speed. */
export function forecastCampaign(request: ForecastRequest): CampaignForecast {
  const { rules, groups, startsAt, assumptions = usualAssumptions, accountLines = null, wordsLines = null } = request;
  const { callMs } = assumptions;
  const { lines, tellable: usableLines, ...inputs } = inputsOf(request);
  const [earliest, likely, slowest] = [forecast(inputs.earliest), forecast(inputs.likely), forecast(inputs.slowest)];
  const people = groups.reduce((sum, { count }) => sum + count, 0);
  // Carrier failures use up no attempt, up to `maxUncounted` before each one that counts.
  const mostCalls = people * (inputs.slowest.course.retries + 1) * (rules.retry.maxUncounted + 1);
  return {
    startsAt,
    lines,
    assumptions: { ...assumptions, ringMs, shortTalkMs },
    earliest,
    likely,
    slowest,
    canFinish: earliest.neverCalled === 0,
    needs: findNeeds(rules, inputs.likely, likely, { people, lines: usableLines, accountLines, wordsLines }),
    calls: { fewest: earliest.calls, likely: likely.calls, most: mostCalls },
    minutes: {
      fewest: inMinutes(earliest.callMs),
      likely: inMinutes(likely.callMs),
      most: inMinutes(mostCalls * Math.max(callMs, ringMs)),
    },
  };
}

/** Cheaper variant: no worst case and no search for what the windows lack. */
export function forecastQuickly(request: ForecastRequest): QuickForecast {
  const { earliest, likely } = inputsOf(request);
  return { earliest: forecast(earliest), likely: forecast(likely) };
}

/** Forecast for the rest of a running campaign; step size grows with its length, so cheap at any size. */
export function forecastRest(request: ForecastRequest): Pick<CampaignForecast, 'earliest' | 'likely' | 'slowest'> {
  const { earliest, likely, slowest } = inputsOf(request);
  return { earliest: forecast(coarsened(earliest)), likely: forecast(coarsened(likely)), slowest: forecast(coarsened(slowest)) };
}

const noRetries: RetryPath = { retries: 0, retryAt: (_retry, endedAt) => endedAt };
const bestCase: CallAssumptions = { answerRate: 1, answeredMs: shortTalkMs, unansweredMs: ringMs, ...noRetries };

interface ForecastInputs extends Record<'earliest' | 'likely' | 'slowest', ForecastInput> {
  lines: number;
  /** Lines usable given the opening lines. */
  tellable: number;
}

function inputsOf(request: ForecastRequest): ForecastInputs {
  const { rules, groups, startsAt, assumptions = usualAssumptions, accountLines, wordsLines } = request;
  const { callMs, answerRate } = assumptions;
  const lines = Math.min(rules.pacing.maxConcurrentCalls, accountLines ?? Infinity);
  const inputFor = (course: CallAssumptions, most: number): ForecastInput => ({
    groups,
    course,
    at: startsAt,
    endsAt: rules.endsAt,
    marginMs: rules.timing.dispatchMarginMs,
    linesAt: warmingUp(most, rules.pacing.warmUpMs),
    startLimits: [...paceOf(rules.pacing), ...startLimitsOf(rules.callers)],
    caps: rules.caps,
  });
  const usableLines = Math.min(lines, wordsLines ?? Infinity);
  const longest = longestRetries(rules.retry, rules.timing.settleMs);
  return {
    lines,
    tellable: usableLines,
    // At best the records identify their calls, so the opening lines impose no limit.
    earliest: inputFor(bestCase, lines),
    likely: inputFor({ answerRate, answeredMs: callMs, unansweredMs: ringMs, ...likelyRetries(rules.retry) }, usableLines),
    slowest: inputFor({ answerRate: 0, answeredMs: callMs, unansweredMs: callMs, ...longest }, usableLines),
  };
}

function paceOf({ startsPerMinute: most }: CampaignRules['pacing']): StartLimit[] {
  return most === null ? [] : [{ most, withinMs: paceMs }];
}

/** Combined start limits of all caller numbers; ignores recipients' fixed numbers and other campaigns' calls. */
function startLimitsOf({ limits, numbers }: CampaignRules['callers']): StartLimit[] {
  return windowsOf(limits ?? { perHour: null, perDay: null }).map(({ most, ms }) => ({ most: most * numbers.length, withinMs: ms }));
}

function inMinutes(ms: number): number {
  return Math.ceil(ms / 60_000);
}

function warmingUp(lines: number, warmUpMs: number): ForecastInput['linesAt'] {
  return (sinceMs) => warmUpLines({ lines, warmUpMs, sinceMs });
}

interface LineCapacity {
  people: number;
  lines: number;
  accountLines: number | null;
  wordsLines: number | null;
}

function findNeeds(
  { pacing: { warmUpMs }, callers }: CampaignRules,
  input: ForecastInput,
  likely: Forecast,
  { people, lines, accountLines, wordsLines }: LineCapacity,
): WindowNeeds | null {
  const missing = likely.neverCalled > 0 ? 'first_attempts' : 'further_attempts';
  const lackOf = (result: Forecast): number => (missing === 'first_attempts' ? result.neverCalled : result.cutShort + result.neverCalled);
  const recipients = lackOf(likely);
  if (recipients === 0) return null;
  const fits = (changes: Partial<ForecastInput>): boolean => lackOf(forecast({ ...input, ...changes })) === 0;
  const withLines = (lines: number): Partial<ForecastInput> => ({ linesAt: warmingUp(lines, warmUpMs) });
  // More lines than recipients are of no use.
  const enough = Math.min(mostLines, Math.max(people, lines));
  const allowed = Math.min(enough, accountLines ?? enough, wordsLines ?? enough);
  const base = { missing, recipients, moreMs: findMoreTime(input, missing, lackOf) } as const;
  if (allowed > lines && fits(withLines(allowed))) {
    const concurrentCalls = leastThat((lines) => fits(withLines(lines)), lines, allowed);
    return { ...base, concurrentCalls, limitedBy: null };
  }
  const limits: [WindowNeeds['limitedBy'], Partial<ForecastInput>][] = [
    ['shared_words', withLines(Math.min(enough, accountLines ?? enough))],
    ['account_limit', withLines(enough)],
    ['starts_per_minute', { ...withLines(enough), startLimits: startLimitsOf(callers) }],
    ['caller_limits', { ...withLines(enough), startLimits: [] }],
    ['warm_up', { linesAt: () => enough, startLimits: [] }],
  ];
  const limit = limits.filter(([by]) => by !== 'shared_words' || wordsLines !== null).find(([, changes]) => fits(changes))?.[0];
  return {
    ...base,
    concurrentCalls: null,
    limitedBy: limit ?? (missing === 'further_attempts' ? 'delays' : 'windows'),
  };
}

/** Without an end the campaign takes the same course and goes on, so one simulation suffices. */
function findMoreTime(input: ForecastInput, missing: WindowNeeds['missing'], lackOf: (result: Forecast) => number): number | null {
  if (input.endsAt === null) return null;
  const unbounded = forecast({ ...input, endsAt: null });
  const last = missing === 'first_attempts' ? unbounded.lastFirstStartAt : unbounded.lastStartAt;
  if (unbounded.endless || last === null || lackOf(unbounded) > 0) return null;
  // The window must stay open after a start for longer than the margin.
  return last + input.marginMs + 1 - input.endsAt;
}

/** Smallest value above `tooFew` that satisfies `holds`; requires `holds` to be monotonic and true for `enough`. */
function leastThat(holds: (value: number) => boolean, tooFew: number, enough: number): number {
  let low = tooFew;
  let high = Math.min(enough, tooFew * 2);
  while (high < enough && !holds(high)) {
    low = high;
    high = Math.min(enough, high * 2);
  }
  return firstThat(holds, low, high);
}

import pc from 'picocolors';
import { callsAmong } from '../../rules/disposition.ts';
import { goalShare, goalsOf, type CountedShare } from '../../rules/talk-results.ts';
import { outcomes } from '../../rules/outcome.ts';
import { handlingOfQueued, type QueuedHandling } from '../../rules/service-api.ts';
import type { Campaign } from '../../ledger/rows/campaigns.ts';
import type { CampaignStatus } from '../../ledger/campaign/campaign-status.ts';
import { instantText } from '../../shared/input/times.ts';
import { count, percentCell, plural, percent, span } from '../../shared/input/figures.ts';
import { printable } from '../../shared/input/printable.ts';
import type { CampaignView } from '../../ledger/read/campaign-view.ts';
import type { PilotStatus } from '../../ledger/limits/pilot.ts';
import { hooksAsJson } from './hooks.ts';
import { idleReasonAsJson, readingAsJson, readingOf, type Why } from './why.ts';
import type { Reader } from './reader.ts';
import { faultWords } from '../../rules/caller-choice.ts';
import type { CallerUse } from '../../ledger/limits/callers.ts';
import type { ServiceClock } from '../../service/port/service-clock.ts';
import { fullPace } from '../../rules/pacing/pace-control.ts';
import type { LineLimits } from '../../ledger/limits/line-limits.ts';

const stateWords: Readonly<Record<Campaign['state'], string>> = {
  importing: 'being imported',
  draft: 'imported, not started',
  scheduled: 'waiting for its start time',
  running: 'running',
  paused: 'PAUSED',
  draining: 'draining: no further dials, open calls are still collected',
  completed: 'completed',
  cancelled: 'cancelled',
  failed: 'FAILED',
};

export function stateWord(state: Campaign['state']): string {
  return stateWords[state];
}

export function stateText(campaign: Campaign): string {
  const { state, rules } = campaign;
  if (state === 'scheduled' && rules.startsAt !== null) return `scheduled, begins ${instantText(rules.startsAt)}`;
  return stateWords[state];
}

/** Name of the campaign's service API; null for the contract's, the default. */
export function apiText({ api }: Pick<Campaign, 'api'>): string | null {
  return api === 'contract' ? null : api;
}

export function campaignTitle(campaign: Campaign): string {
  return campaign.name === null ? campaign.campaignId : `${campaign.campaignId} (${printable(campaign.name)})`;
}

export const queuedWords: Readonly<Record<QueuedHandling, string>> = {
  taken_back: 'Calls that still wait at the service are taken back.',
  left_to_ring: 'Calls that wait at the service may still ring.',
  never_taken_back:
    'Calls that the service has taken ring in any case: with SVC_API=contract none can be taken back, so --let-queued changes nothing.',
};

/** Reason for the pause and the fix; empty in other states. */
export function pauseLines(campaign: Campaign): string[] {
  if (campaign.state !== 'paused') return [];
  const reason = campaign.stateReason === null ? 'no reason is on record' : printable(campaign.stateReason);
  return [
    `Paused: ${reason}`,
    ...(campaign.letQueued ? [`  ${queuedWords[handlingOfQueued(campaign)]}`] : []),
    `  No call is placed until: carillon resume ${campaign.campaignId}   (or end it: carillon cancel ${campaign.campaignId})`,
  ];
}

/** `completed 98 · exhausted 12`, in fixed order. */
export function outcomeCounts(status: CampaignStatus): string {
  const known = outcomes.flatMap((outcome) => {
    const times = status.outcomes[outcome] ?? 0;
    return times > 0 ? [`${outcome} ${count(times)}`] : [];
  });
  return known.join(' · ');
}

/** `answered 98 · busy 9`, most frequent first. */
export function dispositionCounts(status: CampaignStatus): string {
  return sorted(callsAmong(status.dispositions))
    .map(([name, times]) => `${name} ${count(times)}`)
    .join(' · ');
}

/** Talks by result, and how many reached the goal. */
export function resultCounts({ rules }: Pick<Campaign, 'rules'>, { results }: CampaignStatus): string {
  const goal = goalShare(rules.results, results);
  const { stopAt } = rules;
  const most = stopAt === undefined ? [] : [`stops at ${count(stopAt.goal)}`];
  const parts = sorted(results).map(([name, times]) => `${name} ${count(times)}`);
  return [...parts, ...(goal === null || goal.of === 0 ? [] : [goalText(goal, 'talks'), ...most])].join(' · ');
}

/** `goal reached in 9 of 37 talks: 24.3 % (13.4 % to 40.1 %)`. */
export function goalText({ count: reached, of, share, low, high }: CountedShare, noun: string): string {
  if (share === null) return `goal reached in 0 of 0 ${noun}`;
  return `goal reached in ${count(reached)} of ${count(of)} ${noun}: ${percentCell(share)} (${percentCell(low ?? 0)} to ${percentCell(high ?? 1)})`;
}

/** `sample 1: 100 of 100 rows called · opted_out 1 of 37 talks (…), at most 3 % allowed · waits for a decision`; empty without a pilot. */
export function pilotText(pilot: PilotStatus | null): string {
  if (pilot === null) return '';
  const state = { calling: 'nobody else is called yet', asked: 'waits for a decision', passed: 'everybody is called' }[pilot.state];
  return [`sample ${pilot.sample}: ${count(pilot.called)} of ${plural(pilot.rows, 'row')} called`, ...pilot.gates, state].join(' · ');
}

function goalAsJson({ rules }: Campaign, { results }: CampaignStatus) {
  const goal = goalShare(rules.results, results);
  return goal === null ? null : { results: [...goalsOf(rules.results)], ...goal };
}

/** Campaign status as JSON, before `withInstants`; instants are service time. */
export function statusAsJson(campaign: Campaign, status: CampaignStatus): Record<string, unknown> {
  const { campaignId, name, api, state, stateReason, round, createdAt, rowsRejected } = campaign;
  return {
    campaignId,
    name,
    api,
    state,
    stateReason,
    round,
    createdAt,
    ...status,
    goal: goalAsJson(campaign, status),
    rejected: rowsRejected,
    nextDueAt: status.nextDueAt === null ? null : Math.max(status.nextDueAt, createdAt),
  };
}

export function renderOutcomes(campaign: Campaign, status: CampaignStatus, colour: boolean): string {
  const { bold } = pc.createColors(colour);
  const rows = outcomes.map((outcome) => [outcome, status.outcomes[outcome] ?? 0] as const);
  const open = status.total - status.done;
  const lines = [
    '',
    bold(`${campaignTitle(campaign)}: ${stateText(campaign)}`),
    '',
    bold(`  ${'outcome'.padEnd(16)}${'rows'.padStart(9)}`),
    ...table([...rows.filter(([, times]) => times > 0), ...(open > 0 ? [['in progress', open] as const] : [])], status),
    `  ${'all'.padEnd(16)}${count(status.total).padStart(9)}`,
  ];
  const dispositions = sorted(callsAmong(status.dispositions));
  if (dispositions.length > 0) {
    const all = dispositions.reduce((sum, [, times]) => sum + times, 0);
    lines.push('', bold(`  ${'calls'.padEnd(16)}${count(all).padStart(9)}`));
    lines.push(...dispositions.map(counted));
  }
  const results = sorted(status.results);
  if (results.length > 0) {
    const all = results.reduce((sum, [, times]) => sum + times, 0);
    lines.push('', bold(`  ${'talks came to'.padEnd(16)}${count(all).padStart(9)}`), ...results.map(counted));
    const goal = goalShare(campaign.rules.results, status.results);
    if (goal !== null) lines.push(`  ${goalText(goal, 'talks')}`);
  }
  return `${lines.join('\n')}\n`;
}

function counted([name, times]: readonly [string, number]): string {
  return `  ${name.padEnd(16)}${count(times).padStart(9)}`;
}

function table(rows: readonly (readonly [string, number])[], status: CampaignStatus): string[] {
  return rows.map(([name, times]) => {
    const share = status.total === 0 ? 0 : times / status.total;
    return `  ${name.padEnd(16)}${count(times).padStart(9)}${percentCell(share).padStart(9)}`;
  });
}

function sorted(counts: Record<string, number>): [string, number][] {
  return Object.entries(counts)
    .filter(([, times]) => times > 0)
    .toSorted((a, b) => b[1] - a[1]);
}

/** Status and reason for no calls, before `withInstants`; the same for command line and API. */
export function viewAsJson(view: CampaignView, why: Why, at: Reader): Record<string, unknown> {
  const { campaign, status, limits, callers, hooks, doubt, callbacks, pilot, clocksApartMs } = view;
  return {
    ...statusAsJson(campaign, status),
    ...readingAsJson(readingOf(why, at)),
    callers: callerUseAsJson(callers),
    hooks: hooksAsJson(hooks),
    pacing: limits === null ? null : pacingAsJson(limits),
    doubt,
    callbacks,
    pilot,
    clocksApartMs,
    standstill: idleReasonAsJson(why.idle),
  };
}

/** `pn_main 40 calls`, `pn_second 12 calls, OUT: is not verified`: one line per number. */
export function callerUseLines(callers: readonly CallerUse[]): string[] {
  const width = Math.max(...callers.map(({ phoneNumberId }) => printable(phoneNumberId).length));
  return callers.map(({ phoneNumberId, calls, out }) => {
    const state = out === null ? '' : `, OUT: ${faultWords[out]}`;
    return `${printable(phoneNumberId).padEnd(width)}  ${plural(calls, 'call')}${state}`;
  });
}

/** As JSON, before `withInstants`. */
function callerUseAsJson(callers: readonly CallerUse[]): Record<string, unknown>[] {
  return callers.map(({ phoneNumberId, out, checkedAt, calls }) => ({
    phoneNumberId,
    state: out === null ? 'in' : 'out',
    reason: out,
    checkedAt,
    calls,
  }));
}

/** Status lines: current call limit, and what lowers it. */
export function pacingLines(limits: LineLimits, clock: Pick<ServiceClock, 'atReal'>, now: number): [label: string, text: string][] {
  const { own, warm, pace, cutAt, account, allowed, open, startsPerMinute, starts } = limits;
  const reasons = [
    ...(allowed === own ? [] : [`max_concurrent_calls ${count(own)}`]),
    ...(warm === own ? [] : [`warming up: ${count(warm)}`]),
    ...(pace === fullPace ? [] : [`pace ${percent(pace / 1000)}, cut ${span(now - clock.atReal(cutAt))} ago by a 429`]),
    ...(account === null
      ? []
      : [`share ${count(account.share)} of the account's ${count(account.lines)}, ${count(account.free)} of them free`]),
  ];
  const why = reasons.length === 0 ? '' : ` (${reasons.join('; ')})`;
  const startsText = startsPerMinute === null ? '' : `${count(starts.count)} in the last minute, ${count(startsPerMinute)} allowed`;
  return [
    ['Lines', `${count(open)} in use, ${count(allowed)} allowed${why}`],
    ['Starts', startsText],
  ];
}

/** As JSON, before `withInstants`. Shares and paces are 0 to 1. */
function pacingAsJson(limits: LineLimits): Record<string, unknown> {
  const { own, warm, pace, cutAt, account, allowed, open, startsPerMinute, starts } = limits;
  return {
    maxConcurrentCalls: own,
    warmUp: warm,
    pace: pace / fullPace,
    paceCutAt: cutAt === 0 ? null : cutAt,
    account,
    allowed,
    onLine: open,
    startsPerMinute,
    startsInLastMinute: starts.count,
  };
}

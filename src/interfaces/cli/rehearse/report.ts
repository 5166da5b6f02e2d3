import pc from 'picocolors';
import { type ConductReport, formatConduct } from '../../../sandbox/judge/conduct-report.ts';
import type { CampaignForecast } from '../../../campaign/preflight/campaign-forecast.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { LogReport } from '../../../verify/log.ts';
import { renderOutcomes } from '../../../presentation/words/campaign.ts';
import { capital, count, percent, plural, span } from '../../../shared/input/figures.ts';
import { instantText, withInstants } from '../../../shared/input/times.ts';
import { endText } from '../../../presentation/words/forecast.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { printable } from '../../../shared/input/printable.ts';
import { dayText, dayTimeText } from './follow.ts';
import type { RehearsedRows } from './list.ts';
import type { Timeline } from './timeline.ts';
import type { RehearsalSettings } from './world.ts';
import { formatReport } from '../watch/verify.ts';

export interface Rehearsal {
  campaign: Campaign;
  status: CampaignStatus;
  settings: RehearsalSettings;
  rows: RehearsedRows;
  /** Differences from the real campaign. */
  notes: readonly string[];
  timeline: Timeline;
  /** Null when no recipient can be called. */
  forecast: CampaignForecast | null;
  verify: LogReport;
  conduct: ConductReport;
  tookRealMs: number;
}

/** Empty if the rehearsal went well. */
export function findFaults({ campaign, status, verify, conduct }: Rehearsal): string[] {
  const open = status.total - status.done;
  return [
    ...(campaign.state === 'completed' ? [] : [`the campaign is ${campaign.state}${reasonOf(campaign)}`]),
    ...(open === 0 ? [] : [`${plural(open, 'row has', 'rows have')} no outcome`]),
    ...(verify.ok ? [] : ['the event log shows broken promises']),
    ...(conduct.ok ? [] : ['the service has found fault with its caller']),
  ];
}

function reasonOf({ stateReason }: Campaign): string {
  return stateReason === null ? '' : ` (${printable(stateReason)})`;
}

export function renderRehearsal(rehearsal: Rehearsal, colour: boolean): string {
  const { campaign, status, timeline, forecast, verify, conduct } = rehearsal;
  const { bold } = pc.createColors(colour);
  return [
    renderOutcomes(campaign, status, colour),
    ...(forecast === null ? [] : renderComparison(campaign.rules, forecast, timeline, colour)),
    bold('What would happen when (UTC)'),
    ...renderTimeline(timeline),
    '',
    bold('The judge: the event log alone'),
    formatReport(verify),
    bold('What the service has to say about its caller'),
    formatConduct(conduct),
    ...renderNotes(rehearsal),
    '',
  ].join('\n');
}

const barWidth = 30;

function renderTimeline(timeline: Timeline): string[] {
  const { startedAt, firstCallAt, lastCallAt, endedAt, hours, callees, quiet, pauses, waits, released } = timeline;
  const most = Math.max(1, ...hours.map(({ calls }) => calls));
  const instantLine = (name: string, instant: number | null): string =>
    `  ${name.padEnd(12)} ${instant === null ? 'never' : dayTimeText(instant)}`;
  let day = '';
  const rows = hours.map(({ at, calls, answered, rowsDone }) => {
    const shownDay = dayText(at) === day ? '' : dayText(at);
    day = dayText(at);
    const bar = '█'.repeat(Math.ceil((calls / most) * barWidth));
    const figures = [calls, answered, rowsDone].map((value) => count(value).padStart(9)).join('');
    return `  ${shownDay.padEnd(10)} ${new Date(at).toISOString().slice(11, 16)}${figures}  ${bar}`.trimEnd();
  });
  return [
    instantLine('begins', startedAt),
    instantLine('first call', firstCallAt),
    instantLine('last call', lastCallAt),
    instantLine('ends', endedAt),
    ...(callees === null ? [] : [`  ${'heard'.padEnd(12)} ${callees.earliest} to ${callees.latest}, on the clocks of the people called`]),
    '',
    `  ${'hour'.padEnd(16)}${['calls', 'answered', 'done'].map((name) => name.padStart(9)).join('')}`,
    ...rows,
    ...titled('No call was placed', quiet.map(formatQuiet)),
    ...titled('Paused', pauses.map(formatPause)),
    ...titled('Waited before a call', countLines(waits)),
    ...titled('Planned and given back before the call', countLines(released)),
  ];
}

function formatQuiet({ fromAt, untilAt, paused }: Timeline['quiet'][number]): string {
  return `${dayTimeText(fromAt)} to ${dayTimeText(untilAt)}   ${span(untilAt - fromAt)}${paused ? ', paused for a part of it' : ''}`;
}

function formatPause({ fromAt, untilAt, reason }: Timeline['pauses'][number]): string {
  const why = reason === null ? '' : `   ${printable(reason)}`;
  return `${dayTimeText(fromAt)} to ${untilAt === null ? 'the end' : dayTimeText(untilAt)}${why}`;
}

function countLines(counts: Record<string, number>): string[] {
  return Object.entries(counts)
    .toSorted(([, a], [, b]) => b - a)
    .map(([reason, times]) => `${reason.replaceAll('_', ' ').padEnd(28)}${count(times).padStart(9)}`);
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `  ${title}`, ...lines.map((line) => `    ${line}`)];
}

function renderNotes(rehearsal: Rehearsal): string[] {
  const { rows, notes, settings, timeline, tookRealMs } = rehearsal;
  const served = timeline.startedAt === null || timeline.endedAt === null ? 0 : timeline.endedAt - timeline.startedAt;
  return [
    'What a rehearsal is not',
    '  The people are drawn at random (seed ' + printable(settings.seed) + '), so real shares of answered calls differ.',
    ...(rows.rehearsed === rows.inList
      ? []
      : [`  Only ${count(rows.rehearsed)} of ${plural(rows.inList, 'row')} took part: a sample that the seed decides.`]),
    ...renderPace(rehearsal),
    ...notes.map((note) => `  ${capital(note)}.`),
    '',
    `${span(served)} of service time in ${span(tookRealMs)}.`,
  ];
}

/** At a high speed the machine may be slower than the limit, which is no property of the campaign. */
function renderPace({ campaign, timeline }: Rehearsal): string[] {
  const { startsPerMinute } = campaign.rules.pacing;
  if (startsPerMinute === null) return [];
  const most = Math.max(0, ...timeline.hours.map(({ calls }) => calls));
  const pace = `${count(most)} calls were begun in the busiest hour, of the ${count(startsPerMinute * 60)} that starts_per_minute allows`;
  return [`  ${pace}; if the machine was the limit, a lower --speed comes nearer.`];
}

export function rehearsalJson(rehearsal: Rehearsal): object {
  const { campaign, status, settings, rows, notes, timeline, forecast, verify, conduct, tookRealMs } = rehearsal;
  const faults = findFaults(rehearsal);
  return {
    ok: faults.length === 0,
    faults,
    campaign: { id: campaign.campaignId, state: campaign.state, reason: campaign.stateReason },
    rows,
    settings: withInstants(settings),
    notes,
    outcomes: status.outcomes,
    dispositions: status.dispositions,
    timeline: withInstants(timeline),
    forecast: forecast === null ? null : withInstants(comparisonJson(forecast, timeline)),
    verify,
    conduct,
    tookRealMs: Math.round(tookRealMs),
  };
}

function renderComparison(rules: CampaignRules, forecast: CampaignForecast, timeline: Timeline, colour: boolean): string[] {
  const line = (label: string, ends: string, calls: number): string =>
    `  ${label.padEnd(12)} ${ends.padEnd(24)}${count(calls).padStart(10)}`;
  const { calls, answered } = totalsOf(timeline);
  const share = calls === 0 ? '' : `; here ${percent(answered / calls)} were`;
  return [
    pc.createColors(colour).bold('What carillon check forecasts, and what happened'),
    `  ${''.padEnd(12)} ${'ends'.padEnd(24)}${'calls'.padStart(10)}`,
    line('earliest', endText(forecast.earliest, rules.endsAt), forecast.calls.fewest),
    line('likely', endText(forecast.likely, rules.endsAt), forecast.calls.likely),
    line('slowest', endText(forecast.slowest, rules.endsAt), forecast.slowest.calls),
    line('rehearsed', timeline.endedAt === null ? 'not at its end' : instantText(timeline.endedAt), calls),
    `  Likely supposes that ${percent(forecast.assumptions.answerRate)} of the calls are answered${share}.`,
    ...(timeline.pauses.length === 0 ? [] : ['  Of the pauses below the forecast knows nothing.']),
    '',
  ];
}

function comparisonJson(forecast: CampaignForecast, timeline: Timeline): object {
  const courseOf = ({ finishesAt: endsAt, neverCalled, cutShort, calls }: CampaignForecast['likely']): object => ({
    endsAt,
    calls,
    neverCalled,
    cutShort,
  });
  return {
    earliest: courseOf(forecast.earliest),
    likely: courseOf(forecast.likely),
    slowest: courseOf(forecast.slowest),
    assumptions: forecast.assumptions,
    rehearsed: { endsAt: timeline.endedAt, ...totalsOf(timeline) },
  };
}

function totalsOf({ hours }: Timeline): { calls: number; answered: number } {
  const sum = (key: 'calls' | 'answered'): number => hours.reduce((total, hour) => total + hour[key], 0);
  return { calls: sum('calls'), answered: sum('answered') };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { realClock, type ServiceClock } from '../../../service/port/service-clock.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import type { Session } from '../../../operations/control/control.ts';
import type { LedgerAccess } from '../../../operations/control/ledger.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';
import { hasEnded, pausedByOperator } from '../../../rules/lifecycle.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { lastEventSeq, readEvents, type CampaignEvent } from '../../../ledger/events.ts';
import { countStarts } from '../../../ledger/limits/counters.ts';
import { findCampaign, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { describedEvents, describeEvent } from '../../../presentation/words/events.ts';
import pc from 'picocolors';
import { campaignTitle, dispositionCounts, outcomeCounts, pauseLines, stateText } from '../../../presentation/words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { cut } from '../terminal/table.ts';
import { count, plural, span } from '../../../shared/input/figures.ts';

export interface Snapshot {
  campaign: Campaign;
  status: CampaignStatus;
  /** Recent call starts per minute of service time. */
  startsPerMinute: number;
  /** Estimate from the last minute's pace, in real milliseconds; null: unknown. */
  leftMs: number | null;
  /** Events since the previous snapshot. */
  events: CampaignEvent[];
}

export interface CampaignView {
  /** With current obstacles, such as a missing worker. */
  show(snapshot: Snapshot, warnings: readonly string[]): void;
}

interface WatchInput extends LedgerAccess {
  campaignId: string;
  /** Null: Temporal and the worker are not checked. */
  session: Session | null;
  /** First position in the event log; null: its end. */
  fromSeq: number | null;
  view: CampaignView;
  /** Aborted when the watcher leaves; the campaign continues. */
  leave: AbortSignal;
  /** No operator is present: an automatic pause that does not end by itself is the end. */
  alone?: boolean;
}

const everyMs = 500;
const superviseEveryMs = 5_000;

/**
 * Shows a campaign until it ends or the watcher leaves; returns the last snapshot. Needs only the database; Temporal and the service are
 * optional. Throws WorkflowEndedError.
 */
export async function watchCampaign(input: WatchInput): Promise<Snapshot> {
  const { campaignId, session, view, leave, alone = false } = input;
  const read = createReader(input);
  let warnings: string[] = [];
  let supervisedAt = performance.now();
  let supervising: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  for (;;) {
    const snapshot = await read();
    const { campaign } = snapshot;
    const over = hasEnded(campaign) || leave.aborted || (alone && needsOperator(campaign));
    view.show(snapshot, over ? [] : warnings);
    if (over) return snapshot;
    if (failure !== null) throw (failure as { error: unknown }).error;
    if (session !== null && supervising === null && performance.now() - supervisedAt >= superviseEveryMs) {
      supervising = superviseCampaign(session, campaignId)
        .then(
          (found) => {
            warnings = found;
          },
          (error: unknown) => {
            failure = { error };
          },
        )
        .finally(() => {
          supervisedAt = performance.now();
          supervising = null;
        });
    }
    await sleep(everyMs, undefined, { signal: leave }).catch(() => {});
  }
}

function needsOperator({ state, stateReason, resumeAt }: Campaign): boolean {
  return state === 'paused' && stateReason !== pausedByOperator && resumeAt === null;
}

const minuteMs = 60_000;
/** Minimum window: a minute of a fast sandbox is too short to count in. */
const startsOverRealMs = 10_000;
const paceOverMs = 60_000;
const shortestPaceMs = 3_000;
const mostEvents = 200;

/** Keeps log position and pace between snapshots. */
function createReader({ config, store: { db }, campaignId, fromSeq }: WatchInput): () => Promise<Snapshot> {
  const keepClock = keepServiceClock(config);
  let seq = fromSeq;
  let samples: { at: number; done: number }[] = [];

  const readNewEvents = async (): Promise<CampaignEvent[]> => {
    if (seq === null) {
      seq = await lastEventSeq(db, campaignId);
      return [];
    }
    const events = await readEvents(db, campaignId, { afterSeq: seq, limit: mostEvents, types: describedEvents });
    seq = events.at(-1)?.seq ?? seq;
    return events;
  };
  const estimate = ({ done, total, open, nextDueAt }: CampaignStatus, clock: ServiceClock): number | null => {
    const at = Date.now();
    samples = [...samples.filter((sample) => at - sample.at <= paceOverMs), { at, done }];
    const [first] = samples;
    if (first === undefined || at - first.at < shortestPaceMs || done <= first.done || done >= total) return null;
    const left = ((total - done) * (at - first.at)) / (done - first.done);
    const untilDue = open > 0 || nextDueAt === null ? 0 : clock.atReal(nextDueAt) - at;
    return Math.max(left, untilDue);
  };
  return async () => {
    const campaign = await findCampaign(db, campaignId);
    if (campaign === undefined) throw new Error(`campaign ${campaignId} has gone from the database`);
    const status = await readStatus(db, campaign);
    const clock = await keepClock().catch(() => realClock(Date.now));
    const withinMs = Math.max(minuteMs, startsOverRealMs * clock.speed);
    const { count } = await countStarts(db, { campaignId, now: Math.round(clock.now()) }, withinMs);
    const startsPerMinute = Math.round((count * minuteMs) / withinMs);
    const leftMs = estimate(status, clock);
    return { campaign, status, startsPerMinute, leftMs, events: await readNewEvents() };
  };
}

type ViewIo = Pick<Io, 'isTerminal' | 'colour' | 'now'>;

/** Repainted on a terminal; elsewhere lines every few seconds, and events at once. */
export function createCampaignView(io: ViewIo, out: NodeJS.WritableStream, hint: string): CampaignView {
  return io.isTerminal ? createLiveView(io, out, hint) : createPlainView(io, out);
}

const plainEveryMs = 5_000;
const barWidth = 24;
const shownEvents = 8;
const fallbackColumns = 80;

function createPlainView(io: ViewIo, out: NodeJS.WritableStream): CampaignView {
  let shownAt = -Infinity;
  let line = '';
  let shownWarning = '';
  return {
    show(snapshot, warnings) {
      for (const text of formatEvents(snapshot.events)) out.write(`  ${text}\n`);
      const warningText = warnings.join('\n');
      if (warningText !== shownWarning && warningText !== '') out.write(`${warningText}\n`);
      shownWarning = warningText;
      const now = io.now();
      const next = progressText(snapshot);
      if (now - shownAt < plainEveryMs || next === line) return;
      [shownAt, line] = [now, next];
      out.write(`${next}\n`);
    },
  };
}

function createLiveView(io: ViewIo, out: NodeJS.WritableStream, hint: string): CampaignView {
  const { bold, dim, yellow, green } = pc.createColors(io.colour);
  let painted = 0;
  let recent: string[] = [];
  return {
    show(snapshot, warnings) {
      const { campaign, status } = snapshot;
      recent = [...recent, ...formatEvents(snapshot.events)].slice(-shownEvents);
      const outcomeText = outcomeCounts(status);
      const dispositionText = dispositionCounts(status);
      const lines = [
        [bold, `${campaignTitle(campaign)}  ${stateText(campaign)}`],
        [green, bar(status.done, status.total)],
        [plain, progressText(snapshot)],
        ...(outcomeText === '' ? [] : [[plain, `rows   ${outcomeText}`] as const]),
        ...(dispositionText === '' ? [] : [[plain, `calls  ${dispositionText}`] as const]),
        ...recent.map((text) => [dim, `  ${text}`] as const),
        ...[...pauseLines(campaign), ...warnings].map((text) => [yellow, text] as const),
        ...(hint === '' ? [] : [[dim, hint] as const]),
      ] as const;
      const columns = (out as { columns?: number }).columns ?? fallbackColumns;
      // A wrapped line would be counted as one and leave remnants.
      const painting = lines.map(([style, text]) => `${style(cut(text, columns - 1))}\n`).join('');
      out.write(`${painted > 0 ? `\u001b[${painted}A` : ''}\u001b[J${painting}`);
      painted = lines.length;
    },
  };
}

const plain = (text: string): string => text;

function bar(done: number, total: number): string {
  const share = total === 0 ? 1 : done / total;
  const full = Math.floor(share * barWidth);
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${Math.floor(share * 100)} %`;
}

/** `135 of 300 done, 20 calls open, 18 starts a minute, about 40 s left`. */
function progressText({ campaign, status, startsPerMinute, leftMs }: Snapshot): string {
  const parts = [`${count(status.done)} of ${count(status.total)} done`, plural(status.open, 'call') + ' open'];
  if (campaign.state === 'running') parts.push(`${count(startsPerMinute)} starts a minute`);
  else parts.push(stateText(campaign));
  if (status.unresolved > 0) parts.push(`${count(status.unresolved)} unresolved`);
  if (leftMs !== null && campaign.state === 'running') parts.push(`about ${span(leftMs)} left`);
  return parts.join(', ');
}

function formatEvents(events: readonly CampaignEvent[]): string[] {
  return events.flatMap((event) => {
    const text = describeEvent(event);
    return text === null ? [] : [`${new Date(event.at).toTimeString().slice(0, 8)}  ${text}`];
  });
}

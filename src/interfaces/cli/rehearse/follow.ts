import { setTimeout as sleep } from 'node:timers/promises';
import { DateTime } from 'luxon';
import { findCampaign, type Campaign } from '../../../ledger/rows/campaigns.ts';
import { readStatus, type CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { outcomeCounts, stateText } from '../../../presentation/words/campaign.ts';
import type { Io } from '../terminal/io.ts';
import { count } from '../../../shared/input/figures.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import type { Store } from '../../../ledger/tx.ts';

/** When and for how long an operator pauses a rehearsed campaign; service time. */
export interface PlannedPause {
  afterMs: number;
  forMs: number;
}

export interface FollowInput {
  store: Store;
  campaignId: string;
  /** Service time. */
  now: () => number;
  pause: PlannedPause | null;
  tell: (command: 'pause' | 'resume') => Promise<void>;
  /** Advances service time to a later instant, and has the campaign check again. */
  moveTo: (instant: number) => Promise<void>;
  /** Aborted when the rehearsal is to end early. */
  leave: AbortSignal;
}

type FollowIo = Pick<Io, 'stderr' | 'isTerminal'>;

const everyMs = 250;
/** The worker rereads the clock within a second or two; until then it may find no row due. */
const recheckEveryMs = 1_000;
const plainEveryMs = 5_000;

/** Ends with the campaign, at a pause that only an operator can end, or on abort. Plays the operator who pauses and resumes it. */
export async function followRehearsal(io: FollowIo, input: FollowInput): Promise<{ campaign: Campaign; status: CampaignStatus }> {
  const show = showProgress(io);
  const startedAt = input.now();
  const { pause } = input;
  const pauseAt = pause === null ? Infinity : startedAt + pause.afterMs;
  const resumeAt = pauseAt + (pause?.forMs ?? 0);
  let played: 'nothing' | 'paused' | 'resumed' = 'nothing';
  let movedTo = -Infinity;
  try {
    for (;;) {
      const campaign = await findCampaign(input.store.db, input.campaignId);
      if (campaign === undefined) throw new Error(`campaign ${input.campaignId} has gone from the database`);
      const status = await readStatus(input.store.db, campaign);
      const at = input.now();
      show(progressLine(at, campaign, status));
      if (hasEnded(campaign) || input.leave.aborted) return { campaign, status };
      if (played === 'nothing' && campaign.state === 'running' && at >= pauseAt) {
        await input.tell('pause');
        played = 'paused';
      } else if (played === 'paused' && at >= resumeAt) {
        await input.tell('resume');
        played = 'resumed';
      } else if (campaign.state === 'paused' && played !== 'paused' && !goesOnByItself(campaign)) {
        return { campaign, status };
      } else if (campaign.state === 'running' && status.open + status.planned === 0 && status.nextDueAt !== null) {
        const stop = played === 'nothing' ? pauseAt : Infinity;
        const skipsTo = Math.min(status.nextDueAt, campaign.rules.endsAt ?? Infinity, stop);
        // Repeated until a call is placed: otherwise nothing would happen before the skipped time.
        if (skipsTo > at || skipsTo === movedTo) {
          await input.moveTo((movedTo = skipsTo));
          await sleep(recheckEveryMs, undefined, { signal: input.leave }).catch(() => {});
        }
      }
      await sleep(everyMs, undefined, { signal: input.leave }).catch(() => {});
    }
  } finally {
    if (io.isTerminal) io.stderr.write('\n');
  }
}

function goesOnByItself({ rules }: Campaign): boolean {
  return rules.breaker?.coolDownMs != null;
}

/** Repainted on a terminal; elsewhere a line every few seconds. On standard error: the report alone is data. */
function showProgress({ stderr, isTerminal }: FollowIo): (line: string) => void {
  let shownAt = -Infinity;
  return (line) => {
    if (isTerminal) return void stderr.write(`\r${line}\u001b[K`);
    const now = performance.now();
    if (now - shownAt < plainEveryMs) return;
    shownAt = now;
    stderr.write(`${line}\n`);
  };
}

/** `Tue 24 Nov 14:10 UTC  312 of 2,000 done (completed 298 · rejected 14), 18 calls open, next at 14:20`. */
export function progressLine(at: number, campaign: Campaign, status: CampaignStatus): string {
  const outcomes = outcomeCounts(status);
  const parts = [
    `${count(status.done)} of ${count(status.total)} done${outcomes === '' ? '' : ` (${outcomes})`}`,
    `${count(status.open)} calls open`,
    ...(campaign.state === 'running' ? [] : [stateText(campaign)]),
    ...(status.open > 0 || status.nextDueAt === null || status.nextDueAt <= at ? [] : [`next at ${dayTimeText(status.nextDueAt)}`]),
  ];
  return `${dayTimeText(at)} UTC  ${parts.join(', ')}`;
}

/** `Tue 24 Nov`. */
export function dayText(instant: number): string {
  return DateTime.fromMillis(instant, { zone: 'utc', locale: 'en' }).toFormat('ccc d LLL');
}

/** `Tue 24 Nov 14:10`. */
export function dayTimeText(instant: number): string {
  return `${dayText(instant)} ${new Date(instant).toISOString().slice(11, 16)}`;
}

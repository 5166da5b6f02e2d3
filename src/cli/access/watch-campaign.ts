import { setTimeout as sleep } from 'node:timers/promises';
import { hasEnded } from '../../domain/lifecycle.ts';
import type { CampaignReader, Snapshot } from './campaign-snapshot.ts';
import type { CampaignView } from './campaign-view.ts';

export interface WatchInput {
  reader: CampaignReader;
  view: CampaignView;
  /** Aborted when the watcher is to leave; the campaign goes on. */
  leave: AbortSignal;
  /** Looks at what the database cannot tell: whether Temporal and a worker are there. Never throws for those. */
  supervise: () => Promise<string[]>;
}

const everyMs = 500;
const superviseEveryMs = 5_000;

/** Shows a campaign until it has ended or the watcher leaves. Answers its last snapshot. Throws what `supervise` throws. */
export async function watchCampaign({ reader, view, leave, supervise }: WatchInput): Promise<Snapshot> {
  let notices: string[] = [];
  let supervisedAt = performance.now();
  let supervising: Promise<void> | null = null;
  let failure: { error: unknown } | null = null;
  for (;;) {
    const snapshot = await reader.read();
    const over = hasEnded(snapshot.campaign) || leave.aborted;
    view.show(snapshot, over ? [] : notices);
    if (over) return snapshot;
    if (failure !== null) throw (failure as { error: unknown }).error;
    if (supervising === null && performance.now() - supervisedAt >= superviseEveryMs) {
      supervising = supervise()
        .then(
          (said) => {
            notices = said;
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

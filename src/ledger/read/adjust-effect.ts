import { withAdjustments, type AdjustableRules } from '../../rules/campaign-rules.ts';
import { windowAt } from '../../rules/hours/calling-window.ts';
import { countRows } from '../reads.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { readHourKinds } from './clock-strip.ts';

export interface AdjustEffect {
  waiting: number;
  /** May be called at this minute as far as hours are concerned: as it is, and after the change. */
  openNow: { before: number; after: number };
  /** Have an hour now, and after the change none before the end of the campaign, or at all. */
  neverOpen: number;
  /** Have used up the attempts that they have after the change: they end as not reached when their turn comes. */
  usedUp: number;
}

/** Looks at what a change would do; changes nothing. Its cost grows with the rows that wait. */
export async function readAdjustEffect(
  db: Queries,
  { campaignId, rules: known }: Campaign,
  { wish, now }: { wish: Partial<AdjustableRules>; now: number },
): Promise<AdjustEffect> {
  const rules = withAdjustments(known, wish);
  const count = async (held: Campaign['rules']) => {
    const found = { waiting: 0, open: 0, shut: 0 };
    for (const { rows, window } of await readHourKinds(db, { campaignId, rules: held })) {
      const then = windowAt({ ...window, at: now });
      found.waiting += rows;
      if (then.open) found.open += rows;
      else if (then.opensAt === null) found.shut += rows;
    }
    return found;
  };
  const before = await count(known);
  const after = await count(rules);
  const { maxAttempts } = rules.retry;
  const isSame = maxAttempts >= known.retry.maxAttempts || known.retry.resetAfterMs !== null;
  const waiting = db.selectFrom('recipients').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  return {
    waiting: before.waiting,
    openNow: { before: before.open, after: after.open },
    neverOpen: Math.max(0, after.shut - before.shut),
    usedUp: isSame ? 0 : await countRows(waiting.where('counted', '>=', maxAttempts)),
  };
}

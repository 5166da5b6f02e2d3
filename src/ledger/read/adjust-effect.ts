import type { AdjustableRules } from '../../rules/campaign-rules.ts';
import { withAdjustments } from '../../rules/campaign-rules.ts';
import { windowAt } from '../../rules/hours/calling-window.ts';
import type { Campaign } from '../rows/campaigns.ts';
import type { Queries } from '../tx.ts';
import { readHourKinds, type HourKind } from './clock-strip.ts';

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
  campaign: Campaign,
  { wish, now }: { wish: Partial<AdjustableRules>; now: number },
): Promise<AdjustEffect> {
  const rules = withAdjustments(campaign.rules, wish);
  const before = (await readHourKinds(db, campaign)).map((kind) => look(kind, now));
  const after = (await readHourKinds(db, { ...campaign, rules })).map((kind) => look(kind, now));
  const sum = (looks: readonly HourLook[], counts: (one: HourLook) => boolean): number =>
    looks.reduce((total, one) => total + (counts(one) ? one.rows : 0), 0);
  const isShut = ({ isOpen, opens }: HourLook): boolean => !isOpen && !opens;
  return {
    waiting: sum(before, () => true),
    openNow: { before: sum(before, ({ isOpen }) => isOpen), after: sum(after, ({ isOpen }) => isOpen) },
    neverOpen: Math.max(0, sum(after, isShut) - sum(before, isShut)),
    usedUp: await countUsedUp(db, campaign, rules.retry.maxAttempts),
  };
}

interface HourLook {
  rows: number;
  isOpen: boolean;
  opens: boolean;
}

function look({ rows, window }: HourKind, now: number): HourLook {
  const { open: isOpen, ...then } = windowAt({ ...window, at: now });
  return { rows, isOpen, opens: 'opensAt' in then && then.opensAt !== null };
}

async function countUsedUp(db: Queries, { campaignId, rules }: Campaign, maxAttempts: number): Promise<number> {
  if (maxAttempts >= rules.retry.maxAttempts || rules.retry.resetAfterMs !== null) return 0;
  const { rows } = await db
    .selectFrom('recipients')
    .select((eb) => eb.fn.countAll<number>().as('rows'))
    .where('campaign_id', '=', campaignId)
    .where('state', '=', 'waiting')
    .where('counted', '>=', maxAttempts)
    .executeTakeFirstOrThrow();
  return rows;
}

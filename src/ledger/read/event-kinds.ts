import type { EventType } from '../../domain/events.ts';
import type { Queries } from '../tx.ts';

/** How many lines of each type the log of a campaign has. Walks through its part of an index: costly where there are many. */
export async function readEventKinds(db: Queries, campaignId: string): Promise<ReadonlyMap<EventType, number>> {
  const rows = await db
    .selectFrom('events')
    .select('type')
    .select((eb) => eb.fn.countAll<number>().as('lines'))
    .where('campaign_id', '=', campaignId)
    .groupBy('type')
    .execute();
  return new Map(rows.map(({ type, lines }) => [type as EventType, lines]));
}

import { sql } from 'kysely';
import type { EventData } from '../../rules/events.ts';
import { newestEvents, sqlMarkTypes } from '../events.ts';
import type { Queries } from '../tx.ts';

/** Since when a campaign is in its state, and who last changed anything in it. Instants are service time. */
export interface LastActs {
  /** Null: its state has not changed since it was imported. */
  changed: ({ at: number } & EventData['campaign.state']) | null;
  /** Null: nobody has done anything through the API or the page; the command line leaves no name. */
  acted: ({ at: number } & EventData['operator.acted']) | null;
}

/** Reads the newest lines of each kind, found without a walk through those of the calls. */
export async function readLastActs(db: Queries, campaignId: string): Promise<LastActs> {
  const marks = newestEvents(db, campaignId)
    .select(['at', 'data'])
    .where(sql<boolean>`type in (${sql.raw(sqlMarkTypes)})`);
  const changed = await marks.where('type', '=', 'campaign.state').limit(1).executeTakeFirst();
  const acted = await marks
    .where('type', '=', 'operator.acted')
    // Whoever has looked has changed nothing.
    .where('data', 'not like', '%"action":"%_shown"%')
    .limit(1)
    .executeTakeFirst();
  return {
    changed: changed === undefined ? null : { at: changed.at, ...(parse(changed) as EventData['campaign.state']) },
    acted: acted === undefined ? null : { at: acted.at, ...(parse(acted) as EventData['operator.acted']) },
  };
}

function parse({ data }: { data: string | null }): unknown {
  return JSON.parse(data ?? '{}');
}

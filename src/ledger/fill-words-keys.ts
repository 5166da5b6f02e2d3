import type { Kysely } from 'kysely';
import { readRules } from '../domain/campaign-rules.ts';
import type { Database } from './schema.ts';
import { wordsKeysOf } from './words-key.ts';

const rowsPerPart = 1_000;

/** Gives the rows of campaigns that were imported without one the key of their opening line: they are kept apart from then on, too. */
export async function fillWordsKeys(db: Kysely<Database>): Promise<void> {
  const campaigns = await db.selectFrom('campaigns').select(['campaign_id', 'rules']).execute();
  for (const { campaign_id: campaignId, rules } of campaigns) {
    const keyOf = wordsKeysOf(readRules(rules));
    for (let last = 0, more = true; more;) {
      const rows = await db
        .selectFrom('recipients')
        .select(['recipient_id', 'row_number', 'cells'])
        .where('campaign_id', '=', campaignId)
        .where('row_number', '>', last)
        .orderBy('row_number')
        .limit(rowsPerPart)
        .execute();
      for (const { recipient_id: id, row_number: row, cells } of rows) {
        const key = keyOf(JSON.parse(cells) as string[]);
        await db.updateTable('recipients').set({ words_key: key }).where('recipient_id', '=', id).execute();
        last = row;
      }
      more = rows.length === rowsPerPart;
    }
  }
}

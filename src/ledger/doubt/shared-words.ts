import { sqlStates } from '../parts.ts';
import { sql } from 'kysely';
import { openAttemptStates } from '../../domain/ledger.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { hasNearLine, wordingOf } from '../../domain/correlation/line-words.ts';
import { readAgent } from './correlation-rows.ts';
import type { Queries } from '../tx.ts';

/** So many finished records in a row have shown number or reference: then records tell calls apart, whatever their words. */
const recordsThatTell = 20;

/**
 * Whether calls of the campaign that begin with the same words are kept from being open together: the service's records could not
 * tell them apart. Calls with the agent's own line go alone only until one record has shown number or reference.
 */
export async function readWordsKept(
  db: Queries,
  rules: Pick<CampaignRules, 'agentId' | 'firstMessage' | 'sharedWords'>,
): Promise<boolean> {
  if (rules.sharedWords === 'unresolved') return false;
  const tellingRun = (await readAgent(db, rules.agentId))?.telling_run ?? 0;
  return tellingRun < (rules.firstMessage === null ? 1 : recordsThatTell);
}

/** Of recipients: 1 where nobody has called them yet, and others of the list begin with the same words and were called before them. */
export const sharesWords = sql<number>`case when recipients.tier = 1 and exists (
  select 1 from recipients others join attempts on attempts.recipient_id = others.recipient_id
  where others.words_key = recipients.words_key and others.campaign_id = recipients.campaign_id
    and others.recipient_id <> recipients.recipient_id and attempts.words_key is not null) then 1 else 0 end`;

/** Of recipients: that no open call of the agent begins with their words. */
export function hasFreeWords(agentId: string) {
  return sql<boolean>`(recipients.words_key is null or not exists (
    select 1 from attempts where attempts.agent_id = ${agentId} and attempts.words_key = recipients.words_key
      and attempts.state in (${sqlStates(openAttemptStates)})))`;
}

/**
 * Of rows that would be called together: those whose opening line begins that of another call of the agent, open or among them, or goes on
 * where that one ends. What a record shows of such a line may be either.
 */
export async function findOverlapping(
  db: Queries,
  agentId: string,
  rows: readonly { id: string; openingLine: string | null }[],
): Promise<Set<string>> {
  const open = await db
    .selectFrom('attempts')
    .select('opening_line')
    .where('agent_id', '=', agentId)
    .where('state', 'in', openAttemptStates)
    .where('words_key', 'is not', null)
    .execute();
  const lines = open.flatMap((row) => wordingOf(row.opening_line)?.near ?? []).sort();
  const overlapping = new Set<string>();
  const chosen: string[] = [];
  for (const { id, openingLine } of rows) {
    const wording = wordingOf(openingLine);
    if (wording === null) continue;
    // Few rows are chosen at once; the open calls may be thousands.
    if (hasNearLine(wording, lines) || hasNearLine(wording, chosen.toSorted())) overlapping.add(id);
    else chosen.push(wording.near);
  }
  return overlapping;
}

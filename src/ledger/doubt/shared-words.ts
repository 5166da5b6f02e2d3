import { sqlStates } from '../parts.ts';
import { sql } from 'kysely';
import { openAttemptStates } from '../../rules/ledger.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { reportsRecipients, type ServiceApi } from '../../rules/service-api.ts';
import { beginningOf, hasBeginning, hasNearLine, shapeOf, wordingOf } from '../../rules/correlation/line-words.ts';
import { readAgent, recordsUntilTrusted } from './correlation-rows.ts';
import type { Queries } from '../tx.ts';

/**
 * Whether calls with the same words must not be open together, as records could not distinguish them. The agent's own line: only until a
 * record shows number or reference.
 */
export async function readWordsKept(
  db: Queries,
  { api, rules }: { api: ServiceApi; rules: Pick<CampaignRules, 'agentId' | 'firstMessage' | 'sharedWords'> },
): Promise<boolean> {
  // Reports on each recipient distinguish calls.
  if (rules.sharedWords === 'unresolved' || reportsRecipients(api)) return false;
  // Number or reference distinguish calls with the same words.
  const identifyingRun = (await readAgent(db, rules.agentId))?.telling_run ?? 0;
  return identifyingRun < (rules.firstMessage === null ? 1 : recordsUntilTrusted);
}

/** On recipients: 1 if not called yet while others with the same first words were. */
export const sharesWords = sql<number>`case when recipients.called = 0 and exists (
  select 1 from recipients others join attempts on attempts.recipient_id = others.recipient_id
  where others.words_key = recipients.words_key and others.campaign_id = recipients.campaign_id
    and others.recipient_id <> recipients.recipient_id and attempts.words_key is not null) then 1 else 0 end`;

/** Condition on recipients: no open call begins with their words. */
export function hasFreeWords(agentId: string) {
  return sql<boolean>`(recipients.words_key is null or not exists (
    select 1 from attempts where attempts.agent_id = ${agentId} and attempts.words_key = recipients.words_key
      and attempts.state in (${sqlStates(openAttemptStates)})))`;
}

/** After a cut-off record others may be cut off, too. */
const cutsMs = 24 * 3_600_000;

interface Together {
  rules: Pick<CampaignRules, 'agentId' | 'firstMessage'>;
  rows: readonly { id: string; openingLine: string | null }[];
  now: number;
}

/**
 * Rows whose opening line begins or continues that of another call: a record may be of either. While recipients interrupt the agent, also
 * rows with the same first field, unless nearly all begin alike. `until`: end of their wait.
 */
export async function findOverlapping(db: Queries, { rules, rows, now }: Together): Promise<{ ids: string[]; until: number }> {
  const open = await db
    .selectFrom('attempts')
    .select(['opening_line', 'conversation_id'])
    .where('agent_id', '=', rules.agentId)
    .where('state', 'in', openAttemptStates)
    .where('words_key', 'is not', null)
    .execute();
  const linesOf = (calls: typeof open) => calls.flatMap((row) => wordingOf(row.opening_line)?.near ?? []).sort();
  const lines = linesOf(open);
  const silent = linesOf(open.filter((row) => row.conversation_id === null));
  const cutAt = (await readAgent(db, rules.agentId))?.cut_at ?? null;
  const beginnings = cutAt === null || cutAt < now - cutsMs ? new Map<string, string>() : beginningsOf(rules, rows);
  const ids: string[] = [];
  const chosen: string[] = [];
  for (const { id, openingLine } of rows) {
    const wording = wordingOf(openingLine);
    if (wording === null) continue;
    const among = chosen.toSorted();
    const beginning = beginnings.get(id);
    // Few rows are chosen at once; open calls may be thousands.
    if (hasNearLine(wording, lines) || hasNearLine(wording, among)) ids.push(id);
    else if (beginning !== undefined && [silent, among].some((known) => hasBeginning(beginning, known))) ids.push(id);
    else chosen.push(wording.near);
  }
  // These may be many, and wait long.
  return { ids, until: now + (beginnings.size === 0 ? 30_000 : 120_000) };
}

/** By row; empty when fewer than a quarter differ. */
function beginningsOf({ firstMessage }: Together['rules'], rows: Together['rows']): Map<string, string> {
  const shape = firstMessage === null ? null : shapeOf(firstMessage);
  const beginnings = new Map<string, string>();
  for (const { id, openingLine } of rows) {
    const wording = wordingOf(openingLine);
    const beginning = shape === null || wording === null ? null : beginningOf(shape, wording);
    if (beginning !== null) beginnings.set(id, beginning);
  }
  return new Set(beginnings.values()).size * 4 < rows.length ? new Map<string, string>() : beginnings;
}

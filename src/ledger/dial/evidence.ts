import { requestedAttemptStates } from '../../rules/ledger.ts';
import { clockToleranceMs } from '../../rules/correlation/evidence.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { keepsReferences, readAgent, readBatches } from '../doubt/correlation-rows.ts';
import type { Tx } from '../tx.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** Lines that no other call of the agent can have begun with: only they identify a call. */
async function findUniqueLines(tx: Tx, batchId: string, attempts: readonly AttemptRow[]): Promise<Set<string>> {
  const agentId = attempts[0]?.agent_id;
  const lines = attempts.flatMap(({ opening_line: line }) => (line === null ? [] : [line]));
  if (agentId === undefined || lines.length === 0) return new Set();
  const shared = await tx
    .selectFrom('attempts')
    .select('opening_line')
    .distinct()
    .where('agent_id', '=', agentId)
    .where('batch_id', '!=', batchId)
    .where('opening_line', 'in', lines)
    .where('conversation_id', 'is', null)
    .where('posted_at', 'is not', null)
    .where('state', 'in', requestedAttemptStates)
    .execute();
  const taken = new Set(shared.map((row) => row.opening_line));
  return new Set(lines.filter((line) => !taken.has(line)));
}

export async function hasRecord(tx: Tx, batchId: string): Promise<boolean> {
  const query = tx.selectFrom('attempts').select('attempt_id').where('batch_id', '=', batchId);
  return (await query.where('conversation_id', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
}

/** `named`: a record has the call's reference; `fitting`: its number or opening line. */
export type Evidence = 'named' | 'fitting';

/** A conversation of the batch, or one since the first POST that fits by reference, number or opening line. */
export async function findEvidenceFor(tx: Tx, batch: BatchRow, attempts: readonly AttemptRow[]): Promise<Evidence | null> {
  const agentId = attempts[0]?.agent_id;
  if (agentId === undefined || batch.first_posted_at === null) return null;
  if (await hasRecord(tx, batch.batch_id)) return 'named';
  return findRecordOf(tx, batch, attempts, await findUniqueLines(tx, batch.batch_id, attempts));
}

/**
 * Searches unowned conversations since the first POST by reference, number or line. Only a reference counts if certainly no request was
 * carried out, or if fully read records of ours always show it.
 */
export async function findRecordOf(
  tx: Tx,
  batch: BatchRow,
  attempts: readonly AttemptRow[],
  lines: ReadonlySet<string> = new Set(),
): Promise<Evidence | null> {
  const agentId = attempts[0]?.agent_id;
  if (agentId === undefined || batch.first_posted_at === null) return null;
  const since = batch.first_posted_at - clockToleranceMs;
  const { namedOnly = false, reported = false } = (await readBatches(tx, [batch.batch_id])).get(batch.batch_id) ?? {};
  const isKept = reported && keepsReferences(await readAgent(tx, agentId));
  const rows = await tx
    .selectFrom('conversations')
    .select(['facts', 'started_at', 'final', 'reads', 'gone'])
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('first_seen_at', '>=', since)
    .execute();
  const numbers = new Set(attempts.map((attempt) => attempt.e164));
  const references = new Set(attempts.map((attempt) => attempt.reference));
  const evidence = rows.map((row): Evidence | null => {
    const facts = JSON.parse(row.facts) as ConversationFacts;
    if (facts.direction === 'inbound') return null;
    if (facts.references.some((reference) => references.has(reference))) return 'named';
    if (row.started_at !== null && row.started_at < since) return null;
    if (namedOnly || (isKept && row.final === 1 && row.reads > 0 && row.gone === 0)) return null;
    const isNumber = facts.calleeNumber !== null && numbers.has(facts.calleeNumber);
    return isNumber || (facts.openingLine !== null && lines.has(facts.openingLine)) ? 'fitting' : null;
  });
  return evidence.includes('named') ? 'named' : evidence.includes('fitting') ? 'fitting' : null;
}

import { requestedAttemptStates } from '../../rules/ledger.ts';
import { clockToleranceMs } from '../../rules/correlation/evidence.ts';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { Tx } from '../tx.ts';
import type { AttemptRow, BatchRow } from '../schema.ts';

/** Of these opening lines the ones that no other call of the agent can have begun with: only they point at somebody. */
async function findTellingLines(tx: Tx, batchId: string, attempts: readonly AttemptRow[]): Promise<Set<string>> {
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

/** Whether one of the batch's attempts has its conversation. */
export async function hasRecord(tx: Tx, batchId: string): Promise<boolean> {
  const query = tx.selectFrom('attempts').select('attempt_id').where('batch_id', '=', batchId);
  return (await query.where('conversation_id', 'is not', null).limit(1).executeTakeFirst()) !== undefined;
}

/**
 * Whether one of the batch's attempts has its conversation already, or a stored conversation since the first POST fits one of
 * its recipients, by reference, number or opening line.
 */
export async function findEvidenceFor(tx: Tx, batch: BatchRow, attempts: readonly AttemptRow[]): Promise<boolean> {
  const agentId = attempts[0]?.agent_id;
  if (agentId === undefined || batch.first_posted_at === null) return false;
  if (await hasRecord(tx, batch.batch_id)) return true;
  return isNamedByRecord(tx, batch, attempts, await findTellingLines(tx, batch.batch_id, attempts));
}

/**
 * Whether a stored conversation that nobody owns, since the first POST of the batch, names one of the attempts, by reference or number, or
 * begins with one of the lines.
 */
export async function isNamedByRecord(
  tx: Tx,
  batch: BatchRow,
  attempts: readonly AttemptRow[],
  lines: ReadonlySet<string> = new Set(),
): Promise<boolean> {
  const agentId = attempts[0]?.agent_id;
  if (agentId === undefined || batch.first_posted_at === null) return false;
  const since = batch.first_posted_at - clockToleranceMs;
  const rows = await tx
    .selectFrom('conversations')
    .select(['facts', 'started_at'])
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('first_seen_at', '>=', since)
    .execute();
  const numbers = new Set(attempts.map((attempt) => attempt.e164));
  const references = new Set(attempts.map((attempt) => attempt.reference));
  return rows.some((row) => {
    if (row.started_at !== null && row.started_at < since) return false;
    const facts = JSON.parse(row.facts) as ConversationFacts;
    if (facts.direction === 'inbound') return false;
    return (
      facts.references.some((reference) => references.has(reference)) ||
      (facts.calleeNumber !== null && numbers.has(facts.calleeNumber)) ||
      (facts.openingLine !== null && lines.has(facts.openingLine))
    );
  });
}

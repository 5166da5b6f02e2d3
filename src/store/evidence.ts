import type { Selectable } from 'kysely';
import type { ConversationFacts } from '../domain/conversation-facts.ts';
import type { Queries } from './open-store.ts';
import type { Database } from './schema.ts';

/** Clocks of the service may run this far behind ours without a record counting as older than the POST. */
const toleranceMs = 2_000;

/** Whether a stored conversation since the batch's first POST fits one of its recipients, by reference, number or opening line. */
export async function findEvidenceFor(
  tx: Queries,
  batch: Selectable<Database['batches']>,
  attempts: readonly Selectable<Database['attempts']>[],
): Promise<boolean> {
  const agentId = attempts[0]?.agent_id;
  if (agentId === undefined || batch.first_posted_at === null) return false;
  const since = batch.first_posted_at - toleranceMs;
  const rows = await tx
    .selectFrom('conversations')
    .select(['facts', 'started_at'])
    .where('agent_id', '=', agentId)
    .where('attempt_id', 'is', null)
    .where('first_seen_at', '>=', since)
    .execute();
  const numbers = new Set(attempts.map((attempt) => attempt.e164));
  const references = new Set(attempts.flatMap((attempt) => (attempt.reference === null ? [] : [attempt.reference])));
  const lines = new Set(attempts.flatMap((attempt) => (attempt.opening_line === null ? [] : [attempt.opening_line])));
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

import { sql, type ExpressionBuilder } from 'kysely';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { RecordEvidence } from '../../rules/correlation/record.ts';
import { attemptNamedBy } from '../../rules/ids.ts';
import { prepared } from '../prepared.ts';
import type { Tx } from '../tx.ts';
import type { ConversationRow, Database } from '../schema.ts';

/** Cap on the learnt lag: a later listing was lost for a while. */
const longestLagMs = 24 * 3_600_000;

/** Learns from a final record how the service keeps this agent's records. `own`: facts from this read alone. */
export async function learnFromRecord(
  tx: Tx,
  row: ConversationRow,
  { facts, own, shown, offsetMs }: { facts: ConversationFacts; own: ConversationFacts; shown: RecordEvidence; offsetMs: number },
): Promise<void> {
  if (facts.direction === 'inbound') return;
  const identifiesCall = facts.calleeNumber !== null || facts.references.some(isOurs);
  const isNamed = own.references.some(isOurs);
  // Without a report the call may not be ours.
  if (isNamed || facts.reported !== undefined) await noteNaming(tx, row.agent_id, isNamed);
  const { spoken, wordless, lastedMs } = shown;
  const emptyMs = wordless ? lastedMs : 0;
  const endedAt = facts.endedAt ?? (facts.startedAt === null ? null : facts.startedAt + lastedMs);
  const words = { spoken: spoken ? 1 : 0, bare: wordless && emptyMs === 0 ? 1 : 0, emptyMs };
  await learnQuirks(tx, { ...words, lagMs: lagOf(row, endedAt, offsetMs), tells: identifiesCall ? 1 : 0, agentId: row.agent_id });
}

export function isOurs(reference: string): boolean {
  return attemptNamedBy(reference) !== null;
}

export async function noteNaming(tx: Tx, agentId: string, isNamed: boolean): Promise<void> {
  const run = sql<number>`case when ${isNamed ? 1 : 0} = 1 then naming_run + 1 else 0 end`;
  await tx.updateTable('agents').set({ naming_run: run }).where('agent_id', '=', agentId).execute();
}

/** What a record showed; 1: yes, 0: no. */
interface RecordTraits {
  agentId: string;
  tells: number;
  spoken: number;
  bare: number;
  emptyMs: number;
  lagMs: number;
}

const learnQuirks = prepared((tx: Tx, shown: RecordTraits) =>
  tx
    .updateTable('agents')
    .set((eb) => ({
      telling_run: sql<number>`case when ${shown.tells} = 1 then telling_run + 1 else 0 end`,
      words_shown: greatest(eb, 'words_shown', shown.spoken),
      bare_shown: greatest(eb, 'bare_shown', shown.bare),
      longest_empty_ms: greatest(eb, 'longest_empty_ms', shown.emptyMs),
      longest_lag_ms: greatest(eb, 'longest_lag_ms', shown.lagMs),
    }))
    .where('agent_id', '=', shown.agentId),
);

/** Milliseconds from the call's end to its listing, if a complete sweep begun after that end missed it; else 0. */
function lagOf(row: ConversationRow, endedAt: number | null, offsetMs: number): number {
  if (endedAt === null || row.missed_at === null || endedAt >= row.missed_at) return 0;
  return Math.min(longestLagMs, Math.max(0, row.first_seen_at + offsetMs - endedAt));
}

function greatest(
  eb: ExpressionBuilder<Database, 'agents'>,
  column: 'words_shown' | 'bare_shown' | 'longest_empty_ms' | 'longest_lag_ms',
  value: number,
) {
  return eb.case().when(column, '<', value).then(value).else(eb.ref(column)).end();
}

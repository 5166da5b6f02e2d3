import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import type { AttemptRow, ConversationRow, RecipientRow } from '../schema.ts';

export const doubtDecisions = ['theirs', 'not_theirs', 'redial', 'give_up'] as const;
export type DoubtDecision = (typeof doubtDecisions)[number];

/** Shown to the operator: a row, one of its calls, a candidate record, and the decision. */
export interface DecisionLine {
  /** Position, for messages: `line 4`. */
  place: string;
  row: number;
  attemptId: string | null;
  conversationId: string | null;
  decision: DoubtDecision | null;
}

export interface DecisionProblem {
  place: string;
  column: 'row' | 'attempt' | 'conversation' | 'decision';
  value: string;
  problem: string;
}

/** When one decision cannot be applied, none is. */
export class DecisionsRefusedError extends Error {
  override readonly name = 'DecisionsRefusedError' as const;
  readonly isBadInput = true;
  readonly problems: readonly DecisionProblem[];

  constructor(problems: readonly DecisionProblem[]) {
    super(`${problems.length} of the decisions cannot be carried out.`);
    this.problems = problems;
  }
}

export interface Named {
  ledgerId: string;
  recipients: ReadonlyMap<number, RecipientRow>;
  attempts: ReadonlyMap<string, AttemptRow>;
  records: ReadonlyMap<string, ConversationRow>;
}

type Problems = DecisionProblem[];

export function findProblems(named: Named, lines: readonly DecisionLine[]): DecisionProblem[] {
  const decided = lines.filter(({ decision }) => decision !== null);
  return [...lines.flatMap((line) => checkLine(named, line)), ...checkAssignments(decided), ...checkRows(decided)];
}

function refusal(line: DecisionLine, column: DecisionProblem['column'], problem: string): Problems {
  const { place, row, attemptId: attempt, conversationId: conversation, decision } = line;
  const value = { row: String(row), attempt, conversation, decision }[column] ?? '';
  return [{ place, column, value, problem }];
}

function checkLine(named: Named, line: DecisionLine): Problems {
  const { row, attemptId, conversationId, decision } = line;
  const recipient = named.recipients.get(row);
  if (recipient === undefined) return refusal(line, 'row', 'the list has no such row: leave the column as it was written');
  const attempt = attemptId === null ? undefined : named.attempts.get(attemptId);
  if (attemptId !== null && attempt?.e164 !== recipient.e164)
    return refusal(line, 'attempt', `this is no call to row ${row}: leave the column as it was written`);
  if (decision !== 'theirs' && decision !== 'not_theirs') return [];
  if (attempt === undefined || conversationId === null)
    return refusal(line, 'decision', 'the line shows no record: write redial or give_up, or nothing');
  const record = named.records.get(conversationId);
  if (record === undefined) return refusal(line, 'conversation', 'the database has no such record: check the id');
  const isOwn = record.attempt_id === attemptId;
  if (decision === 'not_theirs') return isOwn ? refusal(line, 'decision', `${conversationId} is the record of this call already`) : [];
  const against = isOwn ? null : contradictionOf(named.ledgerId, attempt, record);
  return against === null ? [] : refusal(line, 'conversation', `it cannot be given to call ${attemptId}: ${against}`);
}

/** Why the record cannot be the call's, even if the operator says so; null: no contradiction. */
function contradictionOf(ledgerId: string, attempt: AttemptRow, record: ConversationRow): string | null {
  const facts = JSON.parse(record.facts) as ConversationFacts;
  if (record.attempt_id !== null) return `it is the record of call ${record.attempt_id}`;
  if (attempt.posted_at === null) return 'the call was never made';
  if (record.agent_id !== attempt.agent_id) return 'it is a call of another agent';
  if (facts.direction === 'inbound') return 'it is an inbound call';
  if (facts.calleeNumber !== null && facts.calleeNumber !== attempt.e164) return 'it shows another number';
  const ours = facts.references.filter((text) => text.startsWith(`${ledgerId}:`));
  if (ours.some((text) => text !== attempt.reference)) return 'it names another call';
  if (attempt.posted_seq !== null && record.seen_seq < attempt.posted_seq) return 'it was known before the call was made';
  return attempt.conversation_id === null ? null : `the call has its record already, ${attempt.conversation_id}`;
}

/** One record per call, and one call per record. */
function checkAssignments(lines: readonly DecisionLine[]): Problems {
  const records = new Map<string | null, DecisionLine>();
  const calls = new Map<string | null, DecisionLine>();
  return lines.flatMap((line) => {
    if (line.decision !== 'theirs') return [];
    const { conversationId, attemptId } = line;
    const [sameRecord, sameCall] = [records.get(conversationId), calls.get(attemptId)];
    records.set(conversationId, line);
    calls.set(attemptId, line);
    if (sameRecord !== undefined && sameRecord.attemptId !== attemptId)
      return refusal(line, 'decision', `${sameRecord.place} gives the record to another call: keep one`);
    if (sameCall !== undefined && sameCall.conversationId !== conversationId)
      return refusal(line, 'decision', `${sameCall.place} gives the call another record: keep one`);
    return [];
  });
}

function checkRows(lines: readonly DecisionLine[]): Problems {
  const ends = new Map<number, DecisionLine>();
  return lines.flatMap((line) => {
    if (line.decision === 'not_theirs') return [];
    const known = ends.get(line.row);
    ends.set(line.row, line);
    if (known === undefined || known.decision === line.decision) return [];
    return refusal(line, 'decision', `${known.place} says ${known.decision} for the row: keep one of them`);
  });
}

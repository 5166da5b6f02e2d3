import { stringify } from 'csv-stringify/sync';
import type { ConversationFacts } from '../../rules/conversation-facts.ts';
import { findColumn } from '../../rules/columns.ts';
import { doubtDecisions, type DecisionLine, type DecisionProblem } from '../../ledger/people/decision-checks.ts';
import type { DoubtfulRow } from '../../ledger/doubt/doubtful-rows.ts';
import { findHeader } from '../../list/header.ts';
import { placeOf, type ListRecord } from '../../list/format/record.ts';
import { readListRecords } from '../../list/records.ts';
import { quoteCell } from '../../shared/input/printable.ts';
import { isoInstant } from './columns.ts';
import { guardCell } from './text.ts';

const columns = [
  'row',
  'id',
  'number',
  'reason',
  'attempt',
  'called_at',
  'conversation',
  'started',
  'duration_seconds',
  'first_words',
  'spoke',
  'result',
  'decision',
] as const;
/** The other columns only help the operator to decide. */
const readColumns = ['row', 'attempt', 'conversation', 'decision'] as const;
const rowsPerChunk = 500;

/** Rows in doubt as CSV: one line per record that may be theirs, or one line without a record. */
export async function* candidateLines(rows: readonly DoubtfulRow[]): AsyncGenerator<string> {
  yield stringify([[...columns]]);
  for (const { recipient, calls } of rows) {
    const own = [String(recipient.row_number), recipient.external_id, recipient.e164, recipient.reason].map(guarded);
    const lines = calls.flatMap(({ attempt, records }) => {
      const call = [attempt.attempt_id, isoInstant(attempt.posted_at) ?? ''];
      return records.length === 0
        ? [[...own, ...call]]
        : records.map(({ conversationId, facts }) => [...own, ...call, guarded(conversationId), ...toCells(facts)]);
    });
    for (const line of lines.length === 0 ? [own] : lines) yield stringify([[...line, ...columns.slice(line.length).map(() => '')]]);
  }
}

function guarded(cell: string | null): string {
  return guardCell(cell ?? '');
}

function toCells(facts: ConversationFacts): string[] {
  const { startedAt, durationMs, openingLine, callResult, status, collected } = facts;
  const collectedTexts = Object.keys(collected ?? {}).length === 0 ? [] : [JSON.stringify(collected)];
  return [
    isoInstant(startedAt) ?? '',
    durationMs === null ? '' : String(durationMs / 1000),
    guarded(openingLine),
    spokenBy(facts),
    guarded([callResult ?? status ?? '', ...collectedTexts].join(' ').trim()),
  ];
}

function spokenBy({ hasTranscript, agentTurns, userTurns }: ConversationFacts): string {
  if (!hasTranscript && agentTurns + userTurns === 0) return 'not shown';
  if (agentTurns > 0) return userTurns > 0 ? 'agent and callee' : 'agent';
  return userTurns > 0 ? 'callee' : 'nobody';
}

/** Reads the edited file back; returns faults of single cells. Throws ListFileError when it is no such file. */
export async function readDecisions(path: string): Promise<{ lines: DecisionLine[]; problems: DecisionProblem[] }> {
  // These columns are ASCII only.
  const header = await findHeader({ path, names: readColumns, unnamed: 'any', defaultRegion: null });
  const [row, attempt, conversation, decision] = readColumns.map((name) => {
    const found = findColumn(name, header.columns);
    return found !== null && 'column' in found ? header.columns.indexOf(found.column) : -1;
  });
  const lines: DecisionLine[] = [];
  const problems: DecisionProblem[] = [];
  if ([row, attempt, conversation, decision].includes(-1)) {
    const what = `the file has no columns ${readColumns.join(', ')}: take one that --candidates has written`;
    return {
      lines,
      problems: [{ place: 'the header', column: 'row', value: header.columns.join(','), problem: what }],
    };
  }
  for await (const records of readListRecords(path, header.layout, rowsPerChunk))
    for (const record of records) {
      if (record.row <= 0) continue;
      const cellAt = (index: number | undefined) => (record.cells[index ?? -1] ?? '').trim().replace(/^'/, '');
      const cells = { row: cellAt(row), attempt: cellAt(attempt), conversation: cellAt(conversation) };
      const read = readLine(record, { ...cells, decision: cellAt(decision) });
      if ('problem' in read) problems.push(read);
      else lines.push(read);
    }
  return { lines, problems };
}

function readLine(record: ListRecord, cells: Record<(typeof readColumns)[number], string>): DecisionLine | DecisionProblem {
  const place = `line ${record.line}`;
  if (record.damage !== null) return { place: placeOf(record), column: 'decision', value: cells.decision, problem: record.damage.hint };
  if (!/^\d{1,9}$/.test(cells.row))
    return {
      place,
      column: 'row',
      value: cells.row,
      problem: 'this is no number of a row: leave the column as it was written',
    };
  const word = cells.decision.toLowerCase().replace(/[\s-]+/g, '_');
  const decision = doubtDecisions.find((known) => known === word) ?? null;
  if (decision === null && word !== '') {
    const problem = `write ${doubtDecisions.slice(0, -1).join(', ')} or ${doubtDecisions.at(-1) ?? ''}, or leave it empty`;
    return { place, column: 'decision', value: cells.decision, problem };
  }
  const { attempt, conversation } = cells;
  return { place, row: Number(cells.row), attemptId: attempt || null, conversationId: conversation || null, decision };
}

export function describeProblem(path: string, { place, column, value, problem }: DecisionProblem): string {
  return `${path}: ${place}, ${column} ${quoteCell(value)}: ${problem}`;
}

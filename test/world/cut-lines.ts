import { isCutLine, wordingOf } from '../../src/rules/correlation/line-words.ts';
import type { Ledger } from './gather.ts';

/** Records whose opening line was cut off after so many words, and rows left in doubt that one of them may belong to. */
export interface CutLines {
  records: number;
  rows: number;
}

/** By the number of words that were spoken. A row in doubt about several records counts at each of them. */
export function countCutLines({ conversations, attempts, recipients }: Ledger): Record<number, CutLines> {
  const ours = [...new Set(attempts.flatMap(({ opening_line: line }) => wordingOf(line) ?? []))];
  const wordsOf = new Map<string, number>();
  for (const { conversation_id: id, facts } of conversations) {
    const shown = wordingOf((JSON.parse(facts) as { openingLine: string | null }).openingLine);
    if (shown !== null && ours.some((own) => isCutLine(shown, own))) wordsOf.set(id, shown.words.length);
  }
  const cut: Record<number, CutLines> = {};
  const at = (words: number) => (cut[words] ??= { records: 0, rows: 0 });
  for (const words of wordsOf.values()) at(words).records += 1;
  for (const { recipient_id: id, outcome } of recipients) {
    if (outcome !== 'unresolved') continue;
    const candidates = attempts
      .filter((attempt) => attempt.recipient_id === id)
      .flatMap((attempt) => JSON.parse(attempt.candidates ?? '[]') as string[]);
    for (const words of new Set(candidates.flatMap((each) => wordsOf.get(each) ?? []))) at(words).rows += 1;
  }
  return cut;
}

export function addCutLines(a: Record<number, CutLines>, b: Record<number, CutLines>): Record<number, CutLines> {
  const sum = { ...a };
  for (const [words, { records, rows }] of Object.entries(b)) {
    const known = sum[Number(words)] ?? { records: 0, rows: 0 };
    sum[Number(words)] = { records: known.records + records, rows: known.rows + rows };
  }
  return sum;
}

/** A table of the lines that were cut off, as text; the rows in doubt also as a part of all rows. */
export function formatCutLines(cut: Record<number, CutLines>, rows: number): string {
  const body = Object.entries(cut).map(([words, each]) => [
    words.padStart(11),
    String(each.records).padStart(7),
    `${each.rows} (${((100 * each.rows) / rows).toFixed(1)} %)`.padStart(15),
  ]);
  return [['words spoken', 'records', '  rows in doubt'], ...body].map((row) => row.join('  ')).join('\n');
}

import { readFileSync, writeFileSync } from 'node:fs';

/** One row of the table in `docs/proof.md`. */
export interface Row {
  guard: string;
  keeps: string;
  bySeed: string;
  byTest: string;
  /** Date and commit. */
  made: string;
}

const [from, to] = ['<!-- guards -->', '<!-- end of guards -->'];
const head = ['Without', 'What it keeps', 'First seed that breaks', 'Tests that fail', 'Made'];

export function readRows(path: string): Row[] {
  const [, rest = ''] = readFileSync(path, 'utf8').split(from);
  const lines = (rest.split(to)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [guard = '', keeps = '', bySeed = '', byTest = '', made = ''] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return { guard, keeps, bySeed, byTest, made };
  });
}

/** Writes the table between its marks, in this order; a guard that is no more has no row. */
export function writeRows(path: string, rows: readonly Row[], order: readonly string[]): void {
  const text = readFileSync(path, 'utf8');
  if (!text.includes(from) || !text.includes(to)) throw new Error(`${path} has no marks ${from} and ${to}.`);
  const sorted = order.flatMap((name) => rows.find(({ guard }) => guard === name) ?? []);
  const cells = [
    head,
    head.map(() => '---'),
    ...sorted.map((row) => [row.guard, row.keeps, row.bySeed, row.byTest, row.made].map((cell) => cell.replaceAll('|', '/'))),
  ];
  const table = cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
  writeFileSync(path, `${text.slice(0, text.indexOf(from))}${from}\n\n${table}\n\n${text.slice(text.indexOf(to))}`);
}

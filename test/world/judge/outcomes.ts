import type { Breach } from './judge.ts';
import { groupBy } from './calls.ts';
import type { Call, Evidence, Final, Row } from './evidence.ts';

const outcomes = 'completed exhausted opted_out suppressed rejected undialable expired cancelled unresolved'.split(' ');

/** Every row of the list has one outcome, and nothing else has any. */
export function* judgeRows({ rows, finals }: Evidence): Generator<Breach> {
  const nameOf = ({ campaignId, id, row }: Row) => `${campaignId} ${id ?? row}`;
  const wanted = new Map(rows.map((row) => [nameOf(row), row]));
  const found = groupBy(finals, (final) => nameOf(rowOf(final, rows)));
  for (const [name, row] of wanted) {
    const [final, ...others] = found.get(name) ?? [];
    if (final === undefined || others.length > 0)
      yield { rule: 'not one outcome', to: row.numbers[0] ?? null, what: `${name}: ${others.length + (final === undefined ? 0 : 1)} rows` };
  }
  for (const [name, some] of found)
    if (!wanted.has(name)) yield { rule: 'not one outcome', to: some[0]?.e164 ?? null, what: `${name} is on no list` };
  for (const { campaign_id: id, row_number: row, e164, state, outcome } of finals)
    if (state !== 'done' || !outcomes.includes(outcome ?? ''))
      yield { rule: 'not one outcome', to: e164, what: `${id} ${row} is ${state}, outcome ${outcome}` };
}

function rowOf({ campaign_id: campaignId, row_number: row, external_id: id }: Final, rows: readonly Row[]): Row {
  const isNamed = id !== null && rows.some((each) => each.campaignId === campaignId && each.id === id);
  return { campaignId, row, numbers: [], ...(isNamed ? { id } : {}) };
}

/** The results file is the list, line by line. */
export function* judgeCells({ rows, finals }: Evidence): Generator<Breach> {
  for (const [at, { row, cells }] of rows.entries()) {
    const final = finals[at];
    if (cells === undefined || final === undefined) continue;
    if (final.row_number !== row || JSON.stringify(final.cells) !== JSON.stringify(cells))
      yield { rule: 'not the row of the list', to: final.e164, what: `row ${row}` };
  }
}

/** By what the calls came to, where every record tells it. */
export function* judgeOutcomes({ rows, finals, calls, endings }: Evidence): Generator<Breach> {
  if (endings === undefined) return;
  for (const row of rows) {
    const final = finals.find(
      (each) => each.campaign_id === row.campaignId && (row.id == null ? each.row_number === row.row : each.external_id === row.id),
    );
    if (final === undefined || final.outcome === 'unresolved') continue;
    const own = calls.filter(({ to }) => row.numbers.includes(to));
    const wanted = wantedOf(row, own, endings);
    const fits = typeof wanted === 'function' ? wanted(final.outcome ?? '') : wanted.includes(final.outcome ?? '');
    if (!fits)
      yield {
        rule: 'wrong outcome',
        to: final.e164,
        what: `${final.outcome} after ${own.map(({ result }) => result).join(', ') || 'no call'}`,
      };
  }
}

function wantedOf({ mustBe, acted }: Row, own: readonly Call[], endings: string): string[] | ((outcome: string) => boolean) {
  if (mustBe !== undefined) return [mustBe];
  if (own.some(({ optedOut }) => optedOut)) return ['opted_out'];
  const answers = own.filter(({ result }) => result === 'answered');
  if (answers.some(({ again }) => again !== undefined)) return (outcome) => outcome !== 'opted_out';
  if (answers.length > 0) return ['completed'];
  if (endings === 'by calls') return (outcome) => outcome !== 'completed' && outcome !== 'opted_out';
  return [...(own.length === 0 ? [] : ['exhausted']), ...(acted === undefined ? [] : [acted])];
}

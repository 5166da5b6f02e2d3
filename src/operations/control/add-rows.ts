import { theColumn } from '../../rules/columns.ts';
import { didYouMean } from '../../rules/nearest-name.ts';
import { EditRefusedError, refuseUnlessEditable } from '../../ledger/people/edit-refusal.ts';
import { RecipientEditor } from '../../ledger/people/edit-recipients.ts';
import { findRows, type UploadRow } from '../../ledger/people/edit-verdict.ts';
import { longestCell } from '../../list/format/record.ts';
import { validateRows, type ListRow } from '../../list/recipients.ts';
import { quoteCell } from '../../shared/input/printable.ts';
import { notifyOfRows, type NotifyFailure } from './campaign-message.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { readClockOrReal } from './service.ts';
import { refuseLackingBasis } from './update.ts';
import type { Store } from '../../ledger/tx.ts';

type NamedCells = Readonly<Record<string, string>>;

/** Result for a row. `column` and `hint`: what is wrong with it. */
interface AddedRow {
  result: 'accepted' | 'known' | 'failed';
  /** Null when failed, like `state`. */
  row: number | null;
  state: 'waiting' | 'open' | 'done' | null;
  code: string | null;
  column: string | null;
  hint: string | null;
}

const clockLimitMs = 3_000;
const oldestClockMs = 10_000;

/**
 * Adds rows in one transaction and has the campaign replan; answers a result per row, in order. A row with an existing id is `known` and
 * unchanged, so repeating adds nothing. Throws UnknownCampaignError, and EditRefusedError when the campaign takes no rows.
 */
export async function addRows(
  control: Control,
  { campaignId, rows }: { campaignId: string; rows: readonly NamedCells[] },
): Promise<{ rows: AddedRow[]; notice: NotifyFailure }> {
  const added = await write(control, campaignId, rows);
  const isNews = added.some(({ state }) => state === 'waiting');
  return { rows: added, notice: isNews ? await messagesOf(control.store).send(control, campaignId) : null };
}

/** Cached: a clock runs on by itself. */
async function timeOf(control: Control): Promise<number> {
  const read = () => readClockOrReal(control.config, clockLimitMs, () => control.now());
  const clock = await control.cache.read('the clock for added rows', read, oldestClockMs);
  return Math.round(clock.now());
}

async function write(control: Control, campaignId: string, inputRows: readonly NamedCells[]): Promise<AddedRow[]> {
  const { store } = control;
  const campaign = await requireCampaign(store, campaignId);
  const now = await timeOf(control);
  refuseUnlessEditable(campaign, now);
  const { columns, idColumn, phoneColumn } = campaign.rules.list;
  if (idColumn === null)
    throw new EditRefusedError(
      `Campaign ${campaignId} has no id column (list.id), so a row that is sent twice would be called twice. Start one with list.id, under a new id.`,
    );
  const placed = inputRows.map((cells) => place(cells, columns));
  const whole = placed.flatMap((cells, index) => (Array.isArray(cells) ? [{ row: index + 1, cells }] : []));
  const validated = new Map(validateRows(campaign.rules, whole).map((row) => [row.row, row]));
  refuseLackingBasis([...validated.values()], campaign, now);
  const usable = [...validated.values()].filter((row): row is ListRow & UploadRow => row.verdict === 'accepted' && row.externalId !== null);
  const editor = new RecipientEditor(store, { campaignId, restore: false, dryRun: false, adds: true });
  const answers = new Map([...(await editor.apply(usable, now)), ...(await editor.finish(now))].map((answer) => [answer.row, answer]));
  const known = await findRows(store.db, campaignId, [...answers.values()].flatMap(({ campaignRow }) => campaignRow ?? [])); // prettier-ignore
  return placed.map((cells, index): AddedRow => {
    if (!Array.isArray(cells)) return failed(cells);
    const row = validated.get(index + 1);
    if (row?.verdict === 'rejected') return failed({ code: row.reason, column: row.column, hint: row.hint });
    const answer = answers.get(index + 1);
    if (answer === undefined)
      return failed({ code: 'missing_id', column: idColumn, hint: 'write your own id: a row sent twice is known by it' });
    if (answer.result === 'failed') return failed({ code: answer.code ?? 'failed', column: phoneColumn, hint: answer.hint ?? '' });
    const result = answer.result === 'accepted' ? 'accepted' : 'known';
    const state = known.get(answer.campaignRow ?? 0)?.state ?? null;
    return { result, row: answer.campaignRow, state, code: null, column: null, hint: null };
  });
}

interface Fault {
  code: string;
  column: string | null;
  hint: string;
}

function failed(fault: Fault): AddedRow {
  return { result: 'failed', row: null, state: null, ...fault };
}

/** Cells in column order, or the first fault. */
function place(cells: NamedCells, columns: readonly string[]): string[] | Fault {
  const placed = new Map<string, string>();
  for (const [name, value] of Object.entries(cells)) {
    const column = theColumn(name, columns);
    if (column === null) {
      const hint = `the list has no column ${quoteCell(name)}${didYouMean(name, columns)}; its columns are ${columns.map(quoteCell).join(', ')}`;
      return { code: 'unknown_column', column: name, hint };
    }
    if (placed.has(column)) return { code: 'malformed_row', column, hint: `two cells are for ${quoteCell(column)}; send one` };
    if (value.length > longestCell)
      return { code: 'malformed_row', column, hint: `the cell is longer than ${longestCell} characters; shorten it` };
    placed.set(column, value);
  }
  return columns.map((column) => placed.get(column) ?? '');
}

/** Sends one message for all rows committed before it, so that many requests share few messages. */
class RowMessages {
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #next = new Map<string, Promise<NotifyFailure>>();

  send(control: Control, campaignId: string): Promise<NotifyFailure> {
    const waiting = this.#next.get(campaignId);
    if (waiting !== undefined) return waiting;
    const last = this.#last.get(campaignId) ?? Promise.resolve();
    const next = last.then(async () => {
      this.#next.delete(campaignId);
      const sent = notifyOfRows(control, campaignId);
      this.#last.set(campaignId, sent);
      return sent;
    });
    this.#next.set(campaignId, next);
    return next;
  }
}

const messages = new WeakMap<Store, RowMessages>();

function messagesOf(store: Store): RowMessages {
  const known = messages.get(store) ?? new RowMessages();
  messages.set(store, known);
  return known;
}

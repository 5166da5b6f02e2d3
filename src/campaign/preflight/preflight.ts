import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { JsonObject } from '../../rules/conversation-override.ts';
import type { RejectionReason } from '../../rules/outcome.ts';
import { compileTemplates, type Personalisation } from '../../rules/personalisation.ts';
import { recipientFields } from '../../rules/columns.ts';
import { forecastCampaign, usualAssumptions, type CampaignForecast, type ForecastAssumptions, ringMs } from './campaign-forecast.ts';
import { WordsCounter, type WordsForecast } from '../../rules/forecast/words-forecast.ts';
import type { ExclusionReason } from '../../rules/attempts/eligibility.ts';
import { CallableRows, type CallableCounts, type LedgerFindings } from './callable-rows.ts';
import type { ListRow } from '../../list/recipients.ts';

export interface RejectionSummary {
  reason: RejectionReason;
  count: number;
  examples: RejectionExample[];
}

type RejectedRow = Extract<ListRow, { verdict: 'rejected' }>;
type RejectionExample = Pick<RejectedRow, 'row' | 'line' | 'column' | 'hint'>;

export interface RenderedExample {
  row: number;
  e164: string;
  firstMessage: string | null;
  variables: Record<string, string> | null;
  override?: JsonObject;
}

export interface CheckedRow {
  row: ListRow;
  excluded: ExclusionReason | null;
}

export interface PreflightReport extends CallableCounts {
  rejections: RejectionSummary[];
  examples: RenderedExample[];
  openingLines: OpeningLines;
}

export interface PreflightForecastInput {
  assumptions?: ForecastAssumptions;
  accountLines?: number | null;
  records?: RecordsShown | null;
}

export interface PreflightForecast {
  words: OpeningLineForecast;
  forecast: CampaignForecast | null;
}

const examplesPerReason = 3;
const renderedExamples = 3;

/** Gathers what `check` reports, chunk by chunk; memory grows only by a few hashes per row. */
export class Preflight {
  readonly #rules: CampaignRules;
  readonly #at: number;
  readonly #personalisation: Personalisation;
  readonly #callable: CallableRows;
  readonly #rejected = new Map<RejectionReason, RejectionExample[]>();
  readonly #examples: RenderedExample[] = [];
  readonly #words: WordsCounter;
  #accepted = 0;

  constructor(rules: CampaignRules, at: number) {
    this.#rules = rules;
    this.#at = at;
    this.#personalisation = compileTemplates(rules);
    this.#callable = new CallableRows(rules, at);
    this.#words = new WordsCounter(speakableColumns(rules));
  }

  /** Returns each row with its exclusion. `ledger` null: no database queried. */
  add(rows: readonly ListRow[], ledger: LedgerFindings | null): CheckedRow[] {
    return rows.map((row) => {
      const excluded = this.#callable.add(row, ledger);
      if (row.verdict === 'rejected') this.#addRejection(row);
      else {
        this.#accepted += 1;
        this.#addRendering(row);
      }
      return { row, excluded };
    });
  }

  report(): PreflightReport {
    const counts = this.#callable.counts();
    return {
      ...counts,
      rejections: counts.rejections.map(({ reason, count }) => ({
        reason,
        count,
        examples: this.#rejected.get(reason) ?? [],
      })),
      examples: this.#examples,
      openingLines: describeOpeningLines(this.#rules, this.#accepted, this.#words.report()),
    };
  }

  outlook({ assumptions = usualAssumptions, accountLines = null, records = null }: PreflightForecastInput = {}): PreflightForecast {
    const { openingLines, dialable } = this.report();
    const words = forecastOpeningLines(this.#rules, openingLines, { dialable, startsAt: this.#at }, assumptions, records);
    if (dialable === 0) return { words, forecast: null };
    const place = { rules: this.#rules, groups: this.#callable.groups(), startsAt: this.#at };
    return { words, forecast: forecastCampaign({ ...place, assumptions, accountLines, wordsLines: words.openAtOnce }) };
  }

  #addRejection({ reason, row, line, column, hint }: RejectedRow): void {
    const examples = this.#rejected.get(reason);
    if (examples === undefined) this.#rejected.set(reason, [{ row, line, column, hint }]);
    else if (examples.length < examplesPerReason) examples.push({ row, line, column, hint });
  }

  #addRendering(row: Extract<ListRow, { verdict: 'accepted' }>): void {
    const needsExample = this.#examples.length < renderedExamples;
    if (!needsExample && this.#rules.firstMessage === null) return;
    const rendered = this.#personalisation.render(recipientFields(this.#rules.list.columns, row.cells));
    if (!rendered.ok) return;
    if (needsExample) {
      const { ok: _, ...texts } = rendered;
      this.#examples.push({ row: row.row, e164: row.e164, ...texts });
    }
    if (rendered.firstMessage !== null) this.#words.add(rendered.firstMessage, row.cells);
  }
}

/** What the agent's newest records show; null: not queried, or none exist. */
export interface RecordsShown {
  read: number;
  naming: number;
  silent: number;
}

interface OpeningLineForecast {
  /** Open calls that the opening lines can distinguish; null: unlimited. */
  openAtOnce: number | null;
  /** Duration of the largest group of calls with the same opening line, made one after the other. */
  longestMs: number;
  /** Lower bound of the rows whose turn comes after the end. */
  late: number;
  /** Rows that may end unresolved, by opening lines or by records; null: cannot be predicted. */
  doubtful: number | null;
}

/** After so many consecutive finished records that identify their call, opening lines no longer matter. */
const conclusiveRun = 20;

export function forecastOpeningLines(
  rules: Pick<CampaignRules, 'sharedWords' | 'endsAt'>,
  lines: OpeningLines,
  { dialable, startsAt }: { dialable: number; startsAt: number },
  { callMs, answerRate }: ForecastAssumptions,
  records: RecordsShown | null,
): OpeningLineForecast {
  const read = records?.read ?? 0;
  const isTold = records !== null && read >= conclusiveRun && records.naming === read;
  if (isTold) return { openAtOnce: null, longestMs: 0, late: 0, doubtful: 0 };
  const bySilence = records === null || read === 0 ? null : Math.ceil((dialable * records.silent) / read);
  if (rules.sharedWords === 'unresolved')
    return {
      openAtOnce: null,
      longestMs: 0,
      late: 0,
      doubtful: Math.min(dialable, Math.max(lines.shared, bySilence ?? 0)),
    };
  const eachMs = answerRate * callMs + (1 - answerRate) * ringMs;
  const fit = rules.endsAt === null ? Infinity : Math.max(0, Math.floor((rules.endsAt - startsAt) / eachMs));
  return {
    openAtOnce: lines.shared === 0 ? null : lines.groups,
    longestMs: lines.largest * eachMs,
    late: lines.sizes.reduce((sum, { rows, groups }) => sum + Math.max(0, rows - fit) * groups, 0),
    doubtful: bySilence,
  };
}

interface OpeningLines extends WordsForecast {
  /** `shared` as a share of accepted rows, 0 to 1. */
  share: number;
  /** What to change in the campaign file; null when the opening lines distinguish all recipients. */
  advice: string | null;
}

export function speakableColumns({ list, consent }: Pick<CampaignRules, 'list' | 'consent'>): { name: string; index: number }[] {
  const taken: unknown[] = Object.entries({ ...list, ...consent }).flatMap(([key, value]) => (key.endsWith('Column') ? [value] : []));
  return list.columns.flatMap((name, index) => (taken.includes(name) ? [] : [{ name, index }]));
}

export function describeOpeningLines(
  { firstMessage }: Pick<CampaignRules, 'firstMessage'>,
  accepted: number,
  words: WordsForecast,
): OpeningLines {
  if (accepted > 1 && firstMessage === null) {
    const advice = 'Add a first_message with columns that differ from row to row, such as a name with a date or time.';
    const sizes = [{ rows: accepted, groups: 1 }];
    return { ...words, rows: accepted, shared: accepted, groups: 1, largest: accepted, sizes, share: 1, advice };
  }
  if (words.shared === 0) return { ...words, share: 0, advice: null };
  return { ...words, share: words.shared / accepted, advice: adviseColumn(words) };
}

function adviseColumn({ column }: Pick<WordsForecast, 'column'>): string {
  if (column === null)
    return 'No column of the list tells them apart: add one that differs, such as a last name or the time of an appointment, and put it into first_message.';
  const add = `Add a column that differs, such as ${column.name}, to first_message`;
  return column.left === 0 ? `${add}.` : `${add}: ${column.left} of ${column.looked} rows would still share theirs.`;
}

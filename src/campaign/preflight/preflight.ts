import type { CampaignRules } from '../../rules/campaign-rules.ts';
import type { JsonObject } from '../../rules/conversation-override.ts';
import type { RejectionReason } from '../../rules/outcome.ts';
import { compileTemplates, type Personalisation } from '../../rules/personalisation.ts';
import { recipientFields } from '../../rules/columns.ts';
import { forecastCampaign, usualAssumptions, type CampaignForecast, type ForecastAssumptions } from './campaign-forecast.ts';
import { WordsCounter } from '../../rules/forecast/words-forecast.ts';
import type { ExclusionReason } from '../../rules/attempts/eligibility.ts';
import { CallableRows, type CallableCounts, type LedgerFindings } from './callable-rows.ts';
import type { ListRow } from '../../list/recipients.ts';
import {
  describeOpeningLines,
  lookAhead,
  speakableColumns,
  type OpeningLines,
  type RecordsShown,
  type WordsOutlook,
} from './words-outlook.ts';

export interface RejectionSummary {
  reason: RejectionReason;
  count: number;
  /** The first few, in file order. */
  examples: RejectionExample[];
}

type RejectedRow = Extract<ListRow, { verdict: 'rejected' }>;
type RejectionExample = Pick<RejectedRow, 'row' | 'line' | 'column' | 'hint'>;

export interface RenderedExample {
  row: number;
  e164: string;
  firstMessage: string | null;
  variables: Record<string, string> | null;
  /** Further settings of the call; left out when the campaign has none. */
  override?: JsonObject;
}

/** A row of the list, and why it would never be called although it is accepted. */
export interface CheckedRow {
  row: ListRow;
  excluded: ExclusionReason | null;
}

export interface PreflightReport extends CallableCounts {
  rejections: RejectionSummary[];
  examples: RenderedExample[];
  openingLines: OpeningLines;
}

export interface OutlookInput {
  assumptions?: ForecastAssumptions;
  /** Calls that all campaigns of the account may have open; null: no limit of its own. */
  accountLines?: number | null;
  records?: RecordsShown | null;
}

export interface Outlook {
  words: WordsOutlook;
  forecast: CampaignForecast | null;
}

const examplesPerReason = 3;
const renderedExamples = 3;

/** Gathers what `check` reports, chunk by chunk, in memory that does not grow with the rows but for some hashes each. */
export class Preflight {
  readonly #rules: CampaignRules;
  readonly #at: number;
  readonly #personalisation: Personalisation;
  readonly #callable: CallableRows;
  readonly #rejected = new Map<RejectionReason, RejectionExample[]>();
  readonly #examples: RenderedExample[] = [];
  readonly #words: WordsCounter;
  #accepted = 0;

  /** `at`: the instant to which the counts apply, epoch milliseconds. */
  constructor(rules: CampaignRules, at: number) {
    this.#rules = rules;
    this.#at = at;
    this.#personalisation = compileTemplates(rules);
    this.#callable = new CallableRows(rules, at);
    this.#words = new WordsCounter(speakableColumns(rules.list));
  }

  /** Answers the rows with what would become of each. `ledger`: what the database says about them; null when none was asked. */
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

  /** What the opening lines cost, and how the campaign would go; null when nobody can be called. */
  outlook({ assumptions = usualAssumptions, accountLines = null, records = null }: OutlookInput = {}): Outlook {
    const { openingLines, dialable } = this.report();
    const words = lookAhead(this.#rules, openingLines, { dialable, startsAt: this.#at }, assumptions, records);
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

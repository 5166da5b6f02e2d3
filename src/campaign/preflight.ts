import { createHash } from 'node:crypto';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { JsonObject } from '../domain/conversation-override.ts';
import type { ForecastGroup } from '../domain/forecast.ts';
import type { RejectionReason } from '../domain/outcome.ts';
import { compileTemplates, type Personalisation } from '../domain/personalisation.ts';
import { recipientFields } from '../domain/recipient-fields.ts';
import { FunnelCounter, type ExclusionReason, type Funnel, type LedgerFindings } from './funnel.ts';
import type { ListRow } from './recipients.ts';

export interface RejectionSummary {
  reason: RejectionReason;
  count: number;
  /** The first few, in file order. */
  examples: RejectionExample[];
}

interface RejectionExample {
  row: number;
  line: number;
  column: string | null;
  hint: string;
}

export interface RenderedExample {
  row: number;
  e164: string;
  firstMessage: string | null;
  variables: Record<string, string> | null;
  /** Further settings of the call; left out when the campaign has none. */
  override?: JsonObject;
}

export interface OpeningLines {
  /** Accepted rows whose opening line another accepted row has as well. */
  shared: number;
  /** `shared` as a part of the accepted rows, 0 to 1. */
  share: number;
  /** What to add to the campaign file; null when the lines tell all recipients apart. */
  advice: string | null;
}

/** A row of the list, and why it would never be called although it is accepted. */
export interface CheckedRow {
  row: ListRow;
  excluded: ExclusionReason | null;
}

export interface PreflightReport extends Funnel {
  rejections: RejectionSummary[];
  examples: RenderedExample[];
  openingLines: OpeningLines;
}

const examplesPerReason = 3;
const renderedExamples = 3;

/** Gathers what `check` reports, chunk by chunk, in memory that does not grow with the rows but for one hash each. */
export class Preflight {
  readonly #rules: CampaignRules;
  readonly #personalisation: Personalisation;
  readonly #funnel: FunnelCounter;
  readonly #rejected = new Map<RejectionReason, RejectionExample[]>();
  readonly #examples: RenderedExample[] = [];
  readonly #lines = new Map<number, 'once' | 'shared'>();
  #accepted = 0;
  #shared = 0;

  /** `at`: the instant to which the counts apply, epoch milliseconds. */
  constructor(rules: CampaignRules, at: number) {
    this.#rules = rules;
    this.#personalisation = compileTemplates(rules);
    this.#funnel = new FunnelCounter(rules, at);
  }

  /** Answers the rows with what would become of each. `ledger`: what the database says about them; null when none was asked. */
  add(rows: readonly ListRow[], ledger: LedgerFindings | null): CheckedRow[] {
    return rows.map((row) => {
      const excluded = this.#funnel.add(row, ledger);
      if (row.verdict === 'rejected') this.#addRejection(row);
      else {
        this.#accepted += 1;
        this.#addRendering(row);
      }
      return { row, excluded };
    });
  }

  report(): PreflightReport {
    const funnel = this.#funnel.counts();
    return {
      ...funnel,
      rejections: funnel.rejections.map(({ reason, count }) => ({
        reason,
        count,
        examples: this.#rejected.get(reason) ?? [],
      })),
      examples: this.#examples,
      openingLines: this.#describeOpeningLines(),
    };
  }

  /** Those who can be called, for the forecast. */
  groups(): ForecastGroup[] {
    return this.#funnel.groups();
  }

  #addRejection({ reason, row, line, column, hint }: Extract<ListRow, { verdict: 'rejected' }>): void {
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
    if (rendered.firstMessage === null) return;
    const hash = hashLine(rendered.firstMessage);
    const seen = this.#lines.get(hash);
    // The first of those that share a line is known to be one of them only when the second comes.
    if (seen !== undefined) this.#shared += seen === 'once' ? 2 : 1;
    this.#lines.set(hash, seen === undefined ? 'once' : 'shared');
  }

  #describeOpeningLines(): OpeningLines {
    if (this.#accepted <= 1) return { shared: 0, share: 0, advice: null };
    if (this.#rules.firstMessage === null) {
      const advice =
        'The file has no first_message, so every call opens with the same line. A service that names no callee in its records ' +
        'then cannot tell whose call was whose: add a first_message with columns that differ from row to row.';
      return { shared: this.#accepted, share: 1, advice };
    }
    if (this.#shared === 0) return { shared: 0, share: 0, advice: null };
    const advice =
      'Where the service names no callee in its records, calls with the same opening line cannot be told apart and end as ' +
      'unreached or unknown: add a column to first_message that differs from row to row, such as a name with a date or time.';
    return { shared: this.#shared, share: this.#shared / this.#accepted, advice };
  }
}

/** 48 bits: a chance meeting of two among a million lines has odds of one in five hundred, and costs one row in a count. */
function hashLine(line: string): number {
  return createHash('sha1').update(line).digest().readUIntBE(0, 6);
}

import { createHash } from 'node:crypto';
import { windowAt } from '../domain/calling-window.ts';
import type { CampaignRules } from '../domain/campaign-rules.ts';
import type { JsonObject } from '../domain/conversation-override.ts';
import { calendarsFor } from '../domain/legal-hours.ts';
import { rejectionReasons, type RejectionReason } from '../domain/outcome.ts';
import { compileTemplates, type Personalisation } from '../domain/personalisation.ts';
import { recipientFields } from '../domain/recipient-fields.ts';
import type { ListRow } from './recipients.ts';

export interface RejectionSummary {
  reason: RejectionReason;
  count: number;
  /** The first few, in file order. */
  examples: { row: number; line: number; column: string | null; hint: string }[];
}

export interface RenderedExample {
  row: number;
  e164: string;
  firstMessage: string | null;
  variables: Record<string, string> | null;
  /** Further settings of the call; left out when the campaign has none. */
  override?: JsonObject;
}

/** What a start at `at` would do. Every accepted row is in exactly one of the four counts. */
export interface DialForecast {
  at: number;
  open: number;
  outsideHours: number;
  /** When the first of those outside their hours may be called. */
  nextOpeningAt: number | null;
  /** Never dialled: hours apply, and no time zone is known. */
  unknownZone: number;
  /** Never dialled: no window opens in all zones of the number before the campaign ends. */
  neverOpens: number;
}

export interface OpeningLines {
  /** Accepted rows whose opening line another accepted row has as well. */
  shared: number;
  /** `shared` as a part of the accepted rows, 0 to 1. */
  share: number;
  /** What to add to the campaign file; null when the lines tell all recipients apart. */
  advice: string | null;
}

export interface PreflightReport {
  rows: number;
  accepted: number;
  rejected: number;
  rejections: RejectionSummary[];
  examples: RenderedExample[];
  forecast: DialForecast;
  openingLines: OpeningLines;
}

const examplesPerReason = 3;
const renderedExamples = 3;

/** Gathers what `check` reports, chunk by chunk, in memory that does not grow with the rows but for one hash each. */
export class Preflight {
  readonly #rules: CampaignRules;
  readonly #personalisation: Personalisation;
  readonly #rejections = new Map<RejectionReason, RejectionSummary>();
  readonly #examples: RenderedExample[] = [];
  readonly #forecast: DialForecast;
  readonly #windows = new Map<string, ReturnType<typeof windowAt>>();
  readonly #lines = new Map<number, 'once' | 'shared'>();
  #rows = 0;
  #accepted = 0;
  #shared = 0;

  /** `at`: the instant to which the forecast applies, epoch milliseconds. */
  constructor(rules: CampaignRules, at: number) {
    this.#rules = rules;
    this.#personalisation = compileTemplates(rules);
    this.#forecast = { at, open: 0, outsideHours: 0, nextOpeningAt: null, unknownZone: 0, neverOpens: 0 };
  }

  add(rows: readonly ListRow[]): void {
    for (const row of rows) {
      this.#rows += 1;
      if (row.verdict === 'rejected') {
        this.#addRejection(row);
        continue;
      }
      this.#accepted += 1;
      this.#addWindow(row);
      this.#addRendering(row);
    }
  }

  report(): PreflightReport {
    return {
      rows: this.#rows,
      accepted: this.#accepted,
      rejected: this.#rows - this.#accepted,
      rejections: rejectionReasons.flatMap((reason) => this.#rejections.get(reason) ?? []),
      examples: this.#examples,
      forecast: this.#forecast,
      openingLines: this.#describeOpeningLines(),
    };
  }

  #addRejection(row: Extract<ListRow, { verdict: 'rejected' }>): void {
    let summary = this.#rejections.get(row.reason);
    if (summary === undefined)
      this.#rejections.set(row.reason, (summary = { reason: row.reason, count: 0, examples: [] }));
    summary.count += 1;
    if (summary.examples.length >= examplesPerReason) return;
    summary.examples.push({ row: row.row, line: row.line, column: row.column, hint: row.hint });
  }

  #addWindow({ zones, country, regions }: Extract<ListRow, { verdict: 'accepted' }>): void {
    const forecast = this.#forecast;
    const key = `${zones.join('&')} ${country} ${regions?.join('&')}`;
    let window = this.#windows.get(key);
    if (window === undefined) {
      const { endsAt, timing } = this.#rules;
      const calendars = calendarsFor(this.#rules, { country, regions });
      window = windowAt({ calendars, zones, at: forecast.at, marginMs: timing.dispatchMarginMs, endsAt });
      this.#windows.set(key, window);
    }
    if (window.open) {
      forecast.open += 1;
      return;
    }
    switch (window.reason) {
      case 'outside_hours':
        forecast.outsideHours += 1;
        forecast.nextOpeningAt = Math.min(forecast.nextOpeningAt ?? Infinity, window.opensAt ?? Infinity);
        break;
      case 'unknown_zone':
        forecast.unknownZone += 1;
        break;
      case 'never_opens':
        forecast.neverOpens += 1;
        break;
    }
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

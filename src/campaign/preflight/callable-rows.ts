import { windowAt } from '../../rules/hours/calling-window.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { exclusionReasons, foresee, type ExclusionReason } from '../../rules/attempts/eligibility.ts';
import type { ForecastGroup } from '../../rules/forecast/forecast.ts';
import { consentSpan } from '../../rules/consent.ts';
import { calendarsFor, type RecipientPlace } from '../../rules/hours/legal-hours.ts';
import { rejectionReasons, type RejectionReason } from '../../rules/outcome.ts';
import { RowGroups } from '../../ledger/read/waiting.ts';
import type { Suppressed } from '../../ledger/rows/suppressions.ts';
import type { ListRow } from '../../list/recipients.ts';
import { personOf } from '../../rules/row-terms.ts';

/** Row counts from the whole list down to dialable rows; every row is in exactly one count. */
export interface CallableCounts {
  rows: number;
  rejected: number;
  rejections: { reason: RejectionReason; count: number }[];
  accepted: number;
  excluded: number;
  exclusions: { reason: ExclusionReason; count: number }[];
  dialable: number;
  /** Dialable rows by what prevents a call at `at`. */
  start: {
    at: number;
    open: number;
    outsideHours: number;
    notBefore: number;
    /** By frequency caps or by the attempt budget of the number. */
    capped: number;
    nextAt: number | null;
  };
  /** Earliest opening for a recipient whom only the campaign's end excludes; null: none. */
  opensAfterEnd: number | null;
}

export interface LedgerFindings {
  suppressed: ReadonlyMap<string, Suppressed>;
  /** When frequency caps, counted over all calls in the database, next allow a call. */
  capsAllowAt: (recipient: LedgerRecipient) => number;
  /** When the attempt budget of the number allows a call; null: never. */
  budgetAllowsAt: (recipient: LedgerRecipient) => number | null;
}

export interface LedgerRecipient {
  e164: string;
  person: string | null;
  place: RecipientPlace;
}

type AcceptedRow = Extract<ListRow, { verdict: 'accepted' }>;
interface History {
  suppressed: Suppressed | null;
  capsAllowAt: number;
  budgetAllowsAt: number | null;
}
type Waiting = 'open' | 'outsideHours' | 'notBefore' | 'capped';
type Judgement = { excluded: ExclusionReason; opensAt: number | null } | { waiting: Waiting; until: number };

/** Resolution of row and cap ends: each distinct value costs the forecast a group. */
const bucketMs = 15 * 60_000;
/** Cache bound; rows may each have an end of their own. */
const mostJudgements = 10_000;

/** Counts dialable rows by the known part of the dial transaction's rules, and groups them for the forecast. */
export class CallableRows {
  readonly #rules: CampaignRules;
  readonly #at: number;
  readonly #rejections = new Map<RejectionReason, number>();
  readonly #exclusions = new Map<ExclusionReason, number>();
  readonly #waiting: Record<Waiting, number> = { open: 0, outsideHours: 0, notBefore: 0, capped: 0 };
  readonly #judgements = new Map<string, Judgement>();
  readonly #groups: RowGroups;
  #rows = 0;
  #nextAt: number | null = null;
  #opensAfterEnd: number | null = null;

  constructor(rules: CampaignRules, at: number) {
    this.#rules = rules;
    this.#at = at;
    this.#groups = new RowGroups(rules);
  }

  /** Returns why an accepted row would never be called, else null. `ledger` null: no database queried. */
  add(row: ListRow, ledger: LedgerFindings | null): ExclusionReason | null {
    this.#rows += 1;
    if (row.verdict === 'rejected') {
      increase(this.#rejections, row.reason);
      return null;
    }
    const { e164, country, regions } = row;
    const recipient = { e164, person: personOf(row), place: { country, regions } };
    const capsAllowAt = Math.max(this.#at, ledger?.capsAllowAt(recipient) ?? 0);
    const budgetAllowsAt = ledger === null ? this.#at : ledger.budgetAllowsAt(recipient);
    const judgement = this.#judge(row, {
      suppressed: ledger?.suppressed.get(e164) ?? null,
      capsAllowAt,
      budgetAllowsAt,
    });
    if ('excluded' in judgement) {
      increase(this.#exclusions, judgement.excluded);
      const { opensAt } = judgement;
      if (opensAt !== null) this.#opensAfterEnd = Math.min(this.#opensAfterEnd ?? Infinity, opensAt);
      return judgement.excluded;
    }
    this.#waiting[judgement.waiting] += 1;
    if (judgement.waiting !== 'open') this.#nextAt = Math.min(this.#nextAt ?? Infinity, judgement.until);
    this.#addToGroup(row, Math.max(capsAllowAt, budgetAllowsAt ?? 0, row.notBefore ?? 0));
    return null;
  }

  counts(): CallableCounts {
    const rejected = sum(this.#rejections);
    const excluded = sum(this.#exclusions);
    const accepted = this.#rows - rejected;
    return {
      rows: this.#rows,
      rejected,
      rejections: inOrder(rejectionReasons, this.#rejections),
      accepted,
      excluded,
      exclusions: inOrder(exclusionReasons, this.#exclusions),
      dialable: accepted - excluded,
      start: { at: this.#at, ...this.#waiting, nextAt: this.#nextAt },
      opensAfterEnd: this.#opensAfterEnd,
    };
  }

  groups(): ForecastGroup[] {
    return this.#groups.all();
  }

  #judge(row: AcceptedRow, history: History): Judgement {
    const { zones, country, regions, notBefore, expiresAt, hours, consentedAt } = row;
    const isClean = history.suppressed === null && history.capsAllowAt <= this.#at && history.budgetAllowsAt === this.#at;
    const key = isClean ? `${zones.join('&')} ${country} ${regions?.join('&')} ${notBefore} ${expiresAt} ${hours} ${consentedAt}` : null;
    const known = key === null ? undefined : this.#judgements.get(key);
    if (known !== undefined) return known;
    const judgement = this.#judgeAnew(row, history);
    if (this.#judgements.size > mostJudgements) this.#judgements.clear();
    if (key !== null) this.#judgements.set(key, judgement);
    return judgement;
  }

  #judgeAnew(row: AcceptedRow, { suppressed, capsAllowAt, budgetAllowsAt }: History): Judgement {
    const { zones, country, regions, hours, notBefore, expiresAt = null } = row;
    // A row due after the end gets its outcome at the end.
    const from = Math.max(this.#at, notBefore ?? this.#at);
    const { keptBy, at, never } = foresee({
      at: from,
      endsAt: this.#rules.endsAt,
      rowEndsAt: expiresAt,
      calendars: calendarsFor(this.#rules, { country, regions, hours }),
      zones,
      marginMs: this.#rules.timing.dispatchMarginMs,
      suppressed: suppressed === 'suppressed',
      revoked: suppressed === 'consent_revoked',
      consent: consentSpan(this.#rules.consent, row.consentedAt),
      numberBusy: false,
      capsAllowAt,
      budgetAllowsAt,
      attempted: false,
    });
    if (never !== null) return { excluded: never, opensAt: isForWantOfTime(never) ? this.#opensWithoutEnd(row, at) : null };
    if (keptBy.some((reason) => reason !== 'outside_hours' && reason !== 'hours')) return { waiting: 'capped', until: at };
    if (from > this.#at) return { waiting: 'notBefore', until: at };
    return { waiting: keptBy.length === 0 ? 'open' : 'outsideHours', until: at };
  }

  /** When the row could be called if the campaign had no end; null: not in sight, or not before the row's own end. */
  #opensWithoutEnd({ zones, country, regions, hours, expiresAt = null }: AcceptedRow, at: number): number | null {
    const calendars = calendarsFor(this.#rules, { country, regions, hours });
    const { dispatchMarginMs: marginMs } = this.#rules.timing;
    const window = windowAt({ calendars, zones, at, marginMs, endsAt: expiresAt });
    return window.open ? at : window.opensAt;
  }

  #addToGroup({ zones, country, regions, hours, expiresAt = null }: AcceptedRow, firstAt: number): void {
    const notBefore = firstAt > this.#at ? Math.ceil(firstAt / bucketMs) * bucketMs : null;
    const end = expiresAt === null ? null : Math.floor(expiresAt / bucketMs) * bucketMs;
    this.#groups.add({ place: { country, regions }, zones, hours, notBefore, expiresAt: end });
  }
}

/** True when a later campaign end might be all that the row needs. */
export function isForWantOfTime(reason: ExclusionReason): boolean {
  return reason === 'campaign_end' || reason === 'no_open_window_before_end';
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sum(counts: ReadonlyMap<unknown, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function inOrder<Reason>(order: readonly Reason[], counts: ReadonlyMap<Reason, number>) {
  return order.flatMap((reason) => {
    const count = counts.get(reason) ?? 0;
    return count === 0 ? [] : [{ reason, count }];
  });
}

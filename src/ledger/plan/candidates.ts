import { openAttemptStates } from '../../rules/ledger.ts';
import type { CallerSorting } from '../../rules/caller-choice.ts';
import { evaluateEligibility, type EligibilityInput } from '../../rules/attempts/eligibility.ts';
import { consentSpan } from '../../rules/consent.ts';
import { calendarsFor } from '../../rules/hours/legal-hours.ts';
import { readBudgets, readCaps } from '../limits/placed-calls.ts';
import { findCampaign, type Campaign } from '../rows/campaigns.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { readDialBlocks, type DoubtAbout, type DialBlock } from '../doubt/dial-guard.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { groupBy } from '../../rules/collections.ts';
import { lastPlanAt } from '../limits/line-limits.ts';
import { readInParts } from '../parts.ts';
import type { Finish } from '../rows/recipients.ts';
import { laterTermsOf, personIn, placeOf } from '../rows/row-terms.ts';
import { dueRanks, dueRecipients } from '../limits/counters.ts';
import { findSuppressed } from '../rows/suppressions.ts';
import { openCallbacksTo } from '../rows/promises.ts';
import type { CallbackRow, RecipientRow } from '../schema.ts';

export async function selectDue(
  tx: Tx,
  campaign: Pick<Campaign, 'campaignId' | 'rules' | 'pilot'>,
  options: { now: number; limit: number; wordsKept: boolean },
): Promise<RecipientRow[]> {
  const rows: RecipientRow[] = [];
  for (const rank of await dueRanks(tx, campaign, options.now)) {
    if (rows.length >= options.limit) break;
    const due = dueRecipients(tx, campaign, { ...options, ranks: [rank], limit: options.limit - rows.length });
    rows.push(...(await due.selectAll().orderBy('due_at').orderBy('row_number').execute()));
  }
  return rows;
}

async function findBusyNumbers(tx: Tx, numbers: readonly string[]): Promise<Set<string>> {
  if (numbers.length === 0) return new Set();
  const query = tx.selectFrom('attempts').select('e164').where('e164', 'in', numbers);
  const rows = await query.where('state', 'in', openAttemptStates).execute();
  return new Set(rows.map((row) => row.e164));
}

/** Recheck interval for recipients that a higher-priority campaign wants (service time). */
const wantedRecheckMs = 5 * 60_000;
/** A campaign that planned nothing for this long reserves no recipients (service time). */
const idleMs = 3_600_000;

/**
 * Numbers due in a campaign of the account with a higher `pacing.priority`; only one that dials, since a stuck one must not block others.
 */
async function findWantedElsewhere(tx: Tx, campaign: Campaign, numbers: readonly string[], now: number): Promise<Set<string>> {
  const { campaignId, accountId, rules } = campaign;
  const rows = await readInParts(numbers, (part) =>
    tx
      .selectFrom('recipients')
      .innerJoin('campaigns', 'campaigns.campaign_id', 'recipients.campaign_id')
      .select(['recipients.e164', 'recipients.campaign_id', 'recipients.sample'])
      .where('recipients.e164', 'in', part)
      .where('recipients.campaign_id', '!=', campaignId)
      .where('recipients.state', '=', 'waiting')
      .where('recipients.due_at', '<=', now)
      .where('campaigns.state', '=', 'running')
      .where('campaigns.account_id', '=', accountId)
      .execute(),
  );
  const wanted = new Set<string>();
  for (const [otherId, waiting] of groupBy(rows, (row) => row.campaign_id)) {
    const other = await findCampaign(tx, otherId);
    if (other === undefined || other.rules.pacing.priority <= rules.pacing.priority || other.goal === 'reached') continue;
    if (Math.max(await lastPlanAt(tx, other), other.dialsSince) < now - idleMs) continue;
    const { pilot } = other;
    for (const { e164, sample } of waiting)
      if (e164 !== null && (pilot === null || pilot.state === 'passed' || pilot.sample === sample)) wanted.add(e164);
  }
  return wanted;
}

export interface DialFacts {
  question: EligibilityInput;
  dialBlock: DialBlock | undefined;
}

/** `areBegun`: the calls are under way, so caps and budgets are skipped. */
export async function readQuestions(
  db: Queries,
  campaign: Campaign,
  { recipients, now, areBegun = false }: { recipients: readonly RecipientRow[]; now: number; areBegun?: boolean },
): Promise<(row: RecipientRow, numberBusy: boolean) => EligibilityInput> {
  const { campaignId, rules } = campaign;
  const suppressed = await findSuppressed(db, { campaignId, purpose: rules.purpose, now }, numbersOf(recipients));
  const callbacks = new Map((await openCallbacksTo(db, numbersOf(recipients))).map((callback) => [callback.e164, callback]));
  const cappedOf = (row: RecipientRow) => ({ e164: row.e164 ?? '', person: personIn(row), place: placeOf(row) });
  const budgetedOf = (row: RecipientRow) => {
    const { recipient_id: recipientId, counted, budget_from: budgetFrom } = row;
    return { recipientId, e164: row.e164 ?? '', counted, budgetFrom };
  };
  const capsAllowAt = areBegun ? () => now : await readCaps(db, rules, { callees: recipients.map(cappedOf), now });
  const budgetAllowsAt = areBegun ? () => now : await readBudgets(db, rules.retry, { recipients: recipients.map(budgetedOf), now });
  return (row, numberBusy) => ({
    at: now,
    endsAt: rules.endsAt,
    rowEndsAt: row.expires_at,
    rowStartsAt: row.not_before,
    calendars: calendarsFor(rules, { ...placeOf(row), hours: laterTermsOf(row).hours }),
    zones: JSON.parse(row.zones) as string[],
    marginMs: rules.timing.dispatchMarginMs,
    takenOut: row.taken_out_at !== null,
    suppressed: suppressed.get(row.e164 ?? '') === 'suppressed',
    revoked: suppressed.get(row.e164 ?? '') === 'consent_revoked',
    consent: consentSpan(rules.consent, laterTermsOf(row).consentedAt),
    numberBusy,
    promise: callbackTo(row, callbacks.get(row.e164 ?? '')),
    capsAllowAt: capsAllowAt(cappedOf(row)),
    budgetAllowsAt: budgetAllowsAt(budgetedOf(row)),
    attempted: row.called === 1,
  });
}

/** Callback to the row's number: its own, or another row's. */
function callbackTo(row: RecipientRow, open: CallbackRow | undefined): NonNullable<EligibilityInput['promise']> | null {
  const isOwn = open !== undefined && open.promise_id === row.promise_id;
  if (row.promise_id !== null && !isOwn) return 'called_off';
  return open === undefined || open.due_at === null || open.until === null ? null : { isOwn, dueAt: open.due_at, until: open.until };
}

/** For planner and dial transaction. `planned`: attempts per recipient that the caller has planned. */
export async function readDialFacts(
  tx: Tx,
  campaign: Campaign,
  { recipients, planned, now }: { recipients: readonly RecipientRow[]; planned: 0 | 1; now: number },
): Promise<(row: RecipientRow, numberBusy: boolean) => DialFacts> {
  const questionOf = await readQuestions(tx, campaign, { recipients, now });
  const callees = recipients.map((row) => {
    return { recipientId: row.recipient_id, e164: row.e164 ?? '', attempted: row.attempts > planned };
  });
  const dialBlocks = await readDialBlocks(tx, campaign, { callees, now });
  return (row, numberBusy) => ({
    question: questionOf(row, numberBusy),
    dialBlock: dialBlocks.get(row.recipient_id),
  });
}

function numbersOf(recipients: readonly RecipientRow[]): string[] {
  return recipients.flatMap(({ e164 }) => (e164 === null ? [] : [e164]));
}

export interface Sorting {
  dial: RecipientRow[];
  finishes: Finish[];
  doubtful: Map<string, DoubtAbout>;
  /** Grouped by reason and instant. */
  deferrals: Map<string, Deferral>;
  /** Why due callbacks are held, by callback id. */
  heldPromises: Map<string, string>;
}

interface Deferral {
  until: number;
  reason: string;
  ids: string[];
}

interface SortInput {
  candidates: readonly RecipientRow[];
  slots: number;
  now: number;
  wordsKept: boolean;
  /** Set: rows assigned to another number than the batch's stay queued. */
  callers: CallerSorting | null;
}

export async function sortCandidates(tx: Tx, campaign: Campaign, input: SortInput): Promise<Sorting> {
  const { candidates, slots, now, wordsKept, callers } = input;
  const busy = await findBusyNumbers(tx, numbersOf(candidates));
  const wanted = await findWantedElsewhere(tx, campaign, numbersOf(candidates), now);
  const dialFactsOf = await readDialFacts(tx, campaign, { recipients: candidates, planned: 0, now });
  const sorting: Sorting = { dial: [], finishes: [], doubtful: new Map(), deferrals: new Map(), heldPromises: new Map() };
  const words = new Set<string>();
  for (const row of candidates) {
    if (sorting.dial.length >= slots) break;
    if (wordsKept && row.words_key !== null && words.has(row.words_key)) continue;
    const { question, dialBlock } = dialFactsOf(row, row.e164 !== null && busy.has(row.e164));
    const verdict = evaluateEligibility(question);
    // The callback may expire while it waits.
    const soonest = typeof question.promise === 'object' && question.promise?.isOwn === true ? question.promise.until : Infinity;
    const wait = (until: number, reason: string): void => {
      if (row.promise_id !== null) sorting.heldPromises.set(row.promise_id, reason);
      defer(sorting, row, { until: Math.max(Math.min(until, soonest), now + 1), reason });
    };
    if (verdict.verdict === 'dial' && dialBlock?.kind === 'doubt') sorting.doubtful.set(row.recipient_id, dialBlock);
    else if (verdict.verdict === 'dial' && dialBlock?.kind === 'wait') wait(dialBlock.until, 'evidence');
    else if (verdict.verdict === 'dial' && row.promise_id === null && wanted.has(row.e164 ?? '')) {
      wait(now + wantedRecheckMs, 'higher_priority');
    } else if (verdict.verdict === 'dial') {
      const callerRequest = { caller: row.caller, ...placeOf(row), isPromised: row.promise_id !== null };
      const ownIsFullUntil = callers?.waitsUntil(callerRequest) ?? null;
      if (ownIsFullUntil !== null) {
        wait(ownIsFullUntil, 'caller_limit');
        continue;
      }
      if (callers !== null && !callers.takes(callerRequest)) continue;
      sorting.dial.push(row);
      if (row.e164 !== null) busy.add(row.e164);
      if (row.words_key !== null) words.add(row.words_key);
    } else if (verdict.verdict === 'final') {
      sorting.finishes.push({ recipientId: row.recipient_id, outcome: verdict.outcome, reason: verdict.reason });
    } else {
      wait(verdict.until, verdict.reason);
    }
  }
  return sorting;
}

function defer({ deferrals }: Sorting, row: RecipientRow, { until, reason }: Omit<Deferral, 'ids'>): void {
  const key = `${until} ${reason}`;
  const deferral = deferrals.get(key) ?? { until, reason, ids: [] };
  deferral.ids.push(row.recipient_id);
  deferrals.set(key, deferral);
}

export async function deferRecipients(tx: Tx, { campaignId, now }: At, deferrals: Iterable<Deferral>): Promise<void> {
  const events: NewEvent[] = [];
  for (const { until, reason, ids } of deferrals) {
    await tx.updateTable('recipients').set({ due_at: until }).where('recipient_id', 'in', ids).execute();
    const data = { until, reason, count: ids.length };
    events.push({ at: now, campaignId, type: 'recipient.deferred', data });
  }
  await appendEvents(tx, events);
}

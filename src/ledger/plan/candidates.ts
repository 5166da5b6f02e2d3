import type { Selectable } from 'kysely';
import { openAttemptStates } from '../../domain/ledger.ts';
import type { CallerSorting } from '../../domain/caller-choice.ts';
import { judgeEligibility } from '../../domain/attempts/eligibility.ts';
import { calendarsFor, type RecipientPlace } from '../../domain/hours/legal-hours.ts';
import { readBudgets, type Budgeted } from '../limits/attempt-budgets.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { appendEvents } from '../events.ts';
import { readHindrances, type Callee as GuardedCallee, type Hindrance } from '../doubt/dial-guard.ts';
import type { Queries } from '../open-ledger.ts';
import { readCaps, type Callee } from '../limits/placed-calls.ts';
import type { Finish } from '../rows/recipients.ts';
import { hasFreeWords } from '../doubt/shared-words.ts';
import type { Database } from '../schema.ts';
import { findSuppressed } from '../rows/suppressions.ts';

type RecipientRow = Selectable<Database['recipients']>;
type CampaignKey = Pick<Campaign, 'campaignId' | 'rules'>;

/** Retries first, then file order; only those that are due. */
export async function selectDue(
  tx: Queries,
  { campaignId, rules }: CampaignKey,
  now: number,
  limit: number,
  wordsKept: boolean,
): Promise<RecipientRow[]> {
  const rows: RecipientRow[] = [];
  for (const tier of [0, 1]) {
    if (rows.length >= limit) break;
    const more = await tx
      .selectFrom('recipients')
      .selectAll()
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'waiting')
      .where('tier', '=', tier)
      .where('due_at', '<=', now)
      .$if(wordsKept, (query) => query.where(hasFreeWords(rules.agentId)))
      .orderBy('due_at')
      .orderBy('row_number')
      .limit(limit - rows.length)
      .execute();
    rows.push(...more);
  }
  return rows;
}

async function findBusyNumbers(tx: Queries, numbers: readonly string[]): Promise<Set<string>> {
  if (numbers.length === 0) return new Set();
  const rows = await tx
    .selectFrom('attempts')
    .select('e164')
    .where('e164', 'in', numbers)
    .where('state', 'in', openAttemptStates)
    .execute();
  return new Set(rows.map((row) => row.e164));
}

/** Where a recipient may be, as far as law is concerned. */
export function placeOf({ country, regions }: Pick<RecipientRow, 'country' | 'regions'>): RecipientPlace {
  return { country, regions: regions === null ? null : (JSON.parse(regions) as string[]) };
}

function calleeOf(row: RecipientRow): Callee {
  return { e164: row.e164 ?? '', person: row.external_id, place: placeOf(row) };
}

/** As `readBudgets` wants it. */
export function budgetedOf(row: RecipientRow): Budgeted {
  const { recipient_id: recipientId, counted, budget_from: budgetFrom } = row;
  return { recipientId, e164: row.e164 ?? '', counted, budgetFrom };
}

export interface Sorting {
  dial: RecipientRow[];
  finishes: Finish[];
  /** Those whose earlier call leaves open what became of it, by recipient. */
  doubtful: Map<string, Extract<Hindrance, { kind: 'doubt' }>>;
  /** Those that wait for the same thing until the same instant, together. */
  deferrals: Map<string, Deferral>;
}

interface Deferral {
  until: number;
  reason: string;
  ids: string[];
}

/** Applies every rule to the candidates, in order, until the batch is full. With `callers`, those who get another number stay in line. */
export async function sortCandidates(
  tx: Queries,
  campaign: Campaign,
  candidates: RecipientRow[],
  slots: number,
  input: { now: number; wordsKept: boolean },
  callers: CallerSorting | null = null,
): Promise<Sorting> {
  const { campaignId, rules } = campaign;
  const numbers = candidates.flatMap((row) => (row.e164 === null ? [] : [row.e164]));
  const suppressed = await findSuppressed(tx, campaignId, numbers, input.now);
  const busy = await findBusyNumbers(tx, numbers);
  const callees = candidates.map((row) => ({ row, callee: calleeOf(row) }));
  const capsAllowAt = await readCaps(
    tx,
    rules,
    callees.map(({ callee }) => callee),
    input.now,
  );
  const budgetAllowsAt = await readBudgets(tx, rules.retry, candidates.map(budgetedOf), input.now);
  const hindrances = await readHindrances(tx, campaign, candidates.map(toGuarded), input.now);
  const sorting: Sorting = { dial: [], finishes: [], doubtful: new Map(), deferrals: new Map() };
  const words = new Set<string>();
  for (const { row, callee } of callees) {
    if (sorting.dial.length >= slots) break;
    if (input.wordsKept && row.words_key !== null && words.has(row.words_key)) continue;
    const verdict = judgeEligibility({
      at: input.now,
      endsAt: rules.endsAt,
      rowEndsAt: row.expires_at,
      rowStartsAt: row.not_before,
      calendars: calendarsFor(rules, callee.place),
      zones: JSON.parse(row.zones) as string[],
      marginMs: rules.timing.dispatchMarginMs,
      suppressed: row.e164 !== null && suppressed.has(row.e164),
      numberBusy: row.e164 !== null && busy.has(row.e164),
      capsAllowAt: capsAllowAt(callee),
      budgetAllowsAt: budgetAllowsAt(budgetedOf(row)),
      attempted: row.tier === 0,
    });
    const hindrance = hindrances.get(row.recipient_id);
    if (verdict.verdict === 'dial' && hindrance?.kind === 'doubt') sorting.doubtful.set(row.recipient_id, hindrance);
    else if (verdict.verdict === 'dial' && hindrance?.kind === 'wait')
      defer(sorting, row, Math.max(hindrance.until, input.now + 1), 'evidence');
    else if (verdict.verdict === 'dial') {
      if (callers !== null && !callers.takes({ caller: row.caller, ...callee.place })) continue;
      sorting.dial.push(row);
      if (row.e164 !== null) busy.add(row.e164);
      if (row.words_key !== null) words.add(row.words_key);
    } else if (verdict.verdict === 'final') {
      sorting.finishes.push({ recipientId: row.recipient_id, outcome: verdict.outcome, reason: verdict.reason });
    } else {
      defer(sorting, row, Math.max(verdict.until, input.now + 1), verdict.reason);
    }
  }
  return sorting;
}

function defer({ deferrals }: Sorting, row: RecipientRow, until: number, reason: string): void {
  const key = `${until} ${reason}`;
  const deferral = deferrals.get(key) ?? { until, reason, ids: [] };
  deferral.ids.push(row.recipient_id);
  deferrals.set(key, deferral);
}

/** As the look at earlier calls wants it. */
export function toGuarded(row: RecipientRow): GuardedCallee {
  return { recipientId: row.recipient_id, e164: row.e164 ?? '', attempted: row.attempts > 0 };
}

export async function deferRecipients(
  tx: Queries,
  input: { campaignId: string; now: number },
  deferrals: Sorting['deferrals'],
): Promise<void> {
  for (const { until, ids } of deferrals.values()) {
    await tx.updateTable('recipients').set({ due_at: until }).where('recipient_id', 'in', ids).execute();
  }
  await appendEvents(
    tx,
    [...deferrals.values()].map(({ until, reason, ids }) => ({
      at: input.now,
      campaignId: input.campaignId,
      type: 'recipient.deferred' as const,
      data: { until, reason, count: ids.length },
    })),
  );
}

import type { Selectable } from 'kysely';
import { judgeByBothClocks } from '../../domain/attempts/eligibility.ts';
import { calendarsFor, type RecipientPlace } from '../../domain/hours/legal-hours.ts';
import { readBudgets } from '../limits/attempt-budgets.ts';
import { budgetedOf, placeOf } from '../plan/candidates.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { leaveInDoubt, readHindrances, type Hindrance } from '../doubt/dial-guard.ts';
import type { Queries } from '../open-ledger.ts';
import { readCaps } from '../limits/placed-calls.ts';
import type { PostingInput } from './posting-step.ts';
import { releaseAttempts, type Release } from '../rows/release.ts';
import type { Database } from '../schema.ts';
import { screeningRelease } from './screening.ts';
import { findSuppressed } from '../rows/suppressions.ts';

type AttemptRow = Selectable<Database['attempts']>;

/** What the log has to tell of a call for the judge to know when it might be placed. */
type CallTerms = RecipientPlace & { zones: string[]; notBefore: number | null; expiresAt: number | null };

/** Who of a batch is called, and who is not any more. */
export interface Sorted {
  dial: { attempt: AttemptRow; cells: string; terms: CallTerms }[];
  releases: Release[];
  /** Those whose earlier call leaves open what became of it, by recipient. */
  doubtful: Map<string, Extract<Hindrance, { kind: 'doubt' }>>;
}

/** Asks of everybody in a batch once more whether they may be called now. */
export async function sortAttempts(tx: Queries, campaign: Campaign, input: PostingInput): Promise<Sorted> {
  const { rules } = campaign;
  const { batchId, now } = input;
  const attempts = await tx
    .selectFrom('attempts')
    .selectAll()
    .where('batch_id', '=', batchId)
    .where('state', 'in', ['planned', 'posting'])
    .orderBy('position')
    .execute();
  if (attempts.length === 0) return { dial: [], releases: [], doubtful: new Map() };
  const ids = attempts.map((attempt) => attempt.recipient_id);
  const numbers = attempts.map((attempt) => attempt.e164);
  const recipients = await tx.selectFrom('recipients').selectAll().where('recipient_id', 'in', ids).execute();
  const byId = new Map(recipients.map((row) => [row.recipient_id, row]));
  const reached = await tx
    .selectFrom('attempts')
    .select(['recipient_id', 'disposition'])
    .where('recipient_id', 'in', ids)
    .where('disposition', 'in', ['answered', 'opted_out'])
    .execute();
  const reachedAs = new Map(reached.map((row) => [row.recipient_id, row.disposition]));
  const suppressed = await findSuppressed(tx, campaign.campaignId, numbers, now);
  const callees = attempts.flatMap(({ recipient_id: id, e164, person }) => {
    const recipient = byId.get(id);
    return recipient === undefined ? [] : [{ e164, person, place: placeOf(recipient) }];
  });
  const capsAllowAt = await readCaps(tx, rules, callees, now);
  const budgetAllowsAt = await readBudgets(tx, rules.retry, recipients.map(budgetedOf), now);
  const guarded = recipients.map(({ recipient_id: recipientId, e164, attempts: planned }) => ({
    recipientId,
    e164: e164 ?? '',
    attempted: planned > 1,
  }));
  const hindrances = await readHindrances(tx, campaign, guarded, now);
  const sorted: Sorted = { dial: [], releases: [], doubtful: new Map() };
  for (const attempt of attempts) {
    const recipient = byId.get(attempt.recipient_id);
    if (recipient === undefined) continue;
    const release = (reason: string, next: Release['next']) =>
      sorted.releases.push({ attemptId: attempt.attempt_id, recipientId: attempt.recipient_id, reason, next });
    const earlier = reachedAs.get(attempt.recipient_id);
    if (earlier != null) {
      const outcome = earlier === 'opted_out' ? 'opted_out' : 'completed';
      release('already_reached', { kind: 'finish', outcome, reason: 'reached_by_earlier_attempt' });
      continue;
    }
    const zones = JSON.parse(recipient.zones) as string[];
    const place = placeOf(recipient);
    const terms = { ...place, zones, notBefore: recipient.not_before, expiresAt: recipient.expires_at };
    const verdict = judgeByBothClocks(input.serviceNow ?? now, {
      at: now,
      endsAt: rules.endsAt,
      rowEndsAt: recipient.expires_at,
      rowStartsAt: recipient.not_before,
      calendars: calendarsFor(rules, place),
      zones,
      marginMs: rules.timing.dispatchMarginMs,
      suppressed: suppressed.has(attempt.e164),
      // The unique index of open attempts has this one as the number's only one.
      numberBusy: false,
      capsAllowAt: capsAllowAt({ ...attempt, place }),
      budgetAllowsAt: budgetAllowsAt(budgetedOf(recipient)),
      attempted: recipient.tier === 0,
    });
    const screening = screeningRelease(rules, attempt, now);
    const hindrance = hindrances.get(attempt.recipient_id);
    if (verdict.verdict === 'dial' && hindrance !== undefined) {
      const dueAt = hindrance.kind === 'wait' ? hindrance.until : now;
      release('evidence', { kind: 'requeue', dueAt });
      if (hindrance.kind === 'doubt') sorted.doubtful.set(attempt.recipient_id, hindrance);
    } else if (verdict.verdict === 'dial' && screening !== null) release(screening.reason, screening.next);
    else if (verdict.verdict === 'dial') sorted.dial.push({ attempt, cells: recipient.cells, terms });
    else if (verdict.verdict === 'final')
      release(verdict.reason, { kind: 'finish', outcome: verdict.outcome, reason: verdict.reason });
    else release(verdict.reason, { kind: 'requeue', dueAt: verdict.until });
  }
  return sorted;
}

/** Gives back who is not called after all. */
export async function giveBack(
  tx: Queries,
  { campaign_id: campaignId, batch_id: batchId }: Selectable<Database['batches']>,
  { releases, doubtful }: Sorted,
  now: number,
): Promise<void> {
  await releaseAttempts(tx, campaignId, batchId, releases, now);
  for (const [recipientId, doubt] of doubtful) await leaveInDoubt(tx, campaignId, recipientId, doubt, now);
}

import { unansweredAttemptStates } from '../../rules/ledger.ts';
import { goalReached } from '../../rules/lifecycle.ts';
import { evaluateByBothClocks } from '../../rules/attempts/eligibility.ts';
import { minRecheckMs } from '../../rules/caller-choice.ts';
import type { RowTerms } from '../../rules/row-terms.ts';
import { readDialFacts } from '../plan/candidates.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { leaveInDoubt, type DoubtAbout } from '../doubt/dial-guard.ts';
import { attemptsOf } from '../reads.ts';
import type { At, Tx } from '../tx.ts';
import { termsOf } from '../rows/row-terms.ts';
import { findTalks, reachedEarlier, releaseAttempts, type Release } from '../rows/release.ts';
import { readCallerCapacities } from '../limits/caller-room.ts';
import { screeningRelease } from './screening.ts';
import type { AttemptRow, RecipientRow } from '../schema.ts';

export interface Sorted {
  dial: { attempt: AttemptRow; cells: string; terms: RowTerms }[];
  releases: Release[];
  /** By recipient: an earlier call with an open outcome. */
  doubtful: Map<string, DoubtAbout>;
}

export async function sortAttempts(
  tx: Tx,
  campaign: Campaign,
  input: { batchId: string; caller: string; now: number; serviceNow?: number | null },
): Promise<Sorted> {
  const { rules } = campaign;
  const { batchId, caller, now } = input;
  const attempts = await attemptsOf(tx, batchId, unansweredAttemptStates);
  if (attempts.length === 0) return { dial: [], releases: [], doubtful: new Map() };
  const ids = attempts.map((attempt) => attempt.recipient_id);
  const recipients = await tx.selectFrom('recipients').selectAll().where('recipient_id', 'in', ids).execute();
  const byId = new Map(recipients.map((row) => [row.recipient_id, row]));
  const reachedAs = await findTalks(tx, ids);
  const dialFactsOf = await readDialFacts(tx, campaign, { recipients, planned: 1, now });
  const capacities = await readCallerCapacities(tx, { numbers: [caller], limits: rules.callers.limits, now });
  const { room: capacity = Infinity, freeAt = now } = capacities.get(caller) ?? {};
  // The planner sets the wait: a longer one would cost their share of a shared caller number.
  const fullAt = Math.min(freeAt, now + minRecheckMs);
  const sorted: Sorted = { dial: [], releases: [], doubtful: new Map() };
  for (const attempt of attempts) {
    const { attempt_id: attemptId, recipient_id: recipientId } = attempt;
    const recipient = byId.get(recipientId);
    if (recipient === undefined) continue;
    const release = (reason: string, next: Release['next']) => sorted.releases.push({ attemptId, recipientId, reason, next });
    const earlier = reachedAs.get(recipientId);
    if (earlier != null) {
      release('already_reached', { kind: 'finish', outcome: earlier, reason: reachedEarlier });
      continue;
    }
    if (campaign.goal === 'reached' && recipient.promise_id === null) {
      release(goalReached, { kind: 'finish', outcome: 'cancelled', reason: goalReached });
      continue;
    }
    if (!isInPilot(campaign, recipient)) {
      release('pilot', { kind: 'requeue', dueAt: now });
      continue;
    }
    // The unique index of open attempts makes this the number's only one.
    const { question, dialBlock } = dialFactsOf(recipient, false);
    const verdict = evaluateByBothClocks(input.serviceNow ?? now, question);
    const screening = screeningRelease(rules, attempt, now);
    if (verdict.verdict === 'dial' && dialBlock !== undefined) {
      const dueAt = dialBlock.kind === 'wait' ? dialBlock.until : now;
      release('evidence', { kind: 'requeue', dueAt });
      if (dialBlock.kind === 'doubt') sorted.doubtful.set(recipientId, dialBlock);
    } else if (verdict.verdict === 'dial' && screening !== null) release(screening.reason, screening.next);
    else if (verdict.verdict === 'dial' && sorted.dial.length >= capacity) release('caller_limit', { kind: 'requeue', dueAt: fullAt });
    else if (verdict.verdict === 'dial') sorted.dial.push({ attempt, cells: recipient.cells, terms: termsOf(recipient) });
    else if (verdict.verdict === 'final') release(verdict.reason, { kind: 'finish', outcome: verdict.outcome, reason: verdict.reason });
    else release(verdict.reason, { kind: 'requeue', dueAt: verdict.until });
  }
  return sorted;
}

/** As `inSample`: until the pilot is decided only its sample is called, and twice only for a callback. */
function isInPilot({ pilot }: Campaign, { sample, called, promise_id: callbackId }: RecipientRow): boolean {
  if (pilot === null || pilot.state === 'passed') return true;
  return pilot.state === 'calling' && (called === 1 ? callbackId !== null : sample === pilot.sample);
}

export async function giveBack(tx: Tx, at: At & { batchId: string }, { releases, doubtful }: Sorted): Promise<void> {
  await releaseAttempts(tx, at, releases);
  await leaveInDoubt(tx, at, doubtful);
}

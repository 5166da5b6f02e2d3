import { setTimeout as sleep } from 'node:timers/promises';
import { findDeniedBatch } from '../src/ledger/dial/denied-calls.ts';
import { readRulesOf } from '../src/ledger/doubt/correlation-rows.ts';
import type { CallRequest, Placing } from '../src/service/port/call-service.ts';
import { NotSentError } from '../src/service/port/errors.ts';
import type { ServiceClock } from '../src/service/port/service-clock.ts';
import { withOpeningLine } from '../src/rules/conversation-override.ts';
import { batchNumberOf, requestTitle } from '../src/rules/ids.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import { undecidedStates, type BatchState } from '../src/rules/ledger.ts';
import type { ClockDoubt } from '../src/ledger/dial/clocks.ts';
import { longestSubmitMs, openPosting, type PostingStep } from '../src/ledger/dial/posting.ts';
import { type VerdictInput, recordVerdict } from '../src/ledger/dial/verdicts.ts';
import { renderWith } from './campaign-templates.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf, expectedWait } from './failures.ts';
import { requireOwnBatch } from './own-service.ts';
import { lookUpDenied } from './look-up.ts';
import { plan, type PlanActivityInput, type PlanActivityResult } from './plan.ts';
import { screen } from './screen.ts';
import { sweepAgent } from './sweep.ts';
import { readServiceTime } from './watch-clocks.ts';
import type { RequestNotes } from './request-notes.ts';

export interface SubmitInput {
  batchId: string;
  /** What to plan after the verdict; the batch it yields is sent as well, and so on for a few seconds. */
  thenPlan?: PlanActivityInput;
}

export type SubmitResult =
  /** `batchId`: the last batch. `planned`: absent when the planner was not asked or failed, and has to be asked again. */
  | { kind: 'verdict'; batchId: string; state: BatchState; planned?: PlanActivityResult }
  /** The database did not take the verdict, so the workflow carries it: ids and codes only. */
  | { kind: 'unrecorded'; verdict: VerdictInput };

type PostStep = Extract<PostingStep, { kind: 'post' }>;

interface Submitting {
  deps: ActivityDependencies;
  clock: ServiceClock;
  requestNotes: RequestNotes;
  batchId: string;
}

const recordTries = 3;

const clockDoubts: Readonly<Record<ClockDoubt, string>> = {
  clock_unread: "A connection failed, and the service's clock could not be read since",
  clocks_apart: "The service's clock and this machine's are too far apart",
};

/** Calls carry their ledger reference even if the campaign file sends none. */
function requestOf({ deps, batchId }: Submitting, step: PostStep): CallRequest {
  const { rules } = step.campaign;
  const { variables } = rules;
  const render = renderWith(rules);
  return {
    mark: step.entry,
    title: requestTitle(deps.store.ledgerId, batchId),
    agentId: rules.agentId,
    callerId: step.caller,
    variablesKey: variables?.key ?? null,
    concurrency: step.calls.length,
    calls: step.calls.map((call) => {
      const rendered = variables === null && rules.override === undefined ? null : render(call.cells);
      const reference = variables?.reference == null || call.reference === null ? {} : { [variables.reference]: call.reference };
      return {
        ref: call.reference ?? `${deps.store.ledgerId}:${call.attemptId}`,
        to: call.e164,
        override: withOpeningLine(rendered?.override ?? null, call.openingLine),
        variables: variables === null ? null : { ...rendered?.variables, ...reference },
      };
    }),
  };
}

function verdictOf(placing: Placing, clock: ServiceClock): Omit<VerdictInput, 'batchId' | 'k'> {
  const now = serviceNow(clock);
  if (placing.kind === 'accepted') {
    const { serviceBatchId, accepted, serviceMs: serviceDate } = placing;
    const counted = accepted === null ? {} : { callsInitiated: accepted };
    return { verdict: 'confirmed', now, status: 200, serviceDate, serviceBatchId, ...counted };
  }
  const { status, requestId: serviceRequestId, serviceMs: serviceDate } = placing;
  const facts = { now, status, serviceRequestId, serviceDate };
  if (placing.kind === 'refused') {
    const { message, wholeRequest } = placing;
    return { ...facts, verdict: 'refused', message, wholeRequest };
  }
  if (placing.kind === 'unknown') return { ...facts, verdict: 'unknown' };
  const { retryAfterMs } = placing;
  const notBefore = retryAfterMs === null ? null : Math.ceil(clock.now() + retryAfterMs);
  return { ...facts, verdict: 'not_sent', notBefore };
}

async function post(submitting: Submitting, step: PostStep, deadlineMonotonic: number): Promise<VerdictInput> {
  const { deps, clock, batchId } = submitting;
  const base = { batchId, k: step.k };
  const warn = (verdict: VerdictInput, error: string): VerdictInput => {
    const facts = { ...base, verdict: verdict.verdict, status: verdict.status ?? null, error };
    deps.logger.warn(facts, 'a batch was not accepted as sent');
    return verdict;
  };
  try {
    const placing = await deps.service.place(requestOf(submitting, step), {
      requestId: `${batchId}/${step.k}`,
      mayBegin: () => deps.nowReal() < step.deadlineReal && deps.monotonicMs() < deadlineMonotonic,
    });
    const verdict = { ...base, ...verdictOf(placing, clock) };
    return placing.kind === 'accepted' ? verdict : warn(verdict, placing.fault);
  } catch (error) {
    // A program defect: what was sent is unknown.
    const fault = codeOf(error);
    return warn({ ...base, verdict: 'unknown', now: serviceNow(clock), message: fault }, fault);
  }
}

async function record(deps: ActivityDependencies, verdict: VerdictInput): Promise<SubmitResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { kind: 'verdict', batchId: verdict.batchId, state: await recordVerdict(deps.store, verdict) };
    } catch (error) {
      const facts = { batchId: verdict.batchId, tries, error: codeOf(error) };
      deps.logger.error(facts, 'the verdict of a POST could not be written');
      if (tries < recordTries) continue;
      const { message: _words, ...safe } = verdict;
      return { kind: 'unrecorded', verdict: safe };
    }
  }
}

/** Records with Temporal that the POST is about to be made; where that is not certain, answers a `not_sent` verdict. */
async function findUnnoted({ deps, clock, requestNotes, batchId }: Submitting, k: number): Promise<VerdictInput | null> {
  try {
    await requestNotes.note({ batchId, k });
    return null;
  } catch (error) {
    const facts = { batchId, k, error: codeOf(error) };
    deps.logger.warn(facts, 'Temporal did not record that a POST begins: nothing is sent');
    return { batchId, k, verdict: 'not_sent', now: serviceNow(clock), unwitnessed: true };
  }
}

/**
 * Reads the agent's list before reposting a batch answered as not taken (429): a record of one of its calls proves that it was. Answers
 * when that read began; null: not readable, or being read by another process; undefined: nothing to check.
 */
async function checkBeforeRepost({ deps, clock, batchId }: Submitting, onProgress: () => void): Promise<number | null | undefined> {
  const denied = await findDeniedBatch(deps.store.db, batchId);
  if (denied === undefined) return undefined;
  const { agentId, timing } = await readRulesOf(deps.store.db, denied.campaign_id);
  if (deps.service.find !== undefined) {
    const isClear = await lookUpDenied({ deps, clock, agentId, timing, onStep: onProgress }, batchId);
    return isClear === false ? null : serviceNow(clock);
  }
  const begunAt = serviceNow(clock);
  const { listed } = await sweepAgent(deps, clock, { agentId, timing, onProgress });
  return listed ? begunAt : null;
}

/** Real ms before a submit that sent nothing is retried; undefined: the retry policy decides. */
function retryInMs(verdict: VerdictInput, clock: ServiceClock): number | undefined {
  if (verdict.notBefore == null) return undefined;
  const waitMs = Math.max(0, verdict.notBefore - clock.now());
  // Too long for a submit: re-entered at once, it releases the batch, and the account's limit delays the next POST.
  return waitMs > longestSubmitMs ? 0 : clock.toRealMs(waitMs);
}

/**
 * Sends a planned batch once, then those the planner yields next, for a few seconds while all goes well; answers the last result. Safe to
 * repeat: a batch with a verdict answers it, and one that another run was about to send becomes `unknown`. Throws a retryable failure while
 * nothing was sent, and a non-retryable one when the ledger has lost the batch.
 */
export async function submit(deps: ActivityDependencies, { batchId, thenPlan }: SubmitInput): Promise<SubmitResult> {
  const requestNotes = deps.openRequestNotes();
  // An earlier try may have got further: its last note shows how far the ledger has to be.
  let current = requestNotes.last?.batchId ?? batchId;
  let lastResult: SubmitResult | undefined;
  try {
    for (;;) {
      const result = await submitOnce({ deps, clock: await deps.serviceClock(), requestNotes, batchId: current });
      if (result.kind !== 'verdict' || thenPlan === undefined) return result;
      const planned = await planNext(deps, { ...thenPlan, batchNumber: batchNumberOf(current) + 1 });
      lastResult = planned === undefined ? result : { ...result, planned };
      if (planned?.kind !== 'batch' || !mayGoOn(deps, requestNotes, result.state)) return lastResult;
      current = planned.batchId;
    }
  } catch (error) {
    // The next batch has no note yet: its own submit waits for what blocks it.
    if (lastResult !== undefined && requestNotes.last?.batchId !== current) return lastResult;
    requestNotes.beat();
    if (error instanceof NotSentError) throw expectedWait({ type: failureTypes.notSent, message: 'The service could not be reached' });
    throw error;
  } finally {
    requestNotes.close();
  }
}

function mayGoOn({ stopping }: ActivityDependencies, requestNotes: RequestNotes, state: BatchState): boolean {
  return state === 'confirmed' && requestNotes.mayGoOn && !stopping.aborted;
}

/** The workflow asks a failed planner again, and gets the reason then. */
async function planNext(deps: ActivityDependencies, next: PlanActivityInput): Promise<PlanActivityResult | undefined> {
  try {
    return await plan(deps, next);
  } catch (error) {
    deps.logger.warn({ campaignId: next.campaignId, error: codeOf(error) }, 'the next batch could not be planned yet');
    return undefined;
  }
}

async function submitOnce(submitting: Submitting): Promise<SubmitResult> {
  const { deps, clock, requestNotes, batchId } = submitting;
  const beat = () => requestNotes.beat();
  await requireOwnBatch(deps, batchId);
  await screen(deps, clock, { batchId, beat });
  const listReadAt = await checkBeforeRepost(submitting, beat);
  const time = await readServiceTime(deps, clock, batchId);
  const { postingWindowMs, httpTimeoutMs } = deps.limits;
  // Read before the ledger, so that setting the wall clock back meanwhile cannot extend it.
  const deadlineMonotonic = deps.monotonicMs() + postingWindowMs;
  const step = await openPosting(deps.store, {
    batchId,
    now: serviceNow(clock),
    nowReal: deps.nowReal(),
    postingWindowMs,
    httpTimeoutMs,
    gapMs: deps.limits.requestGapMs,
    speed: clock.speed,
    ...time,
    witnessed: requestNotes.last?.batchId === batchId ? requestNotes.last.k : 0,
    listReadAt,
  });
  if (step.kind === 'verdict') return { ...step, batchId };
  if (step.kind === 'blocked') {
    const waitMs = clock.toRealMs(step.until - clock.now());
    const message = time.clockDoubt === null ? 'The ledger allows no POST yet' : clockDoubts[time.clockDoubt];
    throw expectedWait({ type: failureTypes.blocked, message, retryInMs: waitMs });
  }
  if (step.kind === 'unsure') {
    const { k, entry, error } = step;
    const recorded = await record(deps, { batchId, k, entry, verdict: 'not_sent', now: serviceNow(clock) });
    if (recorded.kind === 'unrecorded' || !undecidedStates.includes(recorded.state)) return recorded;
    throw error;
  }
  if (step.kind === 'early') {
    await sleep(step.inMs);
    return submitOnce(submitting);
  }
  const verdict = (await findUnnoted(submitting, step.k)) ?? (await post(submitting, step, deadlineMonotonic));
  requestNotes.answered();
  const result = await record(deps, verdict);
  if (result.kind === 'unrecorded' || result.state !== 'not_sent') return result;
  const limited = verdict.status === 429;
  throw expectedWait({
    type: limited ? failureTypes.rateLimited : failureTypes.notSent,
    message: limited
      ? `The service limits requests (429), POST ${verdict.k}`
      : `${verdict.unwitnessed ? 'Temporal did not record the POST' : 'The service could not be reached'}, POST ${verdict.k}`,
    retryInMs: retryInMs(verdict, clock),
  });
}

/** Writes a verdict that `submit` could not write. Retried until the database takes it. */
export async function recordPostVerdict(deps: ActivityDependencies, verdict: VerdictInput): Promise<{ state: BatchState }> {
  return { state: await recordVerdict(deps.store, verdict) };
}

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
  /** What is to be planned once the batch has its verdict; what that brings is sent as well, and so on for a few seconds. */
  thenPlan?: PlanActivityInput;
}

export type SubmitResult =
  /**
   * Of the last batch. `planned`: what the planner then said. Absent where it was not asked, or could not answer: it is to be asked again.
   */
  | { kind: 'verdict'; batchId: string; state: BatchState; planned?: PlanActivityResult }
  /** The database did not take the verdict: it goes through the workflow, and holds ids and codes only. */
  | { kind: 'unrecorded'; verdict: VerdictInput };

type PostStep = Extract<PostingStep, { kind: 'post' }>;

/** One try of a submit. */
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

/** What the service is asked. Calls have their names of the ledger, whether the campaign file sends a reference or not. */
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

/** What is known of a POST, in the words of the ledger. */
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
    // A defect of the program: what was sent is not known.
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

/** Notes with Temporal that the POST is about to be made. Where that is not certain, answers the verdict of one that was never begun. */
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
 * Reads the agent's list before a batch is sent again that the service answered, and is said not to have taken (429): a record of one
 * of its calls shows that it did. Answers when that began, or null where it could not be read, or another process was just reading it;
 * undefined: there is nothing to look for.
 */
async function lookBeforeRepost({ deps, clock, batchId }: Submitting, onProgress: () => void): Promise<number | null | undefined> {
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

/** How long a submit that sent nothing waits before it is tried again; undefined leaves it to the retry policy. */
function retryInMs(verdict: VerdictInput, clock: ServiceClock): number | undefined {
  if (verdict.notBefore == null) return undefined;
  const waitMs = Math.max(0, verdict.notBefore - clock.now());
  // Too long for a submit: entered again at once, the batch is released, and the account's own limit keeps the next POST back.
  return waitMs > longestSubmitMs ? 0 : clock.toRealMs(waitMs);
}

/**
 * Sends a planned batch once, then those that the planner brings next, as long as all goes well and for a few seconds at most; answers
 * what became of the last one. Safe to run again at any time: a batch that has a verdict answers it, and one that another run was about to
 * send becomes `unknown`. Throws a retryable failure while nothing has been sent, and one that is not retried when the ledger has lost the
 * batch.
 */
export async function submit(deps: ActivityDependencies, { batchId, thenPlan }: SubmitInput): Promise<SubmitResult> {
  const requestNotes = deps.openRequestNotes();
  // An earlier try may have come further: what it noted last says how far the ledger has to be.
  let current = requestNotes.last?.batchId ?? batchId;
  let said: SubmitResult | undefined;
  try {
    for (;;) {
      const result = await submitOnce({ deps, clock: await deps.serviceClock(), requestNotes, batchId: current });
      if (result.kind !== 'verdict' || thenPlan === undefined) return result;
      const planned = await planNext(deps, { ...thenPlan, batchNumber: batchNumberOf(current) + 1 });
      said = planned === undefined ? result : { ...result, planned };
      if (planned?.kind !== 'batch' || !mayGoOn(deps, requestNotes, result.state)) return said;
      current = planned.batchId;
    }
  } catch (error) {
    // Of the next batch nothing was noted: what keeps it from being sent is waited for by a submit of its own.
    if (said !== undefined && requestNotes.last?.batchId !== current) return said;
    requestNotes.beat();
    if (error instanceof NotSentError) throw expectedWait({ type: failureTypes.notSent, message: 'The service could not be reached' });
    throw error;
  } finally {
    requestNotes.close();
  }
}

/** After a batch in this state, and now, another one may follow in the same activity. */
function mayGoOn({ stopping }: ActivityDependencies, requestNotes: RequestNotes, state: BatchState): boolean {
  return state === 'confirmed' && requestNotes.mayGoOn && !stopping.aborted;
}

/** A verdict is not held up by a planner that fails: the workflow asks it again, and hears why. */
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
  const listReadAt = await lookBeforeRepost(submitting, beat);
  const time = await readServiceTime(deps, clock, batchId);
  const { postingWindowMs, httpTimeoutMs } = deps.limits;
  // Taken before the ledger is asked: a wall clock that is set back meanwhile must not move this one.
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
    const said = await record(deps, { batchId, k, entry, verdict: 'not_sent', now: serviceNow(clock) });
    if (said.kind === 'unrecorded' || !undecidedStates.includes(said.state)) return said;
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

import type { BatchCallsRequest } from '../src/convai/schemas-requests.ts';
import {
  ConvaiError,
  NotSentError,
  RateLimitedError,
  RefusedError,
  RequestInvalidError,
} from '../src/convai/errors.ts';
import type { ServiceClock } from '../src/convai/service-clock.ts';
import { storableId } from '../src/convai/storable-id.ts';
import { withOpeningLine } from '../src/domain/conversation-override.ts';
import { failureTypes } from '../src/domain/failure-types.ts';
import { undecidedStates, type BatchState } from '../src/domain/ledger.ts';
import { failCampaign } from '../src/ledger/rows/campaigns.ts';
import type { ClockDoubt } from '../src/ledger/dial/clocks.ts';
import { campaignIdOf, LedgerOlderError } from '../src/ledger/ledger-older.ts';
import { longestSubmitMs, openPosting } from '../src/ledger/dial/posting.ts';
import type { PostingStep } from '../src/ledger/dial/posting-step.ts';
import type { VerdictInput } from '../src/ledger/dial/posts.ts';
import { recordVerdict } from '../src/ledger/dial/verdicts.ts';
import { renderWith } from './campaign-templates.ts';
import { serviceNow, type ActivityDependencies } from './dependencies.ts';
import { codeOf, expectedWait } from './failures.ts';
import { lookBeforeRepost } from './look-before-repost.ts';
import { requireOwnBatch } from './own-service.ts';
import { screen } from './screen.ts';
import { readServiceTime } from './watch-clocks.ts';
import type { Witness } from './witness.ts';

export type SubmitResult =
  | { kind: 'verdict'; state: BatchState }
  /** The database did not take the verdict: it goes through the workflow, and holds ids and codes only. */
  | { kind: 'unrecorded'; verdict: VerdictInput };

type PostStep = Extract<PostingStep, { kind: 'post' }>;

const recordTries = 3;

const clockDoubts: Readonly<Record<ClockDoubt, string>> = {
  clock_unread: "A connection failed, and the service's clock could not be read since",
  clocks_apart: "The service's clock and this machine's are too far apart",
};

function buildBody(step: PostStep): BatchCallsRequest {
  const { rules } = step.campaign;
  const render = renderWith(rules);
  return {
    agent_id: rules.agentId,
    from_phone_number_id: step.caller,
    calls: step.calls.map((call) => {
      const rendered = rules.variables === null && rules.override === undefined ? null : render(call.cells);
      const override = withOpeningLine(rendered?.override ?? null, call.openingLine);
      const variables = rendered?.variables ?? {};
      const reference = rules.variables?.reference;
      return {
        to_phone_number: call.e164,
        ...(override === null ? {} : { conversation_config_override: override }),
        ...(rules.variables === null
          ? {}
          : {
              [rules.variables.key]:
                reference == null || call.reference === null
                  ? variables
                  : { ...variables, [reference]: call.reference },
            }),
      };
    }),
  };
}

/** Whether a refusal complains about something outside the calls, which smaller batches would not mend. */
function isAboutWholeRequest(error: RefusedError): boolean {
  const { fields } = error.detail;
  return fields.length > 0 && fields.every((field) => !/(^|\.)calls(\.|\[|$)/.test(field.path));
}

/** What the failure of a POST proves. Everything that proves nothing is `unknown`: the calls may have been placed. */
function verdictOf(error: unknown, clock: ServiceClock, now: number): Omit<VerdictInput, 'batchId' | 'k'> {
  if (error instanceof RequestInvalidError)
    return { verdict: 'refused', now, status: 422, message: error.problems.join('; ') };
  if (!(error instanceof ConvaiError)) return { verdict: 'unknown', now, message: codeOf(error) };
  const status = 'status' in error && typeof error.status === 'number' ? error.status : null;
  const facts = { now, status, serviceRequestId: error.requestId, serviceDate: error.serviceMs };
  if (error.knowledge === 'not_sent') return { ...facts, verdict: 'not_sent' };
  if (error.knowledge === 'queued_nothing') {
    const retryAfterMs = error instanceof RateLimitedError ? error.retryAfterMs : null;
    const notBefore = retryAfterMs === null ? null : Math.ceil(clock.now() + retryAfterMs);
    return { ...facts, status: 429, verdict: 'not_sent', notBefore };
  }
  if (error instanceof RefusedError) {
    return { ...facts, verdict: 'refused', message: error.detail.message, wholeRequest: isAboutWholeRequest(error) };
  }
  return { ...facts, verdict: 'unknown' };
}

async function post(
  deps: ActivityDependencies,
  clock: ServiceClock,
  batchId: string,
  step: PostStep,
  deadlineMonotonic: number,
): Promise<VerdictInput> {
  const base = { batchId, k: step.k };
  try {
    const placed = await deps.client.placeBatchCalls(buildBody(step), {
      requestId: `${batchId}/${step.k}`,
      mayBegin: () => deps.nowReal() < step.deadlineReal && deps.monotonicMs() < deadlineMonotonic,
    });
    return {
      ...base,
      verdict: 'confirmed',
      now: serviceNow(clock),
      status: 200,
      serviceDate: placed.serviceDate?.serverMs ?? null,
      serviceBatchId: storableId(placed.batchId),
      callsInitiated: placed.callsInitiated,
    };
  } catch (error) {
    const verdict = { ...base, ...verdictOf(error, clock, serviceNow(clock)) };
    const facts = {
      batchId,
      k: step.k,
      verdict: verdict.verdict,
      status: verdict.status ?? null,
      error: codeOf(error),
    };
    deps.logger.warn(facts, 'a batch was not accepted as sent');
    return verdict;
  }
}

async function record(deps: ActivityDependencies, verdict: VerdictInput): Promise<SubmitResult> {
  for (let tries = 1; ; tries += 1) {
    try {
      return { kind: 'verdict', state: await recordVerdict(deps.store, verdict) };
    } catch (error) {
      deps.logger.error(
        { batchId: verdict.batchId, tries, error: codeOf(error) },
        'the verdict of a POST could not be written',
      );
      if (tries < recordTries) continue;
      const { message: _words, ...safe } = verdict;
      return { kind: 'unrecorded', verdict: safe };
    }
  }
}

/** Notes with Temporal that the POST is about to be made. Where that is not certain, answers the verdict of one that was never begun. */
async function findUnwitnessed(
  deps: ActivityDependencies,
  clock: ServiceClock,
  witness: Witness,
  post: { batchId: string; k: number },
): Promise<VerdictInput | null> {
  try {
    await witness.note(post.k);
    return null;
  } catch (error) {
    deps.logger.warn({ ...post, error: codeOf(error) }, 'Temporal did not record that a POST begins: nothing is sent');
    return { ...post, verdict: 'not_sent', now: serviceNow(clock), unwitnessed: true };
  }
}

/** How long a submit that sent nothing waits before it is tried again; undefined leaves it to the retry policy. */
function retryInMs(verdict: VerdictInput, clock: ServiceClock): number | undefined {
  if (verdict.notBefore == null) return undefined;
  const waitMs = Math.max(0, verdict.notBefore - clock.now());
  // Too long for a submit: entered again at once, the batch is released, and the account's own limit keeps the next POST back.
  return waitMs > longestSubmitMs ? 0 : clock.toRealMs(waitMs);
}

/** A ledger that has lost a batch ends the campaign's run, and people are told why. */
async function failIfOlder(deps: ActivityDependencies, batchId: string, error: unknown): Promise<void> {
  if (error instanceof LedgerOlderError)
    await failCampaign(deps.store, campaignIdOf(batchId), error.message, deps.nowReal());
}

/**
 * Sends a planned batch once and answers its verdict. Safe to run again at any time: a batch that has a verdict answers it, and
 * one that another run was about to send becomes `unknown`. Throws a retryable failure while nothing has been sent, and one that is not
 * retried when the ledger has lost the batch.
 */
export async function submit(deps: ActivityDependencies, input: { batchId: string }): Promise<SubmitResult> {
  const witness = deps.openWitness();
  try {
    return await submitOnce(deps, input, witness);
  } finally {
    witness.close();
  }
}

async function submitOnce(
  deps: ActivityDependencies,
  input: { batchId: string },
  witness: Witness,
): Promise<SubmitResult> {
  try {
    const clock = await deps.serviceClock();
    await requireOwnBatch(deps, input.batchId);
    await screen(deps, clock, input.batchId, () => witness.beat());
    await lookBeforeRepost(deps, clock, input.batchId, () => witness.beat());
    const time = await readServiceTime(deps, clock, input.batchId);
    const { postingWindowMs, httpTimeoutMs } = deps.limits;
    // Taken before the ledger is asked: a wall clock that is set back meanwhile must not move this one.
    const deadlineMonotonic = deps.monotonicMs() + postingWindowMs;
    const step = await openPosting(deps.store, {
      batchId: input.batchId,
      now: serviceNow(clock),
      nowReal: deps.nowReal(),
      postingWindowMs,
      httpTimeoutMs,
      speed: clock.speed,
      ...time,
      witnessed: witness.earlier,
    });
    if (step.kind === 'verdict') return step;
    if (step.kind === 'blocked') {
      const waitMs = clock.toRealMs(step.until - clock.now());
      const message = time.clockDoubt === null ? 'The ledger allows no POST yet' : clockDoubts[time.clockDoubt];
      throw expectedWait({ type: failureTypes.blocked, message, retryInMs: waitMs });
    }
    if (step.kind === 'unsure') {
      const { k, entry, error } = step;
      const own = { batchId: input.batchId, k, entry, verdict: 'not_sent' as const, now: serviceNow(clock) };
      const said = await record(deps, own);
      if (said.kind === 'unrecorded' || !undecidedStates.includes(said.state)) return said;
      throw error;
    }
    const verdict =
      (await findUnwitnessed(deps, clock, witness, { batchId: input.batchId, k: step.k })) ??
      (await post(deps, clock, input.batchId, step, deadlineMonotonic));
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
  } catch (error) {
    if (error instanceof NotSentError)
      throw expectedWait({ type: failureTypes.notSent, message: 'The service could not be reached' });
    await failIfOlder(deps, input.batchId, error);
    throw error;
  }
}

/** Writes a verdict that `submit` could not write. Retried until the database takes it. */
export async function recordPostVerdict(
  deps: ActivityDependencies,
  verdict: VerdictInput,
): Promise<{ state: BatchState }> {
  try {
    return { state: await recordVerdict(deps.store, verdict) };
  } catch (error) {
    await failIfOlder(deps, verdict.batchId, error);
    throw error;
  }
}

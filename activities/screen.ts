import type { ServiceClock } from '../src/service/port/service-clock.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import { HookError, hookPlace } from '../src/shared/hooks/errors.ts';
import { askPreDial } from '../src/shared/hooks/pre-dial.ts';
import { findUnscreened, noteSilentHook, storeScreening } from '../src/ledger/dial/screening.ts';
import { senderOf, serviceNow, type ActivityDependencies } from './dependencies.ts';
import { expectedWait } from './failures.ts';

/** After a slower answer the dialling request becomes a try of its own, with its whole time limit. */
const slowAnswerMs = 1_000;

/**
 * Asks the pre-dial hook, if any, about a batch's recipients and stores its answer for the dial transaction. Throws a wait while the hook
 * gives no usable answer: nothing is sent then. Asking twice is harmless. `beat` is called during a slow answer.
 */
export async function screen(
  deps: ActivityDependencies,
  clock: ServiceClock,
  { batchId, beat }: { batchId: string; beat: () => void },
): Promise<void> {
  const { store, logger } = deps;
  const askedAt = serviceNow(clock);
  const batch = await findUnscreened(store.db, batchId, askedAt);
  if (batch === null) return;
  const { campaign, preDial, calls } = batch;
  const began = deps.monotonicMs();
  // Starts once the answer is late; the hook's own limit ends it.
  const beats = setInterval(beat, 2 * slowAnswerMs);
  try {
    const verdicts = await askPreDial(
      {
        campaign: campaign.campaignId,
        batch: batchId,
        recipients: calls.map(({ attemptId, e164, externalId, row }) => ({
          ref: attemptId,
          phone: e164,
          id: externalId,
          row,
        })),
      },
      {
        ...senderOf(deps),
        url: preDial.url,
        // An id per question, so that a receiver does not repeat a stored answer.
        eventId: `${batchId}/pre_dial/${askedAt}`,
        timeoutMs: Math.min(preDial.timeoutMs, deps.limits.postingWindowMs),
      },
    );
    await storeScreening(store, { batchId, askedAt, verdicts });
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    const { fault, status, message } = error;
    const place = hookPlace('pre_dial', preDial.url);
    logger.warn({ batchId, fault, status, hook: place }, 'the pre-dial hook gave no answer that can be used; nothing is sent');
    const silence = { batchId, now: serviceNow(clock), place, evidence: message, fault };
    if (fault !== 'stopped' && (await noteSilentHook(store, silence))) return;
    throw expectedWait({ type: failureTypes.screening, message: `The pre-dial hook gave no answer (${fault})` });
  } finally {
    clearInterval(beats);
  }
  if (deps.monotonicMs() - began <= slowAnswerMs) return;
  throw expectedWait({ type: failureTypes.screening, message: 'The pre-dial hook answered late', retryInMs: 1 });
}

import type { Service, FeaturesUnderWay } from './service.ts';
import { countStates, isUnderWay, type Call } from '../state/call.ts';

/** Nobody talks, nothing waits to be dialled, and everything has been told to whom it is to be told. */
export function isIdle(service: Service): boolean {
  const { state, pendingWork, journal, clock } = service;
  const { sockets, webhook_deliveries: deliveries } = underWayInFeatures(service);
  if (pendingWork.size + journal.batchesInProgress + sockets + deliveries > 0) return false;
  const now = clock.now();
  const goesOn = (call: Call): boolean => isUnderWay(call, now);
  // The newest are the likeliest to be under way, so the end is quickly found.
  return state.calls.findLast(goesOn) === undefined && state.conversations.everything.findLast(goesOn) === undefined;
}

/** What has to come to its end before nothing happens by itself any more. */
export function tellUnderWay(service: Service): Record<string, number> {
  const { state, pendingWork, journal, clock } = service;
  const now = clock.now();
  const calls = new Set([...state.calls, ...state.conversations.everything].filter((call) => isUnderWay(call, now)));
  const counts = countStates(calls, now);
  return {
    /** Calls in and out, by how they stand; queued ones may wait for a line or for the time of their batch. */
    calls_queued: counts.queued,
    calls_dialing: counts.dialing,
    calls_in_progress: counts.in_progress,
    calls_processing: counts.processing,
    ...underWayInFeatures(service),
    /** Not answered yet, or held at a gate; other requests queue no calls. */
    batch_requests: journal.batchesInProgress,
    awaited_answers: pendingWork.size,
  };
}

function underWayInFeatures({ features }: Service): FeaturesUnderWay {
  return Object.assign({ sockets: 0, webhook_deliveries: 0 }, ...features.map((feature) => feature.underWay?.()));
}

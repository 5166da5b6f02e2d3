import { PhoneNetwork } from '../core/telephony/phone-network.ts';
import type { Service } from '../core/service/service.ts';
import type { Batch } from '../core/state/batch.ts';
import { ServiceState } from '../core/state/service-state.ts';
import { waitsFrom, type Call } from '../core/state/call.ts';

/** A batch with its calls by id. */
export type SavedBatch = Omit<Batch, 'recipients'> & { recipients: { id: string; callId: string }[] };

/**
 * The state of the service at one instant, from which everything that follows is determined. What is in it is never changed, so
 * that it can be put back any number of times.
 */
export type ServiceImage = ReturnType<typeof takeImage>;

export function takeImage(service: Service) {
  const { state, scheduler } = service;
  scheduler.runDue();
  return {
    ...takeWhole(service),
    /** In the order of creation; null for those that were deleted. */
    agents: state.agentOrder.map((agentId) => ({ agentId, agent: state.agents.get(agentId) ?? null })),
    numbers: [...state.numbers.values()].map((number) => ({ ...number })),
    /** Outbound calls in the order accepted, then all others in the order of their records. */
    calls: allCalls(state).map((call) => ({ ...call })),
    /** Ids of the calls that have or had a record, in the order in which those were made. */
    recordOrder: state.conversations.everything.map(({ callId }) => callId),
    counters: [...state.counters],
    batches: [...state.batches.values()].map(saveBatch),
    /** Signed URLs and tokens that were not used yet. */
    credentials: state.credentials.save(),
  };
}

/** What of the state is small, and kept whole. */
export function takeWhole({ state, scheduler, clock, generation, faults, unavailableModels, people }: Service) {
  return {
    /** Epoch milliseconds of service time. */
    now: clock.now(),
    /** Everything due by then has happened. */
    ranUntil: scheduler.ranUntil,
    generation,
    /** Ids in the order of creation, with those of deleted numbers. */
    numberOrder: [...state.numberOrder],
    sipTrunks: [...state.sipTrunks.values()],
    nextCourses: [...state.nextCourses],
    faults: faults.save(),
    unavailableModels: [...unavailableModels],
    world: people.world,
  };
}

export function saveBatch(batch: Batch): SavedBatch {
  return { ...batch, recipients: batch.recipients.map(({ id, call }) => ({ id, callId: call.callId })) };
}

/** Outbound calls in the order accepted, then all others in the order of their records. */
function allCalls(state: ServiceState): Call[] {
  const accepted = new Set(state.calls);
  return [...state.calls, ...state.conversations.everything.filter((call) => !accepted.has(call))];
}

/**
 * Puts an image in the place of what is there. Calls go on where they were: a clock that stands goes back to the image's
 * instant; one that runs goes on, and what was due meanwhile happens at once, at its own instants.
 */
export function restoreImage(service: Service, image: ServiceImage): void {
  const { scheduler, conduct, clockMover } = service;
  const { clock } = clockMover;
  service.leave('replaced');
  if (clock !== null && (clock.speed === 0 || clock.now() < image.now)) clock.returnTo(image.now);
  scheduler.clear(image.ranUntil);
  service.gates.release();
  service.network.close();
  service.faults.restore(structuredClone(image.faults));
  service.people.replace(image.world);
  service.unavailableModels.clear();
  for (const modelId of image.unavailableModels) service.unavailableModels.add(modelId);
  service.generation = image.generation;
  service.state = readState(image);
  service.network = new PhoneNetwork(service);
  service.network.resume(inOrderOfDialing(allCalls(service.state)), image.ranUntil);
  conduct.clear();
  conduct.recall(service.state.calls);
  scheduler.runDue();
  clockMover.announce();
}

function readState(image: ServiceImage): ServiceState {
  const state = new ServiceState();
  for (const { agentId, agent } of image.agents) {
    if (agent === null) state.agentOrder.push(agentId);
    else state.addAgent(agent);
  }
  state.restoreNumbers(image.numberOrder, image.numbers);
  for (const [series, value] of image.counters) state.setCounter(series, value);
  for (const trunk of image.sipTrunks) state.sipTrunks.set(trunk.trunkId, trunk);
  for (const [to, courses] of image.nextCourses) state.nextCourses.set(to, courses);
  state.credentials.restore(image.credentials);
  const calls = new Map(image.calls.map((call) => [call.callId, { ...call }]));
  for (const call of calls.values()) if (call.direction === 'outbound') state.calls.push(call);
  for (const callId of image.recordOrder) {
    const call = calls.get(callId);
    if (call !== undefined) state.conversations.add(call, call.recordedAt ?? 0);
  }
  for (const batch of image.batches) {
    const recipients = batch.recipients.flatMap(({ id, callId }) => {
      const call = calls.get(callId);
      return call === undefined ? [] : [{ id, call }];
    });
    state.batches.set(batch.batchId, { ...batch, recipients });
  }
  return state;
}

/** Those that wait come last, in the order in which they began to. */
function inOrderOfDialing(calls: Call[]): Call[] {
  return calls.sort((a, b) => (a.dialedAt ?? Infinity) - (b.dialedAt ?? Infinity) || waitsFrom(a) - waitsFrom(b));
}

import { createHash } from 'node:crypto';
import { PhoneNetwork } from '../core/telephony/phone-network.ts';
import type { Service } from '../core/service/service.ts';
import type { Agent } from '../core/state/agent.ts';
import type { Campaign } from '../core/state/campaign.ts';
import { waitsFrom, type Call } from '../core/state/call.ts';
import { ServiceState, type Batch } from '../core/state/service-state.ts';
import { sandboxVersion } from '../core/version.ts';

export const stateFormat = 'sandbox-state';
export const stateVersion = 1;

/** JSON at one instant; all later states follow from it. Immutable; excludes provider tokens and issued credentials. */
export type StateDocument = ReturnType<typeof takeState>;

export function takeState(service: Service) {
  service.scheduler.runDue();
  const { state, scheduler, clock, generation, faults, people, settings } = service;
  const calls = allCalls(state);
  return {
    format: stateFormat,
    version: stateVersion,
    made_by: sandboxVersion,
    seed: settings.seed,
    now: clock.now(),
    /** Everything due by then has happened. */
    ran_until: scheduler.ranUntil,
    generation,
    numbers: [...state.numbers.values()].map((number) => ({ ...number })),
    /** Ids in creation order, including deleted numbers; omitted by versions without number deletion. */
    number_order: [...state.numberOrder] as string[] | undefined,
    next_courses: [...state.nextCourses],
    world: people.world,
    faults: faults.save(),
    agents: state.agentOrder.map((agentId) => ({ agentId, agent: state.agents.get(agentId) ?? null })),
    agent_versions: Object.fromEntries(calls.flatMap(({ agent }) => (agent === null ? [] : [[agentKey(agent), agent]]))),
    calls: calls.map(writeCall),
    /** Ids of calls that have or had a record, in the records' creation order. */
    record_order: state.conversations.everything.map(({ callId }) => callId),
    counters: [...state.counters].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    batches: [...state.batches.values()].map(writeBatch),
    /** Omitted by versions without campaigns. */
    campaigns: [...state.campaigns.values()].map(writeCampaign) as ReturnType<typeof writeCampaign>[] | undefined,
  };
}

const keys = new WeakMap<Agent, string>();

function agentKey(agent: Agent): string {
  const key = keys.get(agent) ?? createHash('sha256').update(JSON.stringify(agent)).digest('base64url').slice(0, 22);
  keys.set(agent, key);
  return key;
}

function writeCall(call: Call) {
  const { course, agent } = call;
  const finite = (instant: number): number | null => (instant === Infinity ? null : instant);
  return {
    ...call,
    agent: agent === null ? null : agentKey(agent),
    course: course && { ...course, endedAt: finite(course.endedAt), analysedAt: finite(course.analysedAt) },
    live: call.recordDeleted ? null : call.live,
  };
}

function readCall(document: ReturnType<typeof writeCall>, agents: Readonly<Record<string, Agent>>): Call {
  const { course, agent } = document;
  return {
    ...document,
    agent: agent === null ? null : (agents[agent] ?? null),
    course: course && { ...course, endedAt: course.endedAt ?? Infinity, analysedAt: course.analysedAt ?? Infinity },
  };
}

function writeBatch(batch: Batch) {
  return { ...batch, recipients: batch.recipients.map(({ id, call }) => ({ id, callId: call.callId })) };
}

function writeCampaign(campaign: Campaign) {
  return { ...campaign, leads: campaign.leads.map(({ call, ...lead }) => ({ ...lead, callId: call.callId })) };
}

function allCalls(state: ServiceState): Call[] {
  const accepted = new Set(state.calls);
  return [...state.calls, ...state.conversations.everything.filter((call) => !accepted.has(call))];
}

/**
 * Calls go on where they were. A standing clock returns to the state's instant; with a running one, events due meanwhile happen at once, at
 * their own instants.
 */
export function restoreState(service: Service, document: StateDocument): void {
  const { scheduler, conduct, clockMover } = service;
  const { clock } = clockMover;
  service.leave('replaced');
  if (clock !== null && (clock.speed === 0 || clock.now() < document.now)) clock.returnTo(document.now);
  scheduler.clear(document.ran_until);
  service.gates.release();
  service.network.close();
  service.faults.restore(structuredClone(document.faults));
  service.people.replace(document.world);
  service.generation = document.generation;
  service.state = readState(document);
  service.network = new PhoneNetwork(service);
  // Queued ones last, in queue order.
  const inOrderOfDialing = allCalls(service.state).sort(
    (a, b) => (a.dialedAt ?? Infinity) - (b.dialedAt ?? Infinity) || waitsFrom(a) - waitsFrom(b),
  );
  service.network.resume(inOrderOfDialing, document.ran_until);
  conduct.clear();
  conduct.recall(service.state.calls);
  scheduler.runDue();
  clockMover.announce();
}

function readState(document: StateDocument): ServiceState {
  const state = new ServiceState();
  for (const { agentId, agent } of document.agents) {
    if (agent === null) state.agentOrder.push(agentId);
    else state.addAgent(agent);
  }
  state.restoreNumbers(document.number_order ?? document.numbers.map(({ phoneNumberId }) => phoneNumberId), document.numbers);
  for (const [series, value] of document.counters) state.setCounter(series, value);
  for (const [to, courses] of document.next_courses) state.nextCourses.set(to, courses);
  const calls = new Map(document.calls.map((call) => [call.callId, readCall(call, document.agent_versions)]));
  for (const call of calls.values()) if (call.direction === 'outbound') state.calls.push(call);
  for (const callId of document.record_order) {
    const call = calls.get(callId);
    if (call !== undefined) state.conversations.add(call, call.recordedAt ?? 0);
  }
  for (const batch of document.batches) {
    const recipients = batch.recipients.flatMap(({ id, callId }) => {
      const call = calls.get(callId);
      return call === undefined ? [] : [{ id, call }];
    });
    state.batches.set(batch.batchId, { ...batch, recipients });
  }
  for (const campaign of document.campaigns ?? []) {
    const leads = campaign.leads.flatMap(({ callId, ...lead }) => {
      const call = calls.get(callId);
      return call === undefined ? [] : [{ ...lead, call }];
    });
    state.campaigns.set(campaign.campaignId, { ...campaign, leads });
  }
  return state;
}

import { type Clock, ClockSteps } from '../clock/clock.ts';
import { ClockMover } from '../clock/mover.ts';
import { ServiceEvents } from '../clock/service-events.ts';
import { FaultRegistry } from '../../faults/book.ts';
import { Gates } from '../gates.ts';
import { ConductMonitor } from '../../judge/conduct.ts';
import { Journal } from '../../judge/journal.ts';
import { Scheduler } from '../clock/scheduler.ts';
import { createRequestSchemas, type RequestSchemas } from '../../schemas/request-schemas.ts';
import { seedService } from './seed-data.ts';
import { noLiveTalks, type LiveTalks } from '../conversation/agent-mind.ts';
import type { SandboxSettings } from '../settings/settings.ts';
import { ServiceState } from '../state/service-state.ts';
import type { CallListener, Call, CallChange } from '../state/call.ts';
import { PhoneNetwork } from '../telephony/phone-network.ts';
import { People } from '../world/people.ts';
import type { Fixture } from '../../fixture/check-fixture.ts';
import { isoTime } from '../times.ts';

/** Why a feature's state ends; `replaced`: another state takes its place. */
export type Parting = 'reset' | 'replaced' | 'closed';

/** Open work of features that keeps the sandbox from being idle. */
export interface FeaturesUnderWay {
  sockets: number;
  webhook_deliveries: number;
}

export interface Feature {
  leave(why: Parting): void;
  forget?(conversationId: string): void;
  load?(fixture: Fixture): void;
  underWay?(): Partial<FeaturesUnderWay>;
}

export interface Storage {
  flush(): Promise<void>;
  readonly path: string;
}

/** The service without HTTP and features. */
export class Service {
  readonly settings: SandboxSettings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly schemas: RequestSchemas;
  readonly faults: FaultRegistry;
  readonly gates: Gates;
  readonly journal = new Journal();
  readonly conduct: ConductMonitor;
  readonly pendingWork = new Set<Promise<unknown>>();
  readonly callListeners = new Set<CallListener>();
  readonly events = new ServiceEvents();
  readonly clockMover: ClockMover;
  readonly clockSteps = new ClockSteps();
  storage: Storage | null = null;
  readonly features: Feature[] = [];
  live: LiveTalks = noLiveTalks;
  /** Recording URL at `now` for a client of `baseUrl`; null without recordings. */
  recordingAddress: ((baseUrl: string, conversationId: string, now: number) => string) | null = null;
  readonly people: People;
  state: ServiceState;
  network: PhoneNetwork;
  generation = 0;
  baseUrl = '';

  constructor(settings: SandboxSettings, clock: Clock) {
    this.settings = settings;
    this.clock = clock;
    this.scheduler = new Scheduler(clock);
    this.clockMover = new ClockMover(this);
    followCalls(this);
    this.schemas = createRequestSchemas(settings);
    this.faults = new FaultRegistry(settings.seed, () => clock.now());
    this.gates = new Gates(settings.hooks);
    this.conduct = new ConductMonitor(clock, settings.conduct, (number) => this.people.zoneOf(number));
    this.callListeners.add((call, change, at) => this.conduct.noteCallChange(call, change, at));
    this.faults.add(settings.faults);
    this.people = new People(settings.world);
    this.state = new ServiceState();
    this.network = new PhoneNetwork(this);
    seedService(this);
  }

  leave(why: Parting): void {
    for (const feature of this.features) feature.leave(why);
  }

  reset(): void {
    this.leave('reset');
    this.generation += 1;
    this.scheduler.clear();
    this.gates.release();
    this.faults.clear();
    this.faults.add(this.settings.faults);
    this.journal.clear();
    this.conduct.clear();
    this.network.close();
    this.people.replace(this.settings.world);
    this.clockSteps.clear();
    this.state = new ServiceState();
    this.network = new PhoneNetwork(this);
    seedService(this);
    this.events.emit('state', this.clock.now(), { change: 'reset' });
  }

  close(): void {
    this.leave('closed');
    this.clockMover.close();
    this.network.close();
    this.scheduler.close();
    this.gates.release();
  }
}

export function followCalls({ callListeners, events }: Pick<Service, 'callListeners' | 'events'>): void {
  let batchId: string | null = null;
  callListeners.add((call, change, at) => {
    if (change === 'queued' && call.batchId !== null && call.batchId !== batchId) {
      ({ batchId } = call);
      events.emit('batch', at, { change: 'accepted', batch_id: batchId, agent_id: call.agentId, phone_number_id: call.phoneNumberId });
    }
    events.emit('call', at, describe(call, change));
  });
}

function describe(call: Call, change: CallChange): Record<string, unknown> {
  const { course } = call;
  // A call's result is not announced before it is decided on the line.
  const known = change === 'answered' || change === 'ended' || change === 'analysed';
  return {
    change,
    call_id: call.callId,
    conversation_id: call.recordedAt === null ? null : call.conversationId,
    batch_id: call.batchId,
    agent_id: call.agentId,
    phone_number_id: call.phoneNumberId,
    direction: call.direction,
    to: call.to,
    result: known && course !== null ? course.result : null,
    dialed_at: call.dialedAt === null ? null : isoTime(call.dialedAt),
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceClock } from '../core/clock/clock.ts';
import { Service, type Storage } from '../core/service/service.ts';
import type { SandboxOptions, SandboxSettings } from '../core/settings/settings.ts';
import { SandboxStartError } from '../core/settings/check-settings.ts';
import type { Call } from '../core/state/call.ts';
import type { ServiceState } from '../core/state/service-state.ts';
import { agentKey, allCalls, restoreState, takeSmall, writeBatch, writeCall, writeCampaign, type StateDocument } from './state.ts';
import type { StateFile } from './state-file.ts';

/** Real milliseconds until what happens by itself is written. */
const idleWriteMs = 50;
/** Real milliseconds between two notes of the time, where time passes by itself. */
const noteTimeEveryMs = 1_000;
/** Real milliseconds of service time that may have been told since the time was last noted in the file. */
const untoldRealMs = 2_000;

/**
 * The service as its settings want it: fresh and in memory, or as its data file has it. `install` adds features to it before anything
 * is restored; `closeFile` writes what is left and lets go of the file. Throws `SandboxStartError` when the file cannot be used.
 */
export async function openService<Installed>(
  settings: SandboxSettings,
  { clock, epochMs }: Pick<SandboxOptions, 'clock' | 'epochMs'>,
  install: (service: Service) => Installed,
): Promise<{ service: Service; installed: Installed; closeFile: () => void }> {
  const make = (startMs: number | undefined) => {
    const speed = clock === 'manual' ? 0 : settings.speed;
    const service = new Service(settings, typeof clock === 'object' ? clock : new ServiceClock({ speed, epochMs: startMs }));
    return { service, installed: install(service) };
  };
  if (settings.data === null) return { ...make(epochMs), closeFile: () => {} };
  const { StateFile } = await import('./state-file.ts');
  const file = new StateFile(settings.data);
  try {
    const stored = file.found && readStored(file.found);
    if (stored !== null && stored.seed !== settings.seed)
      throw new SandboxStartError(
        `${file.path} was made with the seed "${stored.seed}", and what was said in its calls follows from that. Start with --seed ${stored.seed}, or choose another --data file.`,
      );
    // No earlier than anything that callers have been told.
    const resumed = stored && Math.max(epochMs ?? Date.now(), stored.now + untoldRealMs * stored.speed);
    const made = make(resumed ?? epochMs);
    const keeper = new Keeper(made.service, file);
    made.service.storage = keeper;
    if (stored !== null) {
      const [fresh, given] = [takeSmall(made.service), textsGiven(settings)];
      for (const name of givenAtStart) if (stored.given[name] !== given[name]) Object.assign(stored, { [name]: fresh[name] });
      restoreState(made.service, stored);
    }
    await keeper.flush();
    return { ...made, closeFile: () => keeper.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}

const givenAtStart = ['faults', 'world', 'unavailable_models'] as const;

function textsGiven({ faults, world, unavailableModels }: SandboxSettings): Record<string, string> {
  const given = { faults, world, unavailable_models: unavailableModels } satisfies Record<(typeof givenAtStart)[number], unknown>;
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, JSON.stringify(value)]));
}

interface Stored extends StateDocument {
  /** Service milliseconds per real millisecond when it was written. */
  speed: number;
  given: Record<string, string>;
}

/** What `#takeChanges` has written. */
function readStored(found: ReadonlyMap<string, unknown>): Stored {
  const itemsOf = (kind: string): [name: string, value: unknown][] =>
    [...found].flatMap(([name, value]) => (name.startsWith(`${kind}/`) ? [[name.slice(kind.length + 1), value]] : []));
  const valuesOf = (kind: string): unknown[] => itemsOf(kind).map(([, value]) => value);
  const calls = valuesOf('calls') as { recorded: number | null; call: StateDocument['calls'][number] }[];
  const recorded = calls.filter((each): each is (typeof calls)[number] & { recorded: number } => each.recorded !== null);
  return {
    ...Object.fromEntries([...found].filter(([name]) => !name.includes('/'))),
    agents: valuesOf('agents'),
    agent_versions: Object.fromEntries(itemsOf('agent_versions')),
    calls: calls.map(({ call }) => call),
    record_order: recorded.sort((a, b) => a.recorded - b.recorded).map(({ call }) => call.callId),
    counters: itemsOf('counters'),
    batches: valuesOf('batches'),
    campaigns: valuesOf('campaigns'),
  } as unknown as Stored;
}

/** Keeps a file in step with the state, one line for all changes since the last. A failure to write fails the answer that waits for it. */
class Keeper implements Storage {
  readonly #service: Service;
  readonly #file: StateFile;
  readonly #timer: NodeJS.Timeout;
  #state: ServiceState | null = null;
  #written = new Map<string, unknown>();
  #accepted = 0;
  #dirtyCalls = new Set<Call>();
  #dirtySeries = new Set<string>();
  #flushing: Promise<void> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(service: Service, file: StateFile) {
    this.#service = service;
    this.#file = file;
    service.callListeners.add((call) => this.#note(call));
    this.#timer = setInterval(() => {
      if (service.clock.speed > 0) this.#wake();
    }, noteTimeEveryMs).unref();
  }

  get path(): string {
    return this.#file.path;
  }

  flush(): Promise<void> {
    this.#flushing ??= nextTurn().then(() => {
      this.#flushing = null;
      this.#write();
    });
    return this.#flushing;
  }

  close(): void {
    if (this.#closed) return;
    clearInterval(this.#timer);
    clearTimeout(this.#idle);
    this.#write();
    this.#closed = true;
    this.#file.close();
  }

  #note(call: Call): void {
    this.#dirtyCalls.add(call);
    this.#wake();
  }

  #wake(): void {
    if (this.#idle !== undefined || this.#closed) return;
    this.#idle = setTimeout(() => {
      this.#idle = undefined;
      // Whoever asks for the next answer is told of a failure.
      this.flush().catch((error: unknown) => process.emitWarning(error instanceof Error ? error : String(error)));
    }, idleWriteMs).unref();
  }

  #write(): void {
    if (this.#closed) return;
    const { state } = this.#service;
    const isWhole = this.#state !== state || this.#file.isLong;
    if (isWhole) this.#beginAnew(state);
    try {
      const changes = this.#takeChanges(state);
      if (changes.length === 0) return;
      const text = `{${changes.join()}}`;
      if (isWhole) this.#file.write(text);
      else this.#file.add(text);
    } catch (error) {
      // How much of it was written is not known: everything is to be written next time.
      this.#state = null;
      throw error;
    }
  }

  #beginAnew(state: ServiceState): void {
    this.#state = state;
    this.#written.clear();
    this.#accepted = 0;
    this.#dirtyCalls = new Set(allCalls(state));
    this.#dirtySeries = new Set(state.counters.keys());
    state.onCount = (series) => {
      this.#dirtySeries.add(series);
    };
    state.conversations.onDelete = (call) => this.#note(call);
  }

  #takeChanges(state: ServiceState): string[] {
    const changes: string[] = [];
    const put = (name: string, text: string): void => {
      changes.push(`${JSON.stringify(name)}:${text}`);
    };
    const putNew = (name: string, value: unknown, text = () => String(value)): void => {
      if (this.#written.get(name) === value) return;
      this.#written.set(name, value);
      put(name, text());
    };
    const { settings, clock } = this.#service;
    const small = { ...takeSmall(this.#service), speed: clock.speed, given: textsGiven(settings) };
    for (const [name, value] of Object.entries(small)) putNew(name, JSON.stringify(value));
    for (const batch of state.batches.values()) putNew(`batches/${batch.batchId}`, JSON.stringify(writeBatch(batch)));
    for (const campaign of state.campaigns.values()) putNew(`campaigns/${campaign.campaignId}`, JSON.stringify(writeCampaign(campaign)));
    for (const [position, agentId] of state.agentOrder.entries()) {
      const agent = state.agents.get(agentId) ?? null;
      putNew(`agents/${position}`, agent, () => JSON.stringify({ agentId, agent }));
    }
    // New ones first, for their order is that in which they were accepted.
    for (const call of new Set([...state.calls.slice(this.#accepted), ...this.#dirtyCalls])) {
      const { agent } = call;
      const version = agent && agentKey(agent);
      if (version !== null) putNew(`agent_versions/${version}`, version, () => JSON.stringify(agent));
      const recorded = state.conversations.positionOf(call);
      put(`calls/${call.callId}`, JSON.stringify({ recorded, call: writeCall(call) }));
    }
    for (const series of this.#dirtySeries) put(`counters/${series}`, String(state.counters.get(series) ?? 0));
    this.#accepted = state.calls.length;
    this.#dirtyCalls.clear();
    this.#dirtySeries.clear();
    return changes;
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Service, Storage } from '../core/service/service.ts';
import type { Agent } from '../core/state/agent.ts';
import type { ServiceState } from '../core/state/service-state.ts';
import type { Call } from '../core/state/call.ts';
import { agentKey, writeCall } from './call-document.ts';
import type { DataFile, Row, RowChange } from './data-file.ts';
import { writeWhole } from './stored-rows.ts';

/** Real milliseconds until what happens by itself is written. */
const idleWriteMs = 50;
/** Real milliseconds between two notes of the time, where time passes by itself. */
const noteTimeEveryMs = 1_000;

/** What of the state is in the file. */
function nothingWritten() {
  return {
    agents: [] as (Agent | null)[],
    versions: new Set<string>(),
    positions: new Map<Call, number>(),
    /** Rows that are small and written whole, as they were last. */
    whole: new Map<string, string>(),
  };
}

/**
 * Keeps the file in step with the state: everything that has changed since the last time goes into one transaction. A failure
 * to write fails the flush, and with it the answer that waits for it.
 */
export class WriteBehind implements Storage {
  readonly #service: Service;
  readonly #file: DataFile;
  readonly #timer: NodeJS.Timeout;
  #state: ServiceState | null = null;
  #dirtyCalls = new Set<Call>();
  #dirtySeries = new Set<string>();
  #written = nothingWritten();
  #flushing: Promise<void> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(service: Service, file: DataFile) {
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

  /** All that ask in one turn share a transaction. */
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
    const fromScratch = this.#state !== state;
    if (fromScratch) this.#follow(state);
    let whole: Row[];
    try {
      const changes = [...this.#agentChanges(state), ...this.#callChanges(state), ...this.#counterChanges(state)];
      whole = writeWhole(this.#service);
      for (const row of whole) if (this.#written.whole.get(`${row.kind} ${row.key}`) !== row.text) changes.push(row);
      if (changes.length > 0) this.#file.write(changes, fromScratch);
    } catch (error) {
      // Nothing of it was written: everything is to be written next time.
      this.#state = null;
      throw error;
    }
    for (const { kind, key, text } of whole) this.#written.whole.set(`${kind} ${key}`, text);
    this.#dirtyCalls.clear();
    this.#dirtySeries.clear();
  }

  #follow(state: ServiceState): void {
    this.#state = state;
    this.#written = nothingWritten();
    this.#dirtyCalls = new Set([...state.calls, ...state.conversations.everything]);
    this.#dirtySeries = new Set(state.counters.keys());
    state.onCount = (series) => {
      this.#dirtySeries.add(series);
    };
    state.conversations.onDelete = (call) => this.#note(call);
  }

  #agentChanges({ agentOrder, agents }: ServiceState): RowChange[] {
    const changes: RowChange[] = [];
    for (const [position, agentId] of agentOrder.entries()) {
      const agent = agents.get(agentId) ?? null;
      if (this.#written.agents[position] === agent) continue;
      this.#written.agents[position] = agent;
      changes.push({ kind: 'agent', key: String(position), text: JSON.stringify({ agentId, agent }) });
    }
    return changes;
  }

  #callChanges(state: ServiceState): RowChange[] {
    const changes: RowChange[] = [];
    for (let position = this.#written.positions.size; position < state.calls.length; position += 1) {
      const call = state.calls[position];
      if (call === undefined) break;
      this.#written.positions.set(call, position);
      this.#dirtyCalls.add(call);
    }
    for (const call of this.#dirtyCalls) {
      if (call.agent !== null) {
        const version = agentKey(call.agent);
        if (!this.#written.versions.has(version))
          changes.push({ kind: 'version', key: version, text: JSON.stringify(call.agent) });
        this.#written.versions.add(version);
      }
      const accepted = this.#written.positions.get(call) ?? null;
      const recorded = state.conversations.positionOf(call);
      // Calls of a state that was replaced meanwhile are of no consequence.
      if (accepted === null && recorded === null) continue;
      changes.push({
        kind: 'call',
        key: call.callId,
        text: JSON.stringify({ accepted, recorded, call: writeCall(call) }),
      });
    }
    return changes;
  }

  #counterChanges({ counters }: ServiceState): RowChange[] {
    return [...this.#dirtySeries].map((series) => ({
      kind: 'counter',
      key: series,
      text: String(counters.get(series) ?? 0),
    }));
  }
}

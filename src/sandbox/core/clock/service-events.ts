import { EventEmitter } from 'node:events';

export type ServiceEventType = 'call' | 'batch' | 'request' | 'fault' | 'agent' | 'number' | 'clock' | 'state';

export interface ServiceEvent {
  readonly id: number;
  readonly type: ServiceEventType;
  /** Epoch ms of service time. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

const longestRing = 5_000;

export class ServiceEvents {
  readonly #emitter = new EventEmitter<{ event: [ServiceEvent] }>().setMaxListeners(0);
  readonly #ring: ServiceEvent[] = [];
  #last = 0;

  emit(type: ServiceEventType, at: number, data: Record<string, unknown>): void {
    const event: ServiceEvent = { id: (this.#last += 1), type, at, data };
    this.#ring[event.id % longestRing] = event;
    this.#emitter.emit('event', event);
  }

  get lastId(): number {
    return this.#last;
  }

  get listeners(): number {
    return this.#emitter.listenerCount('event');
  }

  /** Events after `id`, oldest first, and how many of them were already dropped. An unknown id counts as the last. */
  since(id: number): { events: ServiceEvent[]; missed: number } {
    const first = Math.max(1, this.#last - longestRing + 1);
    const from = Math.max(first, id + 1);
    const events: ServiceEvent[] = [];
    for (let next = from; next <= this.#last; next += 1) {
      const event = this.#ring[next % longestRing];
      if (event?.id === next) events.push(event);
    }
    return { events, missed: Math.max(0, from - id - 1) };
  }

  listen(listener: (event: ServiceEvent) => void): () => void {
    this.#emitter.on('event', listener);
    return () => this.#emitter.off('event', listener);
  }
}

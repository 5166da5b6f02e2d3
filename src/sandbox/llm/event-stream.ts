import { ModelFailure } from './model-failure.ts';

export interface StreamEvent {
  /** `message` when the sender named none. */
  event: string;
  data: string;
}

const knownFields = new Set(['data', 'event', 'id', 'retry']);

/** Reads server-sent events from text that arrives in pieces cut anywhere, with any of the three line ends. */
export class EventStreamReader {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #first = true;

  /** Events that are complete with this piece. Throws `ModelFailure` for a line that is no field of an event stream. */
  push(piece: string): StreamEvent[] {
    this.#rest += piece;
    if (this.#first && this.#rest !== '') {
      this.#first = false;
      if (this.#rest.startsWith('\uFEFF')) this.#rest = this.#rest.slice(1);
    }
    const events: StreamEvent[] = [];
    for (;;) {
      const end = this.#rest.search(/[\r\n]/);
      // A carriage return at the end may be half of a line end.
      if (end === -1 || (this.#rest[end] === '\r' && end === this.#rest.length - 1)) return events;
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
      const event = this.#take(line);
      if (event !== null) events.push(event);
    }
  }

  /** What was not closed by an empty line when the stream ended: some senders leave it out. */
  end(): StreamEvent[] {
    const last = this.#rest.replace(/\r$/, '');
    this.#rest = '';
    const events = [last === '' ? null : this.#take(last), this.#take('')];
    return events.filter((event) => event !== null);
  }

  #take(line: string): StreamEvent | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return null;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (!knownFields.has(field)) throw new ModelFailure('malformed', 'the stream has a line that is no field of an event (data: …)');
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value;
    return null;
  }

  #dispatch(): StreamEvent | null {
    const event = { event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') };
    const hasData = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return hasData ? event : null;
  }
}

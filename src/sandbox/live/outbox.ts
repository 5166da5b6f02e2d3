import type { WebSocket } from 'ws';
import { serverEvent, type ServerEvents, type ServerEventType } from './server-events.ts';

/** No more than this much of a stream is handed to the connection ahead of the client. */
const streamAheadBytes = 256 * 1024;

/** The way to one client. What a client does not read is held up to a limit, beyond which the client is given up. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #maxUnsentBytes: number;
  readonly #giveUp: () => void;
  #wants: (type: ServerEventType) => boolean = () => true;
  #givenUp = false;

  constructor(socket: WebSocket, maxUnsentBytes: number, giveUp: () => void) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#giveUp = giveUp;
  }

  /** Events that the agent's settings leave out are dropped from now on. */
  filter(wants: (type: ServerEventType) => boolean): void {
    this.#wants = wants;
  }

  wants(type: ServerEventType): boolean {
    return this.#wants(type);
  }

  /** `sent` is called once the connection has taken the event, which may be never. */
  send<Type extends ServerEventType>(type: Type, facts: ServerEvents[Type], sent?: () => void): void {
    if (!this.#wants(type) || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(serverEvent(type, facts), () => sent?.());
    if (this.#socket.bufferedAmount <= this.#maxUnsentBytes || this.#givenUp) return;
    this.#givenUp = true;
    this.#giveUp();
  }

  /** Whether a stream may go on. */
  get takesMore(): boolean {
    return this.#socket.bufferedAmount < Math.min(streamAheadBytes, this.#maxUnsentBytes / 2);
  }
}

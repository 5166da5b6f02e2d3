import type { WebSocket } from 'ws';
import type { Service } from '../core/service/service.ts';
import { createMessageReader, type ClientMessage, ClientMistake } from './client-messages.ts';
import { Session } from './session.ts';
import type { ModelCaller } from '../llm/model-caller.ts';
import type { Admission } from './socket-call.ts';

export class SocketSessions {
  readonly #service: Service;
  readonly #modelCaller: ModelCaller;
  readonly #open = new Set<Session>();
  readonly #readMessage: (frame: string) => ClientMessage | null;

  constructor(service: Service, modelCaller: ModelCaller) {
    this.#service = service;
    this.#modelCaller = modelCaller;
    const { dialect, loose } = service.settings;
    this.#readMessage = createMessageReader({ dialect, loose });
    service.callListeners.add((call, change) => {
      if (change !== 'redirected' || call.channel === undefined || call.channel === 'phone') return;
      const session = [...this.#open].find((each) => each.call === call);
      session?.end({ reason: call.course?.terminationReason ?? '', code: 1000 });
    });
  }

  get size(): number {
    return this.#open.size;
  }

  hold(socket: WebSocket, admission: Admission): void {
    const { scheduler, clock, settings } = this.#service;
    const session = new Session({
      service: this.#service,
      modelCaller: this.#modelCaller,
      socket,
      admission,
      readMessage: this.#readMessage,
      over: (ended) => this.#open.delete(ended),
    });
    this.#open.add(session);
    const { maxMessagesPerSecond } = settings.sockets;
    const mayCome = messageLimit(maxMessagesPerSecond);
    socket.on('message', (data: Buffer, isBinary) => {
      scheduler.runDue();
      if (!mayCome(clock.realNow()))
        session.fail(new ClientMistake('rate_limit_exceeded', `More than ${maxMessagesPerSecond} messages came within a second.`));
      else if (isBinary)
        session.fail(new ClientMistake('invalid_message', 'Binary frames are not understood; send audio as user_audio_chunk.'));
      else session.receive(data.toString('utf8'));
      scheduler.runDue();
    });
    socket.on('close', (code) => session.disconnected(code));
    // What went wrong with the connection itself: it closes, with a code of its own.
    socket.on('error', () => undefined);
    session.open();
  }

  stop(reason: string): void {
    for (const session of this.#open) session.end({ reason, code: 1001 });
  }
}

/** Whether one more message may come within the present second of the machine's time. */
function messageLimit(most: number): (now: number) => boolean {
  let second = 0;
  let count = 0;
  return (now) => {
    const present = Math.floor(now / 1_000);
    if (present !== second) [second, count] = [present, 0];
    count += 1;
    return count <= most;
  };
}

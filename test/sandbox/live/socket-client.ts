import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import type { Json, TestSandbox } from '../harness.ts';

export interface SocketClient {
  readonly socket: WebSocket;
  readonly events: Json[];
  /** Those of one type so far. */
  heard(type: string): Json[];
  /** The next event of a type that was not asked for yet. */
  next(type: string): Promise<Json>;
  send(message: Json): void;
  readonly closed: Promise<{ code: number; reason: string }>;
  settle(): Promise<void>;
}

export async function signedUrl(sandbox: TestSandbox, agentId: string): Promise<string> {
  const { body } = await sandbox.get(`/v1/convai/conversation/get-signed-url?agent_id=${agentId}`);
  return body.signed_url;
}

type ConnectOptions = ClientOptions & {
  protocols?: string[];
  answersPings?: boolean;
};

/** As a browser would; closed after the test. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<SocketClient> {
  const { protocols = ['convai'], answersPings = true, ...more } = options;
  const socket = new WebSocket(url, protocols, more);
  onTestFinished(() => socket.terminate());
  const events: Json[] = [];
  const waiting = new Set<() => void>();
  const taken = new Map<string, number>();
  const wake = (): void => waiting.forEach((look) => look());
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString('utf8'));
    events.push(event);
    if (event.type === 'ping' && answersPings) socket.send(JSON.stringify({ type: 'pong', event_id: event.ping_event.event_id }));
    wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return {
    socket,
    events,
    heard: (wanted) => events.filter(({ type }) => type === wanted),
    closed,
    next: (type) =>
      new Promise((resolve, reject) => {
        const nth = taken.get(type) ?? 0;
        taken.set(type, nth + 1);
        const look = (): void => {
          const found = events.filter((event) => event.type === type)[nth];
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        void closed.then(({ code, reason }) => reject(new Error(`closed with ${code} ${reason} before ${type} came`)));
        look();
      }),
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    settle: async () => {
      if (socket.readyState !== WebSocket.OPEN) return;
      const pong = once(socket, 'pong');
      socket.ping();
      await Promise.race([pong, closed]);
    },
  };
}

interface Conversation extends SocketClient {
  readonly conversationId: string;
  record(): Promise<Json>;
}

export async function converse(
  sandbox: TestSandbox,
  agentId: string,
  initiation: Json = {},
  options: ConnectOptions = {},
): Promise<Conversation> {
  const client = await connect(await signedUrl(sandbox, agentId), options);
  client.send({ type: 'conversation_initiation_client_data', ...initiation });
  const { conversation_initiation_metadata_event: metadata } = await client.next('conversation_initiation_metadata');
  const conversationId: string = metadata.conversation_id;
  return { ...client, conversationId, record: () => sandbox.read(`/v1/convai/conversations/${conversationId}`) };
}

/** Its agent has finished the first message. */
export async function listening(sandbox: TestSandbox, agentId = 'agent_reminders', initiation: Json = {}): Promise<Conversation> {
  const client = await converse(sandbox, agentId, initiation);
  await client.next('audio');
  await pass(sandbox, 4_000);
  return client;
}

/** The event that says why, and how the connection was closed. */
export async function turnedAway(url: string, options: ClientOptions = {}): Promise<{ code: number; reason: string; error: Json }> {
  const { closed, events } = await connect(url, options);
  const close = await closed;
  if (events.length !== 1) throw new Error(`there came ${events.length} events instead of one`);
  return { ...close, error: events[0].error_event };
}

/** What it was answered over HTTP instead. */
export async function refusal(url: string, options: ClientOptions = {}): Promise<{ status: number; body: Json; headers: Json }> {
  const socket = new WebSocket(url, 'convai', options);
  onTestFinished(() => socket.terminate());
  socket.on('error', () => undefined);
  const answered = once(socket, 'unexpected-response').then(([, response]) => response as IncomingMessage);
  const opened = once(socket, 'open').then(() => {
    throw new Error('the connection was accepted');
  });
  const response = await Promise.race([answered, opened]);
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, body: JSON.parse(text), headers: response.headers };
}

/** In steps, so that nothing answered in between is overdue. */
export async function pass(sandbox: TestSandbox, ms: number, stepMs = ms): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    sandbox.clock.advance(Math.min(stepMs, left));
    await sandbox.get('/_sandbox/health');
  }
}

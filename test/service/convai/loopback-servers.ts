import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createConvaiClient, type ConvaiClient } from '../../../src/service/convai/client.ts';
import type { ConvaiClientOptions } from '../../../src/service/convai/connection.ts';

export const testKey = 'sk_unit_5f1d9c_secret';

export interface SeenRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface HttpService {
  baseUrl: string;
  seen: SeenRequest[];
  connections: () => number;
}

/** A real HTTP server on a free port, stopped when the test ends. `respond` gets the number of the request from 1. */
export async function startHttpService(
  respond: (response: ServerResponse, request: SeenRequest, nth: number) => void,
): Promise<HttpService> {
  const seen: SeenRequest[] = [];
  let connections = 0;
  const server = createHttpServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const request = { method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, body };
      seen.push(request);
      respond(response, request, seen.length);
    });
  });
  server.on('connection', () => (connections += 1));
  return { baseUrl: await listen(server), seen, connections: () => connections };
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

/** A call, and a request to place it. */
export const dial = { agent_id: 'a', from_phone_number_id: 'p', calls: [{ to_phone_number: '+12125550101' }] };
export const placeOne = (client: ConvaiClient) => client.placeBatchCalls(dial, { requestId: 'b/1', mayBegin: () => true });

/** What changes something at the service, by method. */
export const changes: [method: string, change: (client: ConvaiClient) => Promise<unknown>][] = [
  ['POST', (client) => client.createAgent({ name: 'a' })],
  ['PATCH', (client) => client.updateAgent('a', {})],
  ['DELETE', (client) => client.deleteAgent('a')],
];

export interface RawService {
  baseUrl: string;
  /** Everything received, one entry per connection. */
  received: string[];
  /** Resolves when the nth connection (from 0) was closed. */
  closed: (nth: number) => Promise<void>;
}

/** A TCP server on a free port; `serve` runs once per connection, at its first bytes. */
export async function startRawService(serve: (socket: Socket, received: string) => void): Promise<RawService> {
  const received: string[] = [];
  const closings: PromiseWithResolversOf<void>[] = [];
  const closing = (nth: number) => (closings[nth] ??= withResolvers<void>());
  const server = createTcpServer((socket) => {
    const nth = received.push('') - 1;
    socket.on('error', () => undefined);
    socket.on('close', () => closing(nth).resolve());
    socket.on('data', (chunk) => {
      const isFirst = received[nth] === '';
      received[nth] += chunk.toString('latin1');
      if (isFirst) serve(socket, received[nth] ?? '');
    });
  });
  return { baseUrl: await listen(server), received, closed: (nth) => closing(nth).promise };
}

/** An address on which nothing listens. */
export async function deadBaseUrl(): Promise<string> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** A client that is closed when the test ends. It repeats nothing after 429 unless the test sets that. */
export function clientOf(baseUrl: string, options: Partial<ConvaiClientOptions> = {}): ConvaiClient {
  const client = createConvaiClient({
    baseUrl,
    apiKey: testKey,
    readsPerSecond: 1000,
    retriesAfter429: { reads: 0 },
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

/** What a promise is rejected with; fails the test when it is fulfilled. */
export async function rejectionOf<Failure extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => Failure,
): Promise<Failure> {
  const result = await promise.then(
    (value) => new Error(`fulfilled with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  if (result instanceof type) return result;
  throw new Error(`expected a ${type.name}`, { cause: result });
}

interface PromiseWithResolversOf<Value> {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
}

function withResolvers<Value>(): PromiseWithResolversOf<Value> {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

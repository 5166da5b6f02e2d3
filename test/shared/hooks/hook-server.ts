import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface HookCall {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: { event: string; recipients?: { ref: string; phone: string; id: string | null; row: number }[] } & Record<string, unknown>;
}

export type HookAnswer = (response: ServerResponse, call: HookCall) => unknown;

/** A hook on this machine, as somebody would run it. */
export interface HookServer {
  readonly url: string;
  readonly calls: HookCall[];
  answerWith(answer: HookAnswer): void;
  stop(): Promise<void>;
  startAgain(): Promise<void>;
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Says yes to everybody who is asked about. */
export const allowAll: HookAnswer = (response, { body }) =>
  sendJson(response, { recipients: (body.recipients ?? []).map(({ ref }) => ({ ref, eligible: true })) });

/** `atEnd`: when it is stopped for good; default: when the test that runs has finished. */
export async function startHookServer(
  answer: HookAnswer = allowAll,
  atEnd: (stop: () => Promise<void>) => void = onTestFinished,
): Promise<HookServer> {
  const calls: HookCall[] = [];
  let current = answer;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const call = {
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: JSON.parse(text) as HookCall['body'],
    };
    calls.push(call);
    await current(response, call);
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer((request, response) => void serve(request, response));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  let server: Server | null = await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    const running = server;
    server = null;
    if (running === null) return;
    const closed = once(running, 'close');
    running.close();
    running.closeAllConnections();
    await closed;
  };
  atEnd(stop);
  return {
    url: `http://127.0.0.1:${port}/hook?token=planted`,
    calls,
    answerWith: (next) => {
      current = next;
    },
    stop,
    startAgain: async () => {
      server = await listen(port);
    },
  };
}

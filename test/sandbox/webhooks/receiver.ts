import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Json } from '../harness.ts';

export interface Received {
  headers: IncomingHttpHeaders;
  raw: string;
  body: Json;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** Status of the answers from now on; by body where it matters. */
  answer: (request: Received) => number | Promise<number>;
  /** Senders that left before the answer. */
  cutOff: number;
}

/** Until the test ends; the first get these statuses. */
export async function startReceiver(...statuses: number[]): Promise<Receiver> {
  const receiver: Receiver = { url: '', received: [], answer: () => statuses.shift() ?? 200, cutOff: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableEnded) receiver.cutOff += 1;
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      const received = { headers: request.headers, raw, body: JSON.parse(raw) };
      receiver.received.push(received);
      void Promise.resolve(receiver.answer(received)).then((status) =>
        response.writeHead(status, status === 302 ? { location: `${receiver.url}/elsewhere` } : {}).end('ignored'),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}

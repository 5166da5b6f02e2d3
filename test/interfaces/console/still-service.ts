import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A second at this speed moves no whole millisecond. */
const speed = 1e-9;

/** A sandbox that tells its clock and nothing else: it stands still at this instant of service time. Answers its address. */
export async function startStillService(at: number): Promise<string> {
  const clock = { speed, anchorRealMs: Date.now(), anchorServiceMs: at };
  const server = createServer((request, response) => {
    const known = request.url === '/_sandbox/health';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json', 'x-sandbox': '1' });
    response.end(known ? JSON.stringify({ sandbox: true, dialect: 'spec', clock }) : '{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A second at this speed moves no whole millisecond. */
const speed = 1e-9;

/** What was said in every call. */
const record = {
  audio: 'https://recordings.example/1.wav',
  transcript: [
    {
      speaker: 'agent',
      text: 'Good morning. Is your appointment on Thursday at ten still good for you?',
      time_in_call_secs: 2,
    },
    { speaker: 'user', text: 'Yes.', time_in_call_secs: 9 },
    { speaker: 'agent', text: `A${'h'.repeat(90)}, see you then!`, time_in_call_secs: 11 },
  ],
};

/** A sandbox that tells its clock and what was said, and nothing else: it stands still at this instant. Answers its address. */
export async function startStillService(at: number): Promise<string> {
  const clock = { speed, anchorRealMs: Date.now(), anchorServiceMs: at };
  const server = createServer((request, response) => {
    const health = { sandbox: true, dialect: 'spec', clock };
    const isCall = request.url?.startsWith('/v1/convai/conversations/') ?? false;
    const known = request.url === '/_sandbox/health' ? health : isCall ? record : null;
    response.writeHead(known === null ? 404 : 200, { 'content-type': 'application/json', 'x-sandbox': '1' });
    response.end(JSON.stringify(known ?? {}));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

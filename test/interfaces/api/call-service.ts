import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { until } from '../../support/until.ts';
import { actsIn } from './api-world.ts';

export const serviceKey = 'sk_of_this_test';

export async function serve(answer: (path: string, response: ServerResponse, headers: IncomingHttpHeaders) => void) {
  const asked: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ path: url, headers });
    answer(url, response, headers);
  }).listen(0, '127.0.0.1');
  await until('it listens', () => server.listening);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** One call of campaign `spring` has ended, with its record and recording at a service. `settings`: its connection. */
export async function recordOneCall(
  record: (url: string) => object | null,
  audio?: (response: ServerResponse, headers: IncomingHttpHeaders) => void,
) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store);
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', numbers(1)[0] ?? '', noon + 5_000)]);
  const service = await serve((path, response, headers) => {
    if (path.endsWith('.wav')) return audio?.(response, headers);
    const found = path === '/v1/convai/conversations/conv_1' ? record(service.url) : null;
    response.writeHead(found === null ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: { message: 'no such conversation' } }));
  });
  return { store, scenario, service, acts: () => actsIn(store), settings: { SVC_BASE_URL: service.url, SVC_API_KEY: serviceKey } };
}

import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { Drive } from '../activities/mixes/drive-campaign.ts';
import { quietMix } from '../activities/mixes/quiet-mix.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';

/** Of the connection, not of the request. */
const ownToConnection = new Set(['host', 'connection']);

/** One line of each request to the service in this process: everything that it could act on. */
function recordRequests(): string[] {
  const lines: string[] = [];
  const record = (message: unknown): void => {
    const { request } = message as { request: IncomingMessage };
    if (request.url?.startsWith('/v1/') !== true) return;
    const headers = Object.entries(request.headers).filter(([name]) => !ownToConnection.has(name));
    const shown = headers.map(([name, value]) => `${name}: ${name === 'x-api-key' ? '[redacted]' : String(value)}`);
    const head = [`${String(request.method)} ${request.url}`, ...shown, ''].join(' | ');
    const nth = lines.push(head) - 1;
    // Listening for data would take it from the sandbox.
    request.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
      if (chunk !== null) lines[nth] += String(chunk);
      return IncomingMessage.prototype.push.call(request, chunk, encoding);
    };
  };
  subscribe('http.server.request.start', record);
  onTestFinished(() => void unsubscribe('http.server.request.start', record));
  return lines;
}

/** Records are read several at once: which of them is asked for first is left to the machine. */
function inOrder(lines: readonly string[]): string[] {
  const isRead = (line: string | undefined) => line?.startsWith('GET /v1/convai/conversations/') === true;
  const runs: string[][] = [];
  for (const line of lines) {
    const run = runs.at(-1);
    if (isRead(line) && isRead(run?.[0])) run?.push(line);
    else runs.push([line]);
  }
  return runs.flatMap((run) => run.sort());
}

test('a campaign with a refusal of rate, a lost reply and a partial batch asks the service byte for byte what was recorded', async () => {
  const numbers = Array.from({ length: 12 }, (_, index) => `+121255501${String(index + 10)}`);
  const rules = buildRules({
    pacing: { batchSize: 3, maxConcurrentCalls: 6, refillThreshold: 1 },
    retry: { maxAttempts: 2 },
    timing: { pollMs: 60_000, settleMs: 5 * 60_000 },
  });
  const lines = recordRequests();
  const mix = quietMix({
    seed: 'recorded requests',
    sandbox: { dialect: 'extended' },
    campaigns: [{ campaignId: 'first', rules, rows: buildRows(numbers, (index) => `Guest ${String(index)}`) }],
    faults: [
      { id: 'limited', operation: 'batch_calls', nth: 2, effect: { type: 'rate_limited', seconds: 60 } },
      { id: 'lost', operation: 'batch_calls', nth: 4, effect: { type: 'reset', when: 'after' } },
      { id: 'partial', operation: 'batch_calls', nth: 5, effect: { type: 'partial', accept: 2 } },
      { id: 'list', operation: 'list_conversations', nth: 6, effect: { type: 'error', status: 500, when: 'before' } },
    ],
  });
  const { proven, faults, trial } = await new Drive(mix).run();
  expect([...proven, ...faults]).toEqual([]);
  expect(new Set(trial.ledger.posts.map(({ verdict }) => verdict))).toEqual(new Set(['confirmed', 'not_sent', 'refused', 'unknown']));
  // The ledger names itself by chance.
  const text = inOrder(lines)
    .join('\n')
    .replaceAll(/[0-9a-f]{12}:first/g, '<ledger>:first');
  await expect(`${text}\n`).toMatchFileSnapshot('recorded-requests.txt');
});

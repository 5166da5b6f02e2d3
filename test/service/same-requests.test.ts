import { expect, test } from 'vitest';
import { fetch } from 'undici';
import { Drive } from '../activities/mixes/drive-campaign.ts';
import { quietMix } from '../activities/mixes/quiet-mix.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';

interface Asked {
  method: string;
  path: string;
  request: { headers: { name: string; value: string }[]; text: string | null };
}

/** Of the connection, not of the request. */
const ownToConnection = new Set(['host', 'connection']);

/** One line of a request: everything that the service could act on. */
function lineOf({ method, path, request }: Asked): string {
  const headers = request.headers.filter(({ name }) => !ownToConnection.has(name));
  return [`${method} ${path}`, ...headers.map(({ name, value }) => `${name}: ${value}`), request.text ?? ''].join(' | ');
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
  let lines: string[] = [];
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
    async atEnd({ url }) {
      const told = await (await fetch(`${url}/_sandbox/journal?format=ndjson`)).text();
      lines = told
        .trim()
        .split('\n')
        .map((line) => lineOf(JSON.parse(line) as Asked));
    },
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

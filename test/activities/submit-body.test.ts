import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createActivities } from '../../activities/index.ts';
import { campaignRules, readCampaignFile } from '../../src/campaign/file/file.ts';
import { readHeader } from '../../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../../src/list/recipients.ts';
import { createConvaiClient } from '../../src/service/convai/client.ts';
import { readServiceClock } from '../../src/service/convai/read-clock.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { openRound } from '../../src/ledger/campaign/rounds.ts';
import { buildDependencies } from '../support/activity-dependencies.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { dialects } from '../ledger/test-stores.ts';
import { startWorld, type ClockWorker } from './clock-world.ts';
import type { Store } from '../../src/ledger/tx.ts';

async function submitFirst(yaml: string, list: string): Promise<{ body: unknown; openingLines: (string | null)[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-submit-'));
  const sandbox = await startSandbox({});
  const store = await openStore({ sqlitePath: join(folder, 'ledger.db') });
  const bodies: unknown[] = [];
  const client = createConvaiClient({ baseUrl: sandbox.url, apiKey: 'sk_sandbox_ok' });
  const placeBatchCalls: typeof client.placeBatchCalls = (body, options) => {
    bodies.push(JSON.parse(JSON.stringify(body)));
    return client.placeBatchCalls(body, options);
  };
  try {
    await writeFile(join(folder, 'campaign.yaml'), yaml);
    await writeFile(join(folder, 'list.csv'), list);
    const clock = await readServiceClock(sandbox.url, 5_000);
    const now = Math.round(clock.now());
    const file = await readCampaignFile(join(folder, 'campaign.yaml'));
    const header = await readHeader(file);
    const rules = campaignRules(file, header.columns, now);
    const input = { campaignId: 'test', name: null, fileHash: 'hash', rules, accountId: sandbox.url };
    await importCampaign(store, input, { chunks: readRecipients(file, header, rules), now });
    await openRound(store, 'test', now);
    const { plan, submit } = createActivities(
      buildDependencies({
        store,
        client: { ...client, placeBatchCalls },
        accountId: sandbox.url,
        serviceClock: clock,
        now: Date.now,
      }),
    );
    const planned = await plan({ campaignId: 'test', round: 1, batchNumber: 1 });
    if (planned.kind !== 'batch') throw new Error(`planned ${planned.kind}`);
    expect(await submit({ batchId: planned.batchId })).toMatchObject({ kind: 'verdict', state: 'confirmed' });
    const attempts = await store.db.selectFrom('attempts').select('opening_line').orderBy('attempt_id').execute();
    return { body: bodies[0], openingLines: attempts.map((attempt) => attempt.opening_line) };
  } finally {
    await client.close();
    await store.close();
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}

const head = `id: test
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: list.csv, phone: phone }
hours: any
law: off
`;
const list = 'First Name,phone\nAna,+12125550101\nBen,+12125550102\n';

test('settings of the conversation reach the request, filled in for each call', async () => {
  const { body, openingLines } = await submitFirst(
    `${head}conversation_config_override:
  agent: { first_message: "Hello {{ first_name }}", prompt: { prompt: "You call {{ first_name }}." }, llm: { temperature: 0.5 } }
`,
    list,
  );
  const settings = (name: string) => ({
    agent: { prompt: { prompt: `You call ${name}.` }, llm: { temperature: 0.5 }, first_message: `Hello ${name}` },
  });
  expect(body).toMatchObject({
    calls: [
      { to_phone_number: '+12125550101', conversation_config_override: settings('Ana') },
      { to_phone_number: '+12125550102', conversation_config_override: settings('Ben') },
    ],
  });
  // The first spoken words distinguish calls, wherever they were written.
  expect(openingLines).toEqual(['Hello Ana', 'Hello Ben']);
});

test('settings stand beside the short form of the opening line, and without one there is none', async () => {
  const settings = 'conversation_config_override: { agent: { prompt: { prompt: "You call {{ first_name }}." } } }\n';
  const both = await submitFirst(`${head}first_message: "Hello {{ first_name }}"\n${settings}`, list);
  expect(both.body).toMatchObject({
    calls: [{ conversation_config_override: { agent: { first_message: 'Hello Ana', prompt: { prompt: 'You call Ana.' } } } }, {}],
  });
  const alone = await submitFirst(`${head}shared_words: unresolved\n${settings}`, list);
  expect(alone.body).toMatchObject({ calls: [{}, {}] });
  expect(JSON.stringify(alone.body)).not.toContain('first_message');
  expect(alone.openingLines).toEqual([null, null]);
});

/** Longer than a request may begin after its dial transaction. */
const tooLongMs = 11_000;

const clocks = [
  {
    seen: 'by the clock that never jumps, while the wall clock was set back',
    realMs: tooLongMs,
    setMs: -tooLongMs,
  },
  { seen: 'by the wall clock alone', realMs: 0, setMs: tooLongMs },
];

/** Its permission for a request comes late. */
function answeringLate(store: Store, standStill: () => void): Store {
  return {
    ...store,
    transaction: async (work) => {
      const result = await store.transaction(work);
      if ((result as { kind?: unknown } | undefined)?.kind === 'post') standStill();
      return result;
    },
  };
}

const moments = ['in its dial transaction', 'before it builds the body', 'once it has built the body'] as const;
const cases = dialects.flatMap((dialect) => moments.flatMap((moment) => clocks.map((clock) => ({ dialect, moment, ...clock }))));

test.for(cases)('a process that stands still before its request sends nothing: $moment, seen $seen: $dialect', async (given) => {
  const world = await startWorld();
  const store = await openCleanStore(given.dialect);
  await world.import(store);
  const standStill = () => {
    world.real += given.realMs;
    worker.aheadMs += given.setMs;
  };
  const isAsked = given.moment === moments[0];
  const worker: ClockWorker = world.worker(isAsked ? answeringLate(store, standStill) : store);
  if (given.moment === moments[1]) worker.beforePost = standStill;
  if (given.moment === moments[2]) worker.bodyBuilt = standStill;
  expect(await worker.dial(1)).toContain('NotSent');
  expect(world.sandbox.calls()).toEqual([]);
});

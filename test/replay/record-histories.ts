/**
 * Records the histories for replay.test.ts after a deliberate change of the workflow: `npx tsx test/replay/record-histories.ts drained`;
 * without a name all; `--traced`: campaigns with spans. Branches.ts adds what a sandbox does not do.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { readConfig } from '../../src/shared/config.ts';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import { defaultRetryDelays } from '../../src/rules/attempts/retry-schedule.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { connectTemporal, connectTemporalNative } from '../../src/temporal/connection.ts';
import { startDevServer } from '../../src/temporal/dev-server.ts';
import { startCampaign } from '../../src/temporal/start-campaign.ts';
import { traceCampaigns } from '../../src/temporal/traces.ts';
import { startWorker } from '../../src/temporal/worker.ts';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { buildRules, minuteMs } from '../support/campaign-rules.ts';
import { recordBranches } from './branches.ts';
import { cancelUpdate, drainUpdate, lookAgainUpdate, pauseUpdate, resumeUpdate } from '../../workflows/messages.ts';
import type { ImportRow } from '../../src/ledger/campaign/row-hash.ts';

const rules = buildRules({
  list: { ...buildRules().list, columns: ['phone'] },
  firstMessage: null,
  variables: { key: 'variables', values: {}, reference: 'carillon_ref' },
  retry: {
    maxAttempts: 2,
    delays: { ...defaultRetryDelays, busy: [5 * minuteMs], no_answer: [15 * minuteMs], voicemail: 'never' },
    maxUncounted: 1,
  },
  pacing: { maxConcurrentCalls: 10, batchSize: 5, refillThreshold: 3 },
  optOut: [],
  timing: { settleMs: 30 * minuteMs },
});

async function* rowsOf(count: number, areaCode: string): AsyncGenerator<ImportRow[]> {
  yield Array.from({ length: count }, (_, index) => {
    const line = [100, 101, 102, 103, 104, 106, 108, 110][index % 8] ?? 100;
    const e164 = `+1${Number(areaCode) + Math.floor(index / 8)}5550${line}`;
    const place = { zones: [], country: 'US', regions: null };
    return { row: index + 1, cells: [e164], verdict: 'accepted' as const, externalId: null, e164, ...place };
  });
}

const sandbox = await startSandbox({
  port: 0,
  speed: 300,
  seed: 7,
  faults: [{ operation: 14, nth: 2, effect: { type: 'rate_limited', retryAfter: 'seconds', seconds: 30 } }],
});
const server = await startDevServer({ config: readConfig(), ui: false });
const config = readConfig({
  SVC_BASE_URL: sandbox.url,
  SVC_API_KEY: 'sk_sandbox_ok',
  TEMPORAL_ADDRESS: server.address,
  CARILLON_HOOK_SECRET: 'secret-of-the-recorder',
  CARILLON_HOOK_NETWORKS: '127.0.0.1',
});
const store = await openStore({ sqlitePath: join(await mkdtemp(join(tmpdir(), 'carillon-record-')), 'record.db') });
const { connection } = await connectTemporalNative(config);
const { client } = await connectTemporal(config);
const logger = createLogger('silent');
const isTraced = process.argv.includes('--traced');
const traces = isTraced ? traceCampaigns(logger) : null;
const worker = await startWorker({ config, connection, namespace: 'default', store, logger, traces });

/** Removes identity, host and paths of the recording machine; replay does not read them. */
function anonymise(json: string): string {
  return json.replaceAll(/"(identity|stackTrace)": "(?:[^"\\]|\\.)*"/g, '"$1": ""').replaceAll(`@${hostname()}`, '@recorder');
}

const hook = createServer((request, response) => void request.resume().on('end', () => response.end()));
await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
const hookUrl = `http://127.0.0.1:${(hook.address() as { port: number }).port}/`;

const recordings = {
  completed: { areaCode: '212', more: {}, updates: [pauseUpdate, resumeUpdate] },
  cancelled: { areaCode: '312', more: {}, updates: [pauseUpdate, resumeUpdate, cancelUpdate] },
  drained: {
    areaCode: '412',
    more: { onCompletion: { url: hookUrl } },
    updates: [lookAgainUpdate, pauseUpdate, resumeUpdate, drainUpdate],
  },
  // It has no caller number, so it pauses by itself.
  paused: {
    areaCode: '512',
    more: { onPause: { url: hookUrl }, callers: { numbers: ['pn_gone'], choice: 'region' } },
    updates: [cancelUpdate],
  },
} satisfies Record<string, { areaCode: string; more: Partial<CampaignRules>; updates: unknown[] }>;

const folder = new URL('./histories/', import.meta.url);
const wanted = process.argv.slice(2).filter((word) => word !== '--traced');
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name);
async function write(name: string, handle: WorkflowHandle): Promise<void> {
  await writeFile(
    new URL(`${name}${isTraced ? '-traced' : ''}.json.gz`, folder),
    gzipSync(anonymise(historyToJSON(await handle.fetchHistory())), { level: 9 }),
  );
}
if (!isTraced) await recordBranches(isWanted, write);
for (const [campaignId, { areaCode, more, updates }] of Object.entries(recordings)) {
  if (!isWanted(campaignId)) continue;
  const own: CampaignRules = { ...rules, ...more };
  const paused = own.onPause === null ? null : once(hook, 'request');
  const input = { campaignId, name: null, fileHash: 'recorded', rules: own, accountId: sandbox.url };
  await importCampaign(store, input, { chunks: rowsOf(16, areaCode), now: Date.now() });
  await startCampaign({ config, store, client, now: Date.now() }, campaignId);
  const handle = client.workflow.getHandle(campaignWorkflowId(campaignId, 1));
  await paused;
  for (const update of updates) await handle.executeUpdate(update);
  await handle.result();
  await write(campaignId, handle);
}
hook.close();
await worker.stop();
await connection.close();
await client.connection.close();
await store.close();
await server.stop();
await sandbox.close();

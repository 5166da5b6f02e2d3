import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import type { CampaignCounters } from '../../workflows/messages.ts';
import { runCli } from '../../src/interfaces/cli/run-cli.ts';
import { createTerminal } from '../interfaces/cli/terminal.ts';
import { readConfig } from '../../src/shared/config.ts';
import type { CampaignRules } from '../../src/rules/campaign-rules.ts';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { readStatus } from '../../src/ledger/campaign/campaign-status.ts';
import { findCampaign } from '../../src/ledger/rows/campaigns.ts';
import { importCampaign } from '../../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { TemporalTarget } from '../../src/temporal/connection.ts';
import { startCampaign } from '../../src/temporal/start-campaign.ts';
import { buildRules, minuteMs, type RulesChanges } from './campaign-rules.ts';
import { plantList, type PlantedList } from './planted-list.ts';
import { startWay } from '../world/way.ts';
import { patienceMs, until, within } from './until.ts';
import { spawnWorker, type WorkerProcess } from './worker-process.ts';

/** Service ms per real ms: a call of a minute takes 0.2 s. */
const defaultSpeed = 300;

export interface RunOptions {
  id: string;
  seed: number;
  temporal: { server: TemporalTarget; client: Client };
  sandbox?: SandboxOptions;
  /** Default: 24. */
  recipients?: number;
  /** Last four digits of the last numbers of the list. */
  fates?: readonly string[];
  batchSize?: number;
  /** A PostgreSQL database; default: a SQLite file of its own. */
  databaseUrl?: string;
  rules?: RulesChanges;
  settings?: Record<string, string>;
  apiKey?: string;
}

/** A campaign with service, database, paths that can be blocked, and worker processes. */
export type CampaignRun = Awaited<ReturnType<typeof prepareRun>>;

function rulesOf(options: RunOptions, columns: string[]): CampaignRules {
  const { list } = buildRules();
  return buildRules({
    list: { ...list, columns },
    firstMessage: 'Hello {{ name }}, I am calling about your appointment {{ appointment }}.',
    variables: { key: 'variables', values: { note: '{{ note }}' }, reference: 'carillon_ref' },
    retry: {
      maxAttempts: 2,
      delays: {
        busy: [5 * minuteMs],
        no_answer: [5 * minuteMs],
        unreached: [5 * minuteMs],
        voicemail: 'never',
        failed: [5 * minuteMs],
        unknown: 'never',
      },
      maxUncounted: 1,
    },
    pacing: { maxConcurrentCalls: 24, batchSize: options.batchSize ?? 8, refillThreshold: 4 },
    timing: {
      settleMs: 10 * minuteMs,
      analysisWaitMs: 10 * minuteMs,
      lateDeliveryMs: 10 * minuteMs,
      pollMs: minuteMs,
    },
    ...options.rules,
  });
}

/** For runs in which a request is held while something slow goes on. */
export const patient = { SVC_HEADERS_TIMEOUT_MS: String(patienceMs) };

/** Short enough that a killed worker costs seconds, long enough for two busy cores. */
const limits = {
  SVC_CONNECT_TIMEOUT_MS: '1000',
  SVC_HEADERS_TIMEOUT_MS: '8000',
  SVC_BODY_TIMEOUT_MS: '2000',
  SVC_READS_PER_SECOND: '500',
  CARILLON_HEARTBEAT_TIMEOUT_MS: '6000',
  CARILLON_SUBMIT_HEARTBEAT_TIMEOUT_MS: '6000',
  CARILLON_COLLECT_MAX_MS: '20000',
  CARILLON_POSTING_WINDOW_MS: '4000',
  CARILLON_SUBMIT_SLACK_MS: '500',
  CARILLON_SHORT_TIMEOUT_MS: '4000',
  CARILLON_STICKY_TIMEOUT_MS: '1000',
  CARILLON_SUBMITS_PER_SECOND: '100',
  CARILLON_LOG_LEVEL: 'trace',
};

async function prepareRun(options: RunOptions) {
  const { id, temporal } = options;
  const folder = await mkdtemp(join(tmpdir(), 'carillon-e2e-'));
  const sqlitePath = join(folder, 'ledger.db');
  const apiKey = options.apiKey ?? `sk_planted_${id}_${options.seed}`;
  const sandbox = await startSandbox({
    port: 0,
    speed: defaultSpeed,
    seed: options.seed,
    apiKeys: [apiKey],
    ...options.sandbox,
  });
  const toService = await startWay(sandbox.port);
  const toTemporal = await startWay(Number(temporal.server.address.split(':')[1]));
  const list = plantList(options.seed, options.recipients ?? 24, options.fates);
  const settings: Record<string, string> = {
    ...limits,
    SVC_BASE_URL: `http://127.0.0.1:${toService.port}`,
    SVC_API_KEY: apiKey,
    TEMPORAL_ADDRESS: `127.0.0.1:${toTemporal.port}`,
    TEMPORAL_NAMESPACE: temporal.server.namespace,
    CARILLON_QUEUE_PREFIX: 'carillon',
    ...(options.databaseUrl === undefined ? { CARILLON_DB: sqlitePath } : { DATABASE_URL: options.databaseUrl }),
    ...options.settings,
  };
  const config = readConfig(settings);
  const store = await openStore({ databaseUrl: options.databaseUrl, sqlitePath });
  const workers: WorkerProcess[] = [];
  const handle = temporal.client.workflow.getHandle(campaignWorkflowId(id, 1));
  const batch = (n: number) => store.db.selectFrom('batches').selectAll().where('batch_id', '=', `${id}/1/${n}`).executeTakeFirst();

  const startList = async (campaignId: string, { columns, rows }: PlantedList): Promise<void> => {
    const rules = rulesOf(options, columns);
    const now = sandbox.clock.now();
    const chunks = (async function* () {
      yield rows;
    })();
    const input = { campaignId, name: null, fileHash: `hash-${campaignId}`, rules, accountId: config.SVC_BASE_URL };
    await importCampaign(store, input, { chunks, now });
    await startCampaign({ config, store, client: temporal.client, now }, campaignId);
  };

  const describe = async (): Promise<string> => {
    const campaign = await findCampaign(store.db, id);
    const status = campaign === undefined ? null : await readStatus(store.db, campaign);
    const batches = await store.db
      .selectFrom('batches')
      .select(['n', 'state', 'posts', 'reason', 'accepted_by', 'size'])
      .where('campaign_id', '=', id)
      .execute();
    const pending = await handle.describe().then(
      ({ raw }) => JSON.stringify(raw.pendingActivities),
      (error: Error) => error.message,
    );
    return [
      `campaign: ${campaign?.state} ${campaign?.stateReason ?? ''}`,
      `status: ${JSON.stringify(status)}`,
      `batches: ${JSON.stringify(batches)}`,
      `pending: ${pending}`,
      ...workers.map((worker) => `worker ${worker.pid}, ended: ${worker.hasEnded()}: …${worker.output().slice(-3000)}`),
    ].join('\n');
  };

  return {
    id,
    sandbox,
    store,
    client: temporal.client,
    list,
    apiKey,
    toService,
    toTemporal,
    workers,
    config,
    settings,
    folder,
    sqlitePath,
    handle,
    describe,
    batch,
    startWorker: (more: Record<string, string> = {}): WorkerProcess => {
      const worker = spawnWorker({ ...settings, ...more });
      workers.push(worker);
      return worker;
    },
    start: () => startList(id, list),
    startAnother: startList,
    /** In this process: a program each would cost a second of computing. */
    command: async (...args: string[]) => {
      const io = createTerminal({ env: settings, now: Date.now });
      return { code: await runCli(args, io), ...io.written() };
    },
    /** The number and request of the batch at a gate. */
    met: async (gate: string) => {
      const info = await sandbox.gates.waitUntilReached(gate, patienceMs);
      if (info?.requestId == null) throw new Error(`no batch came\n${await describe()}`);
      return { n: Number(info.requestId.split('/').at(-2)), requestId: info.requestId };
    },
    called: () => sandbox.calls().map(({ to }) => to),
    requests: () => sandbox.journal().flatMap(({ requestId }) => (requestId?.startsWith(`${id}/`) ? [requestId] : [])),
    /** Requests whose answer the ledger has as lost or unknown. */
    unanswered: async () => {
      const posts = await store.db.selectFrom('posts').selectAll().execute();
      return posts.flatMap((post) => ((post.verdict ?? 'unknown') === 'unknown' ? [`${post.batch_id}/${post.k}`] : []));
    },
    untilBatch: (n: number, states: readonly string[]) =>
      until(`batch ${n} of ${id} is ${states.join(' or ')}`, async () => {
        const row = await batch(n);
        return row !== undefined && states.includes(row.state) ? row : undefined;
      }),
    untilEnd: async (campaignId = id): Promise<CampaignCounters> => {
      const { workflow } = temporal.client;
      try {
        const result = workflow.getHandle(campaignWorkflowId(campaignId, 1)).result();
        return (await within(`campaign ${campaignId} ends`, result)) as CampaignCounters;
      } catch (error) {
        throw new Error(`${(error as Error).message}\n${await describe()}`, { cause: error });
      }
    },
    close: async () => {
      toTemporal.drop();
      await Promise.all(workers.map((worker) => worker.kill()));
      await toService.close();
      await toTemporal.close();
      await store.close();
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Cleans up, also on failure. */
export async function withRun<Result>(options: RunOptions, work: (run: CampaignRun) => Promise<Result>): Promise<Result> {
  const run = await prepareRun(options);
  try {
    return await work(run);
  } finally {
    await run.close();
  }
}

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readCampaignFile } from '../src/campaign/file/file.ts';
import { readConfigWith } from '../src/shared/config.ts';
import { openStore } from '../src/ledger/open-ledger.ts';
import { startDevServer } from '../src/temporal/dev-server.ts';
import type { CarillonInput, CarillonResult } from './carillon-process.ts';
import { runChild, say, startChild } from './child.ts';
import { writeCallableCampaign } from './fictional-list.ts';
import type { Figure } from './report.ts';
import { readServiceTruth, type ServiceTruth } from './service-truth.ts';
import { targets, type CampaignSettings, type ProgramInput, type ProgramResult } from './settings.ts';

/** Settings that would bend the comparison, whatever the environment says. */
const unset = { CARILLON_QUEUE_PREFIX: undefined, CARILLON_COLLECT_MAX_MS: undefined, TEMPORAL_ADDRESS: undefined };

async function withSandbox<Result extends ProgramResult>(
  settings: CampaignSettings,
  run: (sandboxUrl: string, env: Record<string, string | undefined>) => Promise<Result>,
): Promise<{ result: Result; truth: ServiceTruth }> {
  const sandbox = await startChild('sandbox-process.ts', settings);
  try {
    const { url } = sandbox.first as { url: string };
    const env = {
      ...unset,
      SVC_BASE_URL: url,
      SVC_API: settings.api,
      SVC_API_KEY: 'sk_sandbox_ok',
      SVC_READS_PER_SECOND: String(settings.readsPerSecond),
      CARILLON_SUBMITS_PER_SECOND: String(settings.submitsPerSecond),
    };
    const result = await run(url, env);
    return { result, truth: await readServiceTruth(url, settings.openCalls) };
  } finally {
    await sandbox.stop();
  }
}

/** What looks on while a campaign runs; answers what ends it. */
type Onlooker = (run: {
  sqlitePath: string;
  campaignId: string;
  sandboxUrl: string;
  temporalAddress: string;
}) => Promise<() => Promise<void>>;

/** The campaign by Carillon alone, with a fresh sandbox and Temporal server. */
export async function runCarillon(settings: CampaignSettings, look: Onlooker): Promise<CarillonResult> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const campaignPath = await writeCallableCampaign(folder, settings);
    const { result } = await runWithTemporal(settings, { folder, campaignPaths: [campaignPath], look });
    return result;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Campaigns by Carillon on the sandbox, one worker and a Temporal server of their own. `look`: at the first of them. */
export async function runWithTemporal(
  settings: CampaignSettings,
  { folder, campaignPaths, look }: { folder: string; campaignPaths: string[]; look: Onlooker | null },
): Promise<{ result: CarillonResult; truth: ServiceTruth }> {
  const server = await startDevServer({
    config: readConfigWith({}),
    dataFile: join(folder, 'temporal.db'),
    onProgress: (line) => say(`  ${line}`),
  });
  try {
    const carillon = await withSandbox(settings, async (sandboxUrl, env) => {
      const input = { settings, folder, campaignPaths, sandboxUrl, temporalAddress: server.address } satisfies CarillonInput;
      const run = runChild<CarillonResult>('carillon-process.ts', input, env);
      if (look === null) return run;
      const sqlitePath = join(folder, 'carillon.db');
      const { id: campaignId } = await readCampaignFile(campaignPaths[0] ?? '');
      await untilImported(sqlitePath, campaignId);
      const leave = await look({ sqlitePath, campaignId, sandboxUrl, temporalAddress: server.address });
      const result = await run;
      await leave();
      return result;
    });
    say(`  ${(carillon.result.wallMs / 1000).toFixed(1)} s`);
    return carillon;
  } finally {
    await server.stop();
  }
}

async function untilImported(sqlitePath: string, campaignId: string): Promise<void> {
  for (;;) {
    await pause(200);
    if (!existsSync(sqlitePath)) continue;
    const store = await openStore({ sqlitePath }, 'as-is').catch(() => null);
    const campaign = await store?.db
      .selectFrom('campaigns')
      .select('state')
      .where('campaign_id', '=', campaignId)
      .executeTakeFirst()
      .catch(() => undefined);
    await store?.close();
    if (campaign !== undefined && campaign.state !== 'importing') return;
  }
}

/** The same campaign by Carillon and by the script, one after the other, each with a fresh sandbox that draws the same calls. */
export async function benchCampaign(settings: CampaignSettings): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const campaignPath = await writeCallableCampaign(folder, settings);
    say(`The script: ${settings.recipients} recipients`);
    const script = await withSandbox(settings, (sandboxUrl, env) =>
      runChild<ProgramResult>(
        settings.api === 'contract' ? 'script-process.ts' : 'reporting-script-process.ts',
        { settings, campaignPath, sandboxUrl } satisfies ProgramInput,
        env,
      ),
    );
    say(`  ${(script.result.wallMs / 1000).toFixed(1)} s`);
    say(`Carillon: ${settings.recipients} recipients`);
    const carillon = await runWithTemporal(settings, { folder, campaignPaths: [campaignPath], look: null });
    return describe(settings, carillon, script);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function list(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

function describe(
  settings: CampaignSettings,
  carillon: { result: CarillonResult; truth: ServiceTruth },
  script: { result: ProgramResult; truth: ServiceTruth },
): Figure[] {
  const [campaign] = carillon.result.campaigns;
  if (campaign === undefined) throw new Error('No campaign was run.');
  const { temporal, outcomes } = campaign;
  // Temporal is told of each request before it is sent.
  const told = { ...temporal.actions, heartbeats: temporal.actions.heartbeats + carillon.truth.posts };
  const actions = Object.values(told).reduce((sum, count) => sum + count, 0);
  const reads = ({ listReads, detailReads, posts, notOk }: ServiceTruth) =>
    `${detailReads} records, ${listReads} list pages; ${posts} POSTs, ${notOk} not 2xx`;
  const open = ({ mostOpen, meanCallSeconds }: ServiceTruth) => `at most ${mostOpen} open, mean call ${meanCallSeconds.toFixed(1)} s`;
  const { truth } = carillon;
  const isReporting = settings.api !== 'contract';
  return [
    { name: 'Carillon, wall time', value: carillon.result.wallMs / 1000, unit: 's', note: list(outcomes) },
    { name: 'script, wall time', value: script.result.wallMs / 1000, unit: 's' },
    {
      name: 'wall time, Carillon / script',
      value: carillon.result.wallMs / script.result.wallMs,
      unit: '',
      target: { atMost: isReporting ? targets.reportingWallRatio : targets.wallRatio },
    },
    {
      name: 'busy share, Carillon',
      value: truth.busyShare * 100,
      unit: '%',
      target: { atLeast: targets.busyShare * 100 },
      note: open(truth),
    },
    { name: 'busy share, script', value: script.truth.busyShare * 100, unit: '%', note: open(script.truth) },
    {
      name: 'Temporal actions per recipient',
      value: actions / settings.recipients,
      unit: '',
      target: { atMost: targets.actionsPerRecipient },
      note: `${list(told)}; of the activities ${list(temporal.activitiesByType)}`,
    },
    {
      name: 'requests per recipient, Carillon',
      value: truth.requests / settings.recipients,
      unit: '',
      ...(isReporting ? { target: { atMost: targets.requestsPerRecipient } } : {}),
      note: list(truth.requestsByOperation),
    },
    {
      name: 'requests per recipient, script',
      value: script.truth.requests / settings.recipients,
      unit: '',
      note: list(script.truth.requestsByOperation),
    },
    {
      name: 'reads per call, Carillon',
      value: truth.readsPerCall,
      unit: '',
      target: { atMost: targets.readsPerCall },
      note: reads(truth),
    },
    { name: 'reads per call, script', value: script.truth.readsPerCall, unit: '', note: reads(script.truth) },
    {
      name: 'events per run, longest',
      value: Math.max(...temporal.eventsPerRun),
      unit: '',
      target: { below: targets.eventsPerRun },
      note: `${temporal.eventsPerRun.length} runs`,
    },
    { name: 'processor time, Carillon worker', value: carillon.result.cpuMs / 1000, unit: 's' },
    { name: 'processor time, script', value: script.result.cpuMs / 1000, unit: 's' },
  ];
}

import { join } from 'node:path';
import { campaignWorkflowId } from '../src/rules/ids.ts';
import { campaignRules, readCampaignFile } from '../src/campaign/file/file.ts';
import { readHeader } from '../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../src/list/recipients.ts';
import { readConfig } from '../src/shared/config.ts';
import { createLogger } from '../src/shared/logger.ts';
import { readStatus } from '../src/ledger/campaign/campaign-status.ts';
import { findCampaign } from '../src/ledger/rows/campaigns.ts';
import { importCampaign } from '../src/ledger/campaign/import-campaign.ts';
import { openStore } from '../src/ledger/open-ledger.ts';
import { connectTemporal, connectTemporalNative } from '../src/temporal/connection.ts';
import { installRuntime } from '../src/temporal/runtime-logger.ts';
import { startCampaign } from '../src/temporal/start-campaign.ts';
import { startWorker } from '../src/temporal/worker.ts';
import { readInput, say, writeResult } from './child.ts';
import type { ProgramInput, ProgramResult } from './settings.ts';
import { readTemporalCost, type TemporalCost } from './temporal-actions.ts';

export type CarillonInput = Pick<ProgramInput, 'settings' | 'sandboxUrl'> & {
  temporalAddress: string;
  /** Where the ledger is kept. */
  folder: string;
  /** Of campaign files. */
  campaignPaths: string[];
};
export type CarillonResult = ProgramResult & { campaigns: { temporal: TemporalCost; outcomes: Record<string, number> }[] };

/** Carillon: worker, ledger in a SQLite file, and the start of campaigns; server and service are other processes. */
const input = readInput() as CarillonInput;
const config = readConfig();
const logger = createLogger('warn');
installRuntime(logger);
const target = { address: input.temporalAddress, namespace: 'default' };
const store = await openStore({ sqlitePath: join(input.folder, 'carillon.db') });
const native = await connectTemporalNative(config, { target });
const { client, connection } = await connectTemporal(config, { target });
const worker = await startWorker({ config, connection: native.connection, namespace: 'default', store, logger });

const campaignIds: string[] = [];
for (const path of input.campaignPaths) {
  const file = await readCampaignFile(path);
  const header = await readHeader(file);
  const rules = campaignRules(file, header.columns, Date.now());
  const facts = { campaignId: file.id, name: file.name, fileHash: file.hash, rules, accountId: input.sandboxUrl, api: config.SVC_API };
  await importCampaign(store, facts, { chunks: readRecipients(file, header, rules), now: Date.now() });
  campaignIds.push(file.id);
}

const status = async (campaignId: string) => {
  const campaign = await findCampaign(store.db, campaignId);
  if (campaign === undefined) throw new Error('The campaign is gone.');
  return readStatus(store.db, campaign);
};
const progress = setInterval(() => {
  void Promise.all(campaignIds.map(status)).then((all) => {
    const sum = (of: 'done' | 'total' | 'open') => all.reduce((so, campaign) => so + campaign[of], 0);
    say(`  Carillon: ${sum('done')} of ${sum('total')} done, ${sum('open')} attempts open`);
  });
}, 15_000);

const begun = performance.now();
const cpuBefore = process.cpuUsage();
const runs = await Promise.all(
  campaignIds.map(async (campaignId) => {
    await startCampaign({ config, store, client, now: Date.now() }, campaignId);
    const handle = client.workflow.getHandle(campaignWorkflowId(campaignId, 1));
    const { runId } = await handle.describe();
    return { campaignId, handle, runId };
  }),
);
await Promise.all(runs.map(({ handle }) => handle.result()));
const wallMs = performance.now() - begun;
const cpu = process.cpuUsage(cpuBefore);
clearInterval(progress);

const campaigns = await Promise.all(
  runs.map(async ({ campaignId, handle, runId }) => ({
    temporal: await readTemporalCost(client, handle.workflowId, runId),
    outcomes: (await status(campaignId)).outcomes,
  })),
);
const result: CarillonResult = { wallMs, cpuMs: (cpu.user + cpu.system) / 1000, campaigns };
await worker.stop();
await native.connection.close();
await connection.close();
await store.close();
writeResult(result);

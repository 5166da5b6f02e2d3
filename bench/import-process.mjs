// Plain JavaScript on the build, since a TypeScript loader in this process would be measured as well.
import { createReadStream } from 'node:fs';
import { dirname, join } from 'node:path';

/** @param {string} path module of the build, below `src` */
const load = (path) => import(new URL(`../dist/src/${path}`, import.meta.url).href);

/** @param {string} listPath */
async function parseOnly(listPath) {
  const { parse } = await import('csv-parse');
  const begun = performance.now();
  let records = 0;
  for await (const _ of createReadStream(listPath).pipe(parse({ bom: true }))) records += 1;
  return { rows: records - 1, rejected: 0, wallMs: performance.now() - begun };
}

/** As a start imports: the same checks, warnings and transactions. @param {string} campaignPath */
async function importAll(campaignPath) {
  const { readCampaignFile } = await load('campaign/file/file.js');
  const { importList, readCampaign } = await load('campaign/preflight/import-list.js');
  const { findCampaign } = await load('ledger/rows/campaigns.js');
  const { openStore } = await load('ledger/open-ledger.js');
  const store = await openStore({ sqlitePath: join(dirname(campaignPath), 'import.db') });
  const begun = performance.now();
  const now = Date.now();
  const read = await readCampaign(await readCampaignFile(campaignPath), now);
  let said = 0;
  const onProgress = (rows) => {
    if (rows - said < 200_000) return;
    said = rows;
    process.stderr.write(`  import: ${rows} rows\n`);
  };
  await importList({ store, read, accountId: 'bench', now, allowPartial: true, onProgress });
  const wallMs = performance.now() - begun;
  const campaign = await findCampaign(store.db, read.file.id);
  await store.close();
  return { rows: campaign.rowsTotal, rejected: campaign.rowsRejected, wallMs };
}

const { campaignPath, kind } = JSON.parse(process.argv[2] ?? 'null');
const counts = kind === 'bare' ? await parseOnly(join(dirname(campaignPath), 'recipients.csv')) : await importAll(campaignPath);
process.stdout.write(`${JSON.stringify({ ...counts, peakMb: process.resourceUsage().maxRSS / 1024 })}\n`);

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

/** @param {string} campaignPath */
async function importList(campaignPath) {
  const { campaignRules, readCampaignFile } = await load('campaign-file/file.js');
  const { readHeader } = await load('list/header.js');
  const { readRecipients } = await load('list/recipients.js');
  const { importCampaign } = await load('ledger/campaign/import-campaign.js');
  const { openStore } = await load('ledger/open-ledger.js');
  const store = await openStore({ sqlitePath: join(dirname(campaignPath), 'import.db') });
  const begun = performance.now();
  const file = await readCampaignFile(campaignPath);
  const header = await readHeader(file);
  const rules = campaignRules(file, header.columns);
  const facts = { campaignId: file.id, name: file.name, fileHash: file.hash, rules, accountId: 'bench' };
  let said = 0;
  const { campaign } = await importCampaign(store, facts, readRecipients(file, header, rules), Date.now(), (rows) => {
    if (rows - said < 200_000) return;
    said = rows;
    process.stderr.write(`  import: ${rows} rows\n`);
  });
  const wallMs = performance.now() - begun;
  await store.close();
  return { rows: campaign.rowsTotal, rejected: campaign.rowsRejected, wallMs };
}

const { campaignPath, kind } = JSON.parse(process.argv[2] ?? 'null');
const counts =
  kind === 'bare' ? await parseOnly(join(dirname(campaignPath), 'recipients.csv')) : await importList(campaignPath);
process.stdout.write(`${JSON.stringify({ ...counts, peakMb: process.resourceUsage().maxRSS / 1024 })}\n`);

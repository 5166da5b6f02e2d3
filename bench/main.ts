import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchCampaign } from './campaign-bench.ts';
import { serviceApis } from '../src/rules/service-api.ts';
import { say } from './child.ts';
import { benchConsole } from './console-bench.ts';
import { benchImport } from './import-bench.ts';
import { benchLeads } from './leads-bench.ts';
import { benchManyCampaigns } from './many-bench.ts';
import { benchOpenPages } from './open-pages-bench.ts';
import { benchPlanning } from './planning-bench.ts';
import { benchRehearsal } from './rehearsal-bench.ts';
import { isMet, renderReport, type Figure } from './report.ts';
import { benchSandbox } from './sandbox-bench.ts';
import {
  campaignDefaults,
  consoleRows,
  importRows,
  leads,
  manyCampaigns,
  planningRows,
  rehearsalRows,
  sandboxDefaults,
  unthrottled,
  type CampaignSettings,
} from './settings.ts';

const help = `Measures Carillon against a program that survives nothing, the import of a long list, the console, and the sandbox.

  npm run bench                                   everything: about 25 minutes
  npm run bench -- --only campaign --recipients 600
  npm run bench -- --only campaign --dialect spec --recipients 5000 --lines 500
  npm run bench -- --only campaign --recipients 8000 --lines 1000 --speed 30 --unthrottled
  npm run bench -- --only campaign --api batch-calling --recipients 2000 --lines 200
  npm run bench -- --only import --rows 100000
  npm run bench -- --only planning --rows 1000000
  npm run bench -- --only sandbox --calls 20000
  npm run bench -- --only rehearsal
  npm run bench -- --only console --rows 100000 --database SQLite
  npm run bench -- --only open-pages --recipients 4000
  npm run bench -- --only many --campaigns 50
  npm run bench -- --only leads
  npm run bench -- --json                         the figures as JSON on standard output

Also: --poll SECONDS, --batch SIZE, --threshold SLOTS, --seed TEXT. --unthrottled: no limit on reads and submits per second.
A missed target is marked; the exit code stays 0.
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    recipients: { type: 'string' },
    campaigns: { type: 'string' },
    lines: { type: 'string' },
    dialect: { type: 'string', default: campaignDefaults.dialect },
    api: { type: 'string', default: campaignDefaults.api },
    rows: { type: 'string' },
    calls: { type: 'string' },
    database: { type: 'string' },
    poll: { type: 'string' },
    batch: { type: 'string' },
    threshold: { type: 'string' },
    seed: { type: 'string' },
    speed: { type: 'string' },
    unthrottled: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function readNumber(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  say(`--${flag} is "${text}"; it must be a whole number above 0.`);
  process.exit(2);
}

if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const parts = ['campaign', 'import', 'planning', 'sandbox', 'rehearsal', 'console', 'open-pages', 'many', 'leads'];
if (values.only !== undefined && !parts.includes(values.only)) {
  say(`--only is "${values.only}"; it must be one of ${parts.join(', ')}.`);
  process.exit(2);
}
const isWanted = (part: string): boolean => values.only === undefined || values.only === part;

const { dialect } = values;
if (dialect !== 'extended' && dialect !== 'spec') {
  say(`--dialect is "${dialect}"; it must be extended or spec.`);
  process.exit(2);
}
const api = serviceApis.find((name) => name === values.api);
if (api === undefined) {
  say(`--api is "${values.api}"; it must be one of ${serviceApis.join(', ')}.`);
  process.exit(2);
}
const settings: CampaignSettings = {
  ...campaignDefaults,
  dialect,
  api,
  openCalls: readNumber('lines', values.lines, campaignDefaults.openCalls),
  recipients: readNumber('recipients', values.recipients, campaignDefaults.recipients),
  pollSeconds: readNumber('poll', values.poll, campaignDefaults.pollSeconds),
  batchSize: readNumber('batch', values.batch, campaignDefaults.batchSize),
  refillThreshold: readNumber('threshold', values.threshold, campaignDefaults.refillThreshold),
  seed: values.seed ?? campaignDefaults.seed,
  speed: readNumber('speed', values.speed, campaignDefaults.speed),
  ...(values.unthrottled ? unthrottled : {}),
};
const rows = readNumber('rows', values.rows, importRows);

const described: [string, string][] = [['machine', `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node ${process.version}`]];
const figures: Figure[] = [];
if (isWanted('campaign')) {
  described.push(
    [
      'campaign',
      `${settings.recipients} recipients, ${settings.openCalls} open calls, batches of ${settings.batchSize}, refill at ${settings.refillThreshold} free slots, ` +
        `poll every ${settings.pollSeconds} s of service time, pages of ${settings.pageSize}, no retries`,
    ],
    [
      'service',
      `sandbox, ${settings.dialect}, SVC_API=${settings.api}, --speed ${settings.speed}, seed ${settings.seed}, every call answered, mean talk ${settings.meanTalkSeconds} s, no faults; ` +
        `at most ${settings.readsPerSecond} reads and ${settings.submitsPerSecond} submits per real second`,
    ],
    [
      'processes',
      'sandbox, Temporal dev server (data file on disk) and worker with its SQLite ledger one each; the script in one, without server and database',
    ],
  );
  figures.push(...(await benchCampaign(settings)));
}
if (isWanted('import')) {
  described.push(['import', `${rows} rows of 5 columns into a SQLite file, 1 in 100 a duplicate, numbers of the unassigned exchange 555`]);
  figures.push(...(await benchImport(rows)));
}
if (isWanted('planning')) {
  const many = values.only === 'planning' ? readNumber('rows', values.rows, planningRows.many) : planningRows.many;
  described.push(['planning', 'batches of 100, four zones, hours, law and one cap, everybody due']);
  figures.push(...(await benchPlanning(planningRows.few, many)));
}
if (isWanted('sandbox')) {
  const sandbox = { ...sandboxDefaults, calls: readNumber('calls', values.calls, sandboxDefaults.calls) };
  described.push([
    'sandbox',
    `carillon sandbox as built, in memory, extended; ${sandbox.calls} calls on ${sandbox.lines} lines at --speed ${sandbox.speed}, drawn outcomes; ` +
      `rates over ${sandbox.seconds} s by 16 connections, reads among the stored conversations`,
  ]);
  figures.push(...(await benchSandbox(sandbox)));
}
if (isWanted('console')) {
  const wanted = values.only === 'console' ? readNumber('rows', values.rows, consoleRows) : consoleRows;
  described.push([
    'console',
    `carillon serve as built; ${wanted} rows, three fifths of them called; five batches of 20 calls are planned and collected a second while a ` +
      `campaign runs; a list is imported: ${wanted} rows through the API of the same server, over and over`,
  ]);
  figures.push(...(await benchConsole(wanted, values.database)));
}
if (isWanted('many')) {
  const campaigns = readNumber('campaigns', values.campaigns, manyCampaigns.campaigns);
  const each: CampaignSettings = { ...settings, ...manyCampaigns, ...unthrottled };
  if (values.only === 'many') {
    each.recipients = readNumber('recipients', values.recipients, each.recipients);
    each.speed = readNumber('speed', values.speed, each.speed);
  }
  described.push([
    'many',
    `${campaigns} campaigns of ${each.recipients} recipients and ${each.openCalls} lines each, --speed ${each.speed}, one agent`,
  ]);
  figures.push(...(await benchManyCampaigns(each, campaigns)));
}
if (isWanted('leads')) {
  const added: CampaignSettings = { ...settings, ...leads };
  if (values.only === 'leads') added.recipients = readNumber('recipients', values.recipients, added.recipients);
  described.push(['leads', `${added.recipients}, one by one through the API of carillon serve, --speed ${added.speed}, lines free`]);
  figures.push(...(await benchLeads(added)));
}
if (isWanted('open-pages')) {
  described.push(['open pages', `20, in processes of their own; ${settings.recipients} recipients, ${settings.openCalls} open calls`]);
  figures.push(...(await benchOpenPages(settings)));
}
if (isWanted('rehearsal')) {
  const rehearsed = values.only === 'rehearsal' ? readNumber('rows', values.rows, rehearsalRows) : rehearsalRows;
  described.push(['rehearsal', `${rehearsed} rows in four zones, --speed 600, people drawn with the seed carillon`]);
  figures.push(...(await benchRehearsal(rehearsed)));
}

process.stdout.write(
  values.json
    ? `${JSON.stringify({ settings: Object.fromEntries(described), figures: figures.map((figure) => ({ ...figure, met: isMet(figure) })) }, null, 2)}\n`
    : renderReport(described, figures),
);

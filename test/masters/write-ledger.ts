import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { openPromise } from 'yauzl';
import { readWebhookEvent } from '../../src/rules/webhooks/messages.ts';
import { operations } from '../../src/operations/list.ts';
import { countRateLimited, showFigures } from '../../src/temporal/metrics.ts';
import { runWith } from '../interfaces/cli/service-world.ts';
import { startWalkedConsole } from '../interfaces/console/walk/walked-console.ts';
import { webhookId } from '../shared/hooks/webhook-world.ts';
import { emptyDatabase, type TestDialect } from '../ledger/test-stores.ts';
import { until } from '../support/until.ts';
import { nameOf, splitTags, type Write } from './write-masters.ts';

const roles = ['read', 'operate', 'admin'] as const;

/** Route parameters, as the walked ledger has them. */
const parameters: Readonly<Record<string, string>> = { campaign: 'reminders', row: '18', call: '1', webhook: webhookId, format: 'csv' };
const ofSchedules: Readonly<Record<string, string>> = { ...parameters, campaign: 'weekly' };
const notText = new Set(['downloadEvidence', 'downloadRecording', 'followEvents']);

const reading: readonly string[][] = [
  ['status'],
  ['status', 'reminders'],
  ['status', 'survey'],
  ['status', 'renewals'],
  ['events', 'reminders'],
  ['results', 'reminders', '--output', '-'],
  ['report', 'reminders'],
  ['report', 'spring-offers'],
  ['verify'],
  ['rules', 'show'],
  ['schedule', 'list'],
  ['schedule', 'describe', 'weekly'],
  ['webhook', 'list'],
  ['token', 'list'],
  ['suppress', 'list'],
  ['suppress', 'check', '+12125550100'],
  ['callback', 'list', 'reminders'],
  ['agents', 'list'],
  ['agents', 'get', 'agent_reminders'],
  ['numbers', 'list'],
  ['conversations', 'list'],
  ['check', 'examples/reminders/campaign.yaml'],
  ['schema'],
  ['completion', 'bash'],
  ['completion', 'zsh'],
  ['completion', 'fish'],
];

/** Commands that write the file named last. */
const writing: readonly string[][] = [
  ['results', 'reminders', '--output', 'results.csv'],
  ['results', 'survey', '--safe-cells', '--bom', '--output', 'safe.csv'],
  ['results', 'reminders', '--outcome', 'unresolved', '--output', 'part.jsonl'],
  ['results', 'reminders', '--output', 'results.xlsx'],
  ['report', 'reminders', 'survey', '--html', 'report.html'],
  ['report', 'reminders', '--people', '--html', 'people.html'],
  ['evidence', '--number', '+12125550114', '--with-conversations', '--out', 'evidence.zip'],
];

interface Page {
  status: number;
  text: string;
}

type Walked = Awaited<ReturnType<typeof startWalkedConsole>>;

export async function writeLedger(write: Write, dialect: TestDialect): Promise<void> {
  const location = await emptyDatabase(dialect);
  const walked = await startWalkedConsole(location);
  const { api } = walked.console;
  const { databaseUrl = '', sqlitePath } = location;
  const config = { ...api.context.config, ...(databaseUrl === '' ? { CARILLON_DB: sqlitePath } : { DATABASE_URL: databaseUrl }) };
  const names = /^(?:CARILLON_DB|DATABASE_URL|SVC_BASE_URL|SVC_API_KEY|TEMPORAL_ADDRESS|TEMPORAL_NAMESPACE|CARILLON_QUEUE_PREFIX)$/;
  const env = Object.fromEntries(Object.entries(config).filter(([name]) => names.test(name))) as Record<string, string>;
  await writeAnswers(write, walked);
  await writeWebhooks(write, walked);
  await writeMetrics(write, walked);
  await writeCommands(write, env);
  await writeFiles(write, env);
  // Reading a transcript adds to the log, and a page is requested until it is complete.
  await writePages(write, walked);
}

/** A page that waits for background reads or Temporal says so; a campaign's shows its evaluation. */
async function whole(get: () => Promise<Page>, path: string): Promise<Page | undefined> {
  const answer = await get();
  if (answer.status === 503 || / being (?:read|looked up)|data-again="1000"|Temporal does not answer/.test(answer.text)) return undefined;
  return /^\/campaigns\/[\w-]+$/.test(path) && !answer.text.includes('id="promises"') ? undefined : answer;
}

async function writePages(write: Write, { console, examples }: Walked): Promise<void> {
  for (const [place, paths] of Object.entries(examples))
    for (const [index, path] of paths.entries())
      for (const role of roles) {
        const { status, text } = await until(`${path} is whole`, () => whole(() => console.get(path, role), path));
        write(`html/${nameOf(place)}-${index + 1}-${role}.html`, `${status} ${path}\n${splitTags(text)}`);
      }
}

async function writeAnswers(write: Write, { console: { api } }: Walked): Promise<void> {
  for (const [id, { route }] of Object.entries(operations) as [string, { route: string }][]) {
    const [method, path = ''] = route.split(' ');
    if (method !== 'GET' || notText.has(id)) continue;
    const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => (path.includes('schedules') ? ofSchedules : parameters)[name] ?? name);
    const asRead = await api.ask(`GET ${filled}`, { role: 'read' });
    const { status, headers, body } = await api.ask(`GET ${filled}`);
    const shown = typeof body === 'string' ? splitTags(body) : JSON.stringify(body, null, 1);
    write(`api/${id}.txt`, `${filled}\n${asRead.status} to read, ${status} to admin, ${String(headers['content-type'])}\n${shown}`);
  }
  for (const format of ['json', 'ndjson']) {
    const { status, body } = await api.ask(`GET /api/v1/campaigns/reminders/results.${format}`);
    write(`api/results.${format}`, `${status}\n${typeof body === 'string' ? body : JSON.stringify(body, null, 1)}`);
  }
  const { body } = await api.ask('GET /api/v1/openapi.json');
  // Their order is that of module loading.
  body.components.schemas = Object.fromEntries(
    Object.entries(body.components.schemas).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
  write('api/openapi.json', JSON.stringify(body, null, 1));
}

async function writeWebhooks(write: Write, { console: { api } }: Walked): Promise<void> {
  const logged = await api.store.db.selectFrom('events').selectAll().orderBy('seq').execute();
  const bodies = logged.flatMap(({ data, ...event }) => {
    const message = readWebhookEvent({ ...event, data: data === null ? {} : JSON.parse(data) } as never);
    return message === null ? [] : [JSON.stringify(message, null, 1)];
  });
  write('webhooks.json', bodies.join('\n'));
}

/** As Prometheus would get the ledger from a worker that has read it once. */
async function writeMetrics(write: Write, { console: { api } }: Walked): Promise<void> {
  const lines: string[] = [];
  const create = (name: string, description: string) => {
    lines.push(`${name} ${description}`);
    const show = (value: number, tags = {}) =>
      lines.push(`${name} ${JSON.stringify(tags)} ${name.includes('timestamp') ? '<real time>' : value}`);
    return { set: show, add: show };
  };
  const meter = {
    createGauge: (name: string, _type: string, _unit: undefined, description: string) => create(name, description),
    createCounter: (name: string, _unit: undefined, description: string) => create(name, description),
  } as never;
  countRateLimited(meter);
  const logger = { warn: (_: object, message: string) => lines.push(message) } as never;
  await showFigures({ meter, store: api.store, serviceClock: api.context.clock, logger }).stop();
  write('metrics.txt', lines.toSorted().join('\n'));
}

async function writeCommands(write: Write, env: Record<string, string>): Promise<void> {
  for (const args of reading)
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await runWith([...args, ...more], {}, env);
      const name = args.map((word) => word.replaceAll(/[^\w+]+/g, '_')).join('-');
      write(`commands/${name}${more.length === 0 ? '.txt' : '.json.txt'}`, `exit ${code}\n${stdout}\n--- stderr\n${stderr}`);
    }
}

async function writeFiles(write: Write, env: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-files-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const args of writing) {
    const path = join(folder, args.at(-1) ?? '');
    const { code, stdout, stderr } = await runWith([...args.slice(0, -1), path], {}, env);
    const name = basename(path);
    write(`files/${name}.said.txt`, `${args.join(' ')}\nexit ${code}\n${stdout}\n--- stderr\n${stderr}`);
    if (/\.(?:zip|xlsx)$/.test(name)) await unpack(path, (part, text) => write(`files/${name}/${part}`, text));
    else write(`files/${name}`, shown(name, readFileSync(path)));
  }
}

async function unpack(path: string, write: Write): Promise<void> {
  const zip = await openPromise(path, { lazyEntries: true, autoClose: false });
  for await (const entry of zip.eachEntry())
    write(entry.fileName, shown(entry.fileName, await buffer(await zip.openReadStreamPromise(entry))));
  zip.close();
}

function shown(name: string, bytes: Buffer): string {
  if (/\.(?:wav|mp3)$/.test(name)) return `${bytes.length} bytes ${createHash('sha256').update(bytes).digest('hex').slice(0, 10)}`;
  return /\.(?:html|xml|rels)$/.test(name) ? splitTags(bytes.toString()) : bytes.toString();
}

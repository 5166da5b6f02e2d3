import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fetch } from 'undici';
import type { Command } from 'commander';
import { commands } from '../../src/interfaces/cli/commands.ts';
import { readWebhookEvent } from '../../src/rules/webhooks/messages.ts';
import { operations } from '../../src/operations/list.ts';
import { createTerminal } from '../interfaces/cli/terminal.ts';
import { runWith } from '../interfaces/cli/service-world.ts';
import { startWalkedConsole } from '../interfaces/console/walk/walked-console.ts';
import { webhookId } from '../shared/hooks/webhook-world.ts';
import { fillSandbox, startPageSandbox } from '../sandbox/page/window.ts';
import { emptyDatabase, type TestDialect } from '../ledger/test-stores.ts';
import type { StoreLocation } from '../../src/ledger/open-ledger.ts';
import { until } from '../support/until.ts';
import { normalise } from './normaliser.ts';

const roles = ['read', 'operate', 'admin'] as const;

/** What stands for each parameter of a route: what the walked ledger has. */
const parameters: Readonly<Record<string, string>> = { campaign: 'reminders', row: '18', call: '1', webhook: webhookId, format: 'csv' };
const ofSchedules: Readonly<Record<string, string>> = { ...parameters, campaign: 'weekly' };
/** They are bytes, or never end. */
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

/** Writes what every face says of one fixed ledger and one fixed service, a file for each, and answers how many there are. */
export async function writeMasters(folder: string, databases: readonly TestDialect[]): Promise<number> {
  let files = 0;
  const write = (name: string, text: string): void => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${normalise(text).trimEnd()}\n`);
    files += 1;
  };
  await writeHelp(write);
  for (const dialect of databases) await writeConsole((name, text) => write(`${dialect}/${name}`, text), await emptyDatabase(dialect));
  await writeSandbox(write);
  return files;
}

/** A page that waits for what is read in the background asks again within a second, or says so. */
async function whole(get: () => Promise<{ status: number; text: string }>): Promise<{ status: number; text: string } | undefined> {
  const answer = await get();
  return answer.status === 503 || / being (?:read|looked up)|data-again="1000"/.test(answer.text) ? undefined : answer;
}

type Write = (name: string, text: string) => void;

async function writeHelp(write: Write): Promise<void> {
  const walk = async (path: string[], command: Command): Promise<void> => {
    const { code, stdout, stderr } = await runWith([...path, '--help'], {}, {});
    write(`help/${path.join('-')}.txt`, `exit ${code}\n${stdout}${stderr}`);
    for (const inner of command.commands) await walk([...path, inner.name()], inner);
  };
  const { stdout } = await runWith(['--help'], {}, {});
  write('help/carillon.txt', stdout);
  for (const { name, load } of commands) await walk([name], (await load())(createTerminal()));
}

async function writeConsole(write: Write, location: StoreLocation): Promise<void> {
  const { console, examples } = await startWalkedConsole(location);
  const { api } = console;
  for (const [place, paths] of Object.entries(examples))
    for (const [index, path] of paths.entries())
      for (const role of roles) {
        const { status, text } = await until(`${path} is whole`, () => whole(() => console.get(path, role)));
        write(`html/${nameOf(place)}-${index + 1}-${role}.html`, `${status} ${path}\n${splitTags(text)}`);
      }
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
  write('api/openapi.json', JSON.stringify((await api.ask('GET /api/v1/openapi.json')).body, null, 1));
  const { db } = api.store;
  const logged = await db.selectFrom('events').selectAll().orderBy('seq').execute();
  const bodies = logged.flatMap(({ data, ...event }) => {
    const message = readWebhookEvent({ ...event, data: data === null ? {} : JSON.parse(data) } as never);
    return message === null ? [] : [JSON.stringify(message, null, 1)];
  });
  write('webhooks.json', bodies.join('\n'));
  const { databaseUrl = '', sqlitePath } = location;
  const database = databaseUrl === '' ? { CARILLON_DB: sqlitePath } : { DATABASE_URL: databaseUrl };
  await writeCommands(write, { ...api.context.config, ...database });
}

async function writeCommands(write: Write, config: object): Promise<void> {
  const names = /^(?:CARILLON_DB|DATABASE_URL|SVC_BASE_URL|SVC_API_KEY|TEMPORAL_ADDRESS|TEMPORAL_NAMESPACE|CARILLON_QUEUE_PREFIX)$/;
  const env = Object.fromEntries(Object.entries(config).filter(([name]) => names.test(name))) as Record<string, string>;
  for (const args of reading)
    for (const more of [[], ['--json']]) {
      const { code, stdout, stderr } = await runWith([...args, ...more], {}, env);
      const name = args.map((word) => word.replaceAll(/[^\w+]+/g, '_')).join('-');
      write(`commands/${name}${more.length === 0 ? '.txt' : '.json.txt'}`, `exit ${code}\n${stdout}\n--- stderr\n${stderr}`);
    }
}

async function writeSandbox(write: Write): Promise<void> {
  const sandbox = await startPageSandbox();
  const views = await fillSandbox(sandbox);
  for (const [index, path] of ['/', ...views].entries()) {
    const response = await fetch(new URL(path, sandbox.url), { headers: { accept: 'text/html' } });
    write(`sandbox/page-${index + 1}.html`, `${response.status} ${path}\n${splitTags(await response.text())}`);
  }
  for (const path of ['/openapi.json', '/_sandbox/openapi.json', '/_sandbox/calls', '/_sandbox/journal', '/_sandbox/conduct', '/v1/convai/agents', '/v1/convai/conversations', '/v1/convai/phone-numbers']) {
    const { status, body } = await sandbox.ask('GET', path);
    write(`sandbox/${nameOf(path)}.json`, `${status}\n${JSON.stringify(body, null, 1)}`);
  } // prettier-ignore
}

const nameOf = (path: string): string => path.replaceAll(/[^\w]+/g, '_').replaceAll(/^_|_$/g, '') || 'root';

/** A line for each tag, so that a comparison of lines shows what has changed. */
const splitTags = (html: string): string => html.replaceAll(/>\s*</g, '>\n<');

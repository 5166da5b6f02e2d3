import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { views } from '../src/interfaces/console/views/all.ts';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { readConfigWith } from '../src/shared/config.ts';
import { startDevServer } from '../src/temporal/dev-server.ts';
import { noon } from '../test/ledger/scenario.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { say, startChild } from './child.ts';
import { startConsole, type ConsoleServer } from './console-server.ts';
import { writeImportCampaign } from './fictional-list.ts';
import { makeLargeCampaign } from './large-ledger.ts';
import type { Figure } from './report.ts';
import { campaignDefaults, targets } from './settings.ts';

/** Of each page in a phase, as far as they fit into the time. */
const looks = { least: 1, most: 20, withinMs: 45_000 };
const betweenMs = 20;
const bystanderEveryMs = 50;

const phases = ['calm', 'while a campaign runs', 'while a list is imported beside it'] as const;
type Phase = (typeof phases)[number];

/** A page as somebody opens it, or asks it something by a form. */
interface Page {
  name: string;
  path: string;
  fields?: Record<string, string>;
}

/** Milliseconds to the first byte, by the name of the page. */
type Times = Map<string, number[]>;

/** What nobody who reads it has to do with the lists. */
const bystander: Page = { name: 'somebody else, of whom nothing is asked that has to do with lists', path: '/webhooks' };

/**
 * Every page of `carillon serve` as built over a campaign of so many rows, on both databases: milliseconds to the first byte, with nothing
 * else going on, while the campaign is dialled, and while as many rows are imported through the same server. Then the
 * files it hands out, and what somebody else waits for meanwhile. `only`: on one of the databases.
 */
export async function benchConsole(rows: number, only?: string): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const postgres = await startPostgresServer();
  const temporal = await startDevServer({ config: readConfigWith({}), dataFile: join(folder, 'temporal.db') });
  const sandbox = await startChild('sandbox-process.ts', { ...campaignDefaults, speed: 1, startsAt: noon + 21 * 86_400_000 });
  const env = {
    SVC_BASE_URL: (sandbox.first as { url: string }).url,
    SVC_API_KEY: 'sk_sandbox_ok',
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
  };
  const figures: Figure[] = [];
  try {
    const list = await writeImportCampaign(folder, campaignDefaults, rows);
    for (const database of ['SQLite', 'PostgreSQL'] as const) {
      if (only !== undefined && only !== database) continue;
      const location: StoreLocation = {
        sqlitePath: join(folder, 'console.db'),
        ...(database === 'SQLite' ? {} : { databaseUrl: await postgres.createDatabase('console') }),
      };
      say(`Console: ${rows} rows in ${database}`);
      const store = await openStore(location);
      const campaign = await makeLargeCampaign(store, rows);
      await store.close();
      figures.push(...(await benchDatabase(database, { location, env, campaign, list })));
    }
    return figures;
  } finally {
    await sandbox.stop();
    await temporal.stop();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Input {
  location: StoreLocation;
  env: Record<string, string | undefined>;
  campaign: { campaignId: string; nextBatch: number };
  /** Path of the campaign file whose list is imported. */
  list: string;
}

async function benchDatabase(database: string, { location, env, campaign, list }: Input): Promise<Figure[]> {
  const { campaignId, nextBatch } = campaign;
  const server = await startConsole(location, env);
  const pages = pagesOf(campaignId);
  const times = new Map<Phase, Times>();
  const figures: Figure[] = [];
  const measure = async (phase: Phase) => {
    times.set(phase, await measurePages(server, pages));
    const all = quantiles([...(times.get(phase) ?? [])].flatMap(([, took]) => took));
    say(`  ${phase}: p95 of all ${all.p95.toFixed(0)} ms, slowest ${all.slowest.toFixed(0)} ms`);
    for (const [name, took] of times.get(phase) ?? []) say(`    ${name}: ${Object.values(quantiles(took)).map(Math.round).join(' / ')} ms`);
  };
  try {
    await measure('calm');
    const dialling = await startChild('dialling-process.ts', { location, campaignId, firstBatch: nextBatch });
    try {
      await measure('while a campaign runs');
      const importing = importUntil(server, { path: list, id: `bench-${database.toLowerCase()}` });
      await measure('while a list is imported beside it');
      figures.push(importFigure(database, await importing.stop()));
      const pagesPeakMb = await server.peakMb();
      for (const file of ['results.csv', 'results.xlsx'])
        figures.push(...(await measureFile(database, server, { path: `/campaigns/${campaignId}/${file}`, file })));
      figures.push({
        name: `${database}, peak memory of the server while it hands out files`,
        value: await server.peakMb(),
        unit: 'MB',
        target: { atMost: targets.consolePeakMb },
        note: `${pagesPeakMb.toFixed(0)} MB before, an import included; resident, the runtime included`,
      });
    } finally {
      await dialling.stop();
    }
  } finally {
    await server.stop();
  }
  return [...phases.flatMap((phase) => phaseFigures(database, phase, times)), ...figures];
}

/** Each page of the navigation, and the people of the campaign by every filter and by what is searched for. */
function pagesOf(campaignId: string): Page[] {
  // What was said in a call is the service's to tell.
  const own = Object.keys(views).filter((path) => !path.endsWith(':call'));
  const all = own.map((path) => ({ name: path, path: path.replace(':campaign', campaignId).replace(':row', '1') }));
  const rows = `/campaigns/${campaignId}/rows`;
  const filter = (query: string): Page => ({ name: `people, ${query}`, path: `${rows}?${query}` });
  const search = (text: string): Page => ({ name: `people, search for ${text}`, path: rows, fields: { search: text } });
  return [
    ...all,
    ...['state=waiting', 'state=open', 'outcome=completed', 'outcome=opted_out', 'waiting=due', 'state=done&after=60000'].map(filter),
    ...['5550142', '9999999', 'nobody', '#50000'].map(search),
    { name: 'campaigns, search', path: '/', fields: { search: 'spring' } },
  ];
}

async function look({ url, headers }: ConsoleServer, { path, fields }: Page): Promise<number> {
  const begun = performance.now();
  const { statusCode, body } = await request(url + path, {
    headers: { ...headers, ...(fields === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }) },
    ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields).toString() }),
  });
  const took = performance.now() - begun;
  await body.dump();
  if (statusCode !== 200) throw new Error(`${path} answered with ${statusCode}`);
  return took;
}

/** One page after the other, all of them so many times, beside somebody who asks for something else all the time. */
async function measurePages(server: ConsoleServer, pages: readonly Page[]): Promise<Times> {
  const times: Times = new Map();
  const standing = standBy(server);
  const begun = performance.now();
  for (let round = 0; round < looks.most && (round < looks.least || performance.now() - begun < looks.withinMs); round++)
    for (const page of pages) {
      times.set(page.name, [...(times.get(page.name) ?? []), await look(server, page)]);
      await pause(betweenMs);
    }
  times.set(bystander.name, await standing.stop());
  return times;
}

function standBy(server: ConsoleServer): { stop(): Promise<number[]> } {
  const stopping = new AbortController();
  const took: number[] = [];
  const standing = (async () => {
    while (!stopping.signal.aborted) {
      took.push(await look(server, bystander));
      await pause(bystanderEveryMs);
    }
  })();
  // Whoever stops it hears of it.
  standing.catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await standing;
      return took;
    },
  };
}

interface Imports {
  count: number;
  /** What the server could not take just then, and was asked again. */
  putOff: number;
  slowestMs: number;
}

/** Sends the campaign again and again, each time under another id (Temporal knows those of both databases), until it is stopped. */
function importUntil({ url, token }: ConsoleServer, campaign: { path: string; id: string }): { stop(): Promise<Imports> } {
  const stopping = new AbortController();
  const imports: Imports = { count: 0, putOff: 0, slowestMs: 0 };
  const importing = (async () => {
    const yaml = await readFile(campaign.path, 'utf8');
    const list = new Blob([await readFile(join(campaign.path, '..', 'recipients.csv'))]);
    while (!stopping.signal.aborted) {
      const form = new FormData();
      form.set('campaign', new Blob([yaml.replace('id: bench', `id: ${campaign.id}-${imports.count}`)]), 'campaign.yaml');
      form.set('list', list, 'recipients.csv');
      const begun = performance.now();
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': `bench-${imports.count}` };
      const answer = await fetch(`${url}/api/v1/campaigns`, { method: 'POST', headers, body: form });
      const text = await answer.text();
      if (answer.status === 503) {
        imports.putOff += 1;
        continue;
      }
      if (!answer.ok) throw new Error(`the import was answered with ${answer.status}: ${text}`);
      imports.count += 1;
      imports.slowestMs = Math.max(imports.slowestMs, performance.now() - begun);
    }
  })();
  // Whoever stops it hears of it.
  importing.catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await importing;
      return imports;
    },
  };
}

function importFigure(database: string, { count, putOff, slowestMs }: Imports): Figure {
  const note = `${count} imports, ${putOff} put off with 503`;
  return { name: `${database}, an import through the server, slowest`, value: slowestMs / 1000, unit: 's', note };
}

/** A download: how soon it begins, how long it takes, and what somebody else waits for meanwhile. */
async function measureFile(database: string, server: ConsoleServer, { path, file }: { path: string; file: string }): Promise<Figure[]> {
  const standing = standBy(server);
  const begun = performance.now();
  const { statusCode, body } = await request(server.url + path, { headers: server.headers, headersTimeout: 0, bodyTimeout: 0 });
  const began = performance.now() - begun;
  if (statusCode !== 200) throw new Error(`${path} answered with ${statusCode}`);
  let bytes = 0;
  for await (const chunk of body) bytes += (chunk as Buffer).length;
  const tookMs = performance.now() - begun;
  const others = quantiles(await standing.stop());
  say(
    `  ${file}: ${(tookMs / 1000).toFixed(1)} s; somebody else: p95 ${others.p95.toFixed(0)} ms, slowest ${others.slowest.toFixed(0)} ms`,
  );
  return [
    {
      name: `${database}, ${file}, whole`,
      value: tookMs / 1000,
      unit: 's',
      note: `${(bytes / 1e6).toFixed(1)} MB, first byte after ${began.toFixed(0)} ms`,
    },
    {
      name: `${database}, somebody else during ${file}, p95`,
      value: others.p95,
      unit: 'ms',
      target: { atMost: targets.firstByteMs },
      note: `median ${others.median.toFixed(0)} ms, slowest ${others.slowest.toFixed(0)} ms`,
    },
  ];
}

function quantiles(took: readonly number[]): { median: number; p95: number; slowest: number } {
  const sorted = took.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN;
  return { median: at(0.5), p95: at(0.95), slowest: at(1) };
}

function phaseFigures(database: string, phase: Phase, times: ReadonlyMap<Phase, Times>): Figure[] {
  return [...(times.get(phase) ?? [])].map(([name, took]) => {
    const { median, p95, slowest } = quantiles(took);
    const calm = quantiles(times.get('calm')?.get(name) ?? []);
    const ratio = phase === 'calm' ? '' : `, p95 ${(p95 / calm.p95).toFixed(1)} times that of calm`;
    return {
      name: `${database}, ${phase}, ${name}, first byte, p95`,
      value: p95,
      unit: 'ms',
      target: { atMost: targets.firstByteMs },
      note: `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms of ${took.length}${ratio}`,
    };
  });
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { views } from '../src/interfaces/console/views/all.ts';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { noon } from '../test/ledger/scenario.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { runCarillon } from './campaign-bench.ts';
import { say, startChild } from './child.ts';
import type { ConsoleInput } from './console-process.ts';
import { makeLargeCampaign } from './large-ledger.ts';
import type { Figure } from './report.ts';
import { targets, type CampaignSettings } from './settings.ts';

const looks = 15;
const betweenMs = 300;

/** Every view of the page over a campaign of so many rows that is being dialled, on both databases: milliseconds to the first byte. */
export async function benchViews(rows: number): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  const server = await startPostgresServer();
  const figures: Figure[] = [];
  try {
    for (const database of ['SQLite', 'PostgreSQL'] as const) {
      const location: StoreLocation = {
        sqlitePath: join(folder, 'console.db'),
        ...(database === 'SQLite' ? {} : { databaseUrl: await server.createDatabase('console') }),
      };
      say(`Page: ${rows} rows in ${database}`);
      const store = await openStore(location);
      const { campaignId, nextBatch } = await makeLargeCampaign(store, rows);
      await store.close();
      const console = await startChild('console-process.ts', {
        location,
        standsAt: noon + 21 * 86_400_000,
      } satisfies ConsoleInput);
      const dialling = await startChild('dialling-process.ts', { location, campaignId, firstBatch: nextBatch });
      try {
        const { url, token } = console.first as { url: string; token: string };
        for (const path of Object.keys(views)) {
          const address = path.replace(':campaign', campaignId).replace(':row', '1');
          if (address.includes(':')) continue;
          figures.push(await measureView(database, { url: url + address, token, path }));
        }
      } finally {
        await dialling.stop();
        await console.stop();
      }
    }
    return figures;
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureView(database: string, { url, token, path }: { url: string; token: string; path: string }): Promise<Figure> {
  const took: number[] = [];
  for (let look = 0; look < looks; look++) {
    const begun = performance.now();
    const { statusCode, body } = await request(url, { headers: { cookie: `carillon_session=${token}` } });
    took.push(performance.now() - begun);
    await body.dump();
    if (statusCode !== 200) throw new Error(`${path} answered with ${statusCode}`);
    await pause(betweenMs);
  }
  const sorted = took.toSorted((a, b) => a - b);
  return {
    name: `${database}, ${path}, first byte, median`,
    value: sorted[Math.floor(looks / 2)] ?? NaN,
    unit: 'ms',
    target: { atMost: targets.firstByteMs },
    note: `first ${(took[0] ?? NaN).toFixed(0)} ms, slowest ${(sorted.at(-1) ?? NaN).toFixed(0)} ms`,
  };
}

const openPages = 20;
/** As the script of the page has it. */
const leastMs = 1_000;

/** The same campaign without and with 20 open pages of it: what the dialling loses. */
export async function benchOpenPages(settings: CampaignSettings): Promise<Figure[]> {
  say(`Carillon without a page: ${settings.recipients} recipients`);
  const alone = await runCarillon(settings, async () => async () => {});
  let shown = 0;
  say(`Carillon with ${openPages} open pages`);
  const watched = await runCarillon(settings, async ({ sqlitePath, campaignId, sandboxUrl }) => {
    const input: ConsoleInput = { location: { sqlitePath }, standsAt: null };
    const console = await startChild('console-process.ts', input, { SVC_BASE_URL: sandboxUrl });
    const { url, token } = console.first as { url: string; token: string };
    const leaving = new AbortController();
    const pages = Array.from({ length: openPages }, () =>
      watchPage(url, { path: `/campaigns/${campaignId}`, token, signal: leaving.signal, onShown: () => shown++ }),
    );
    return async () => {
      leaving.abort();
      await Promise.all(pages);
      await console.stop();
    };
  });
  return [
    { name: 'wall time without a page', value: alone.wallMs / 1000, unit: 's' },
    {
      name: `wall time with ${openPages} open pages`,
      value: watched.wallMs / 1000,
      unit: 's',
      note: `shown ${shown} times`,
    },
    {
      name: 'wall time, with / without',
      value: watched.wallMs / alone.wallMs,
      unit: '',
      target: { atMost: targets.openPagesRatio },
    },
  ];
}

/** What the script of an open page does: it hears of a change, and asks for the view again, at most once a second. */
async function watchPage(
  url: string,
  { path, token, signal, onShown }: { path: string; token: string; signal: AbortSignal; onShown: () => void },
): Promise<void> {
  const headers = { cookie: `carillon_session=${token}` };
  const campaign = path.split('/').at(-1) ?? '';
  while (!signal.aborted) {
    try {
      const { body } = await request(`${url}/changes?campaign=${campaign}`, { headers, signal, bodyTimeout: 0 });
      for await (const chunk of body) {
        if (!String(chunk).includes('event: changed')) continue;
        await (await request(url + path, { headers: { ...headers, 'x-page-part': 'app' }, signal })).body.dump();
        onShown();
        await pause(leastMs, undefined, { signal });
      }
    } catch {
      await pause(leastMs, undefined, { signal }).catch(() => {});
    }
  }
}

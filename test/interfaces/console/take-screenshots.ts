/** Creates the pictures of docs/page.md: npx tsx test/interfaces/console/take-screenshots.ts [folder] */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApi } from '../../../src/interfaces/api/server.ts';
import { installConsole } from '../../../src/interfaces/console/install-console.ts';
import { readConfig } from '../../../src/shared/config.ts';
import { createControl } from '../../../src/operations/control/control.ts';
import { realClock } from '../../../src/service/port/service-clock.ts';
import { createToken } from '../../../src/ledger/console/tokens.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { openWindow } from '../../support/browser.ts';
import { makePicturedCampaigns, picturedAt } from './pictured-campaigns.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images');
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };
type Picture = readonly [
  name: string,
  path: string,
  more?: { size?: keyof typeof sizes; colorScheme?: 'light' | 'dark'; open?: (page: Page) => Promise<void> },
];

const pictures: readonly Picture[] = [
  ['campaigns', '/'],
  ['campaign', '/campaigns/reminders'],
  ['campaign', '/campaigns/reminders', { size: 'narrow', colorScheme: 'dark' }],
  ['campaign-paused', '/campaigns/renewals'],
  ['campaign-done', '/campaigns/survey', { colorScheme: 'dark' }],
  ['pause', '/campaigns/reminders/pause'],
  ['change-limits', '/campaigns/reminders/limits'],
  ['people', '/campaigns/reminders/rows?person=14'],
  ['people', '/campaigns/reminders/rows', { size: 'narrow' }],
  ['person', '/campaigns/reminders/rows/14', { colorScheme: 'dark' }],
  ['correct', '/campaigns/survey/fix'],
  ['activity', '/campaigns/reminders/events'],
  ['figures', '/campaigns/reminders/figures'],
  ['results', '/campaigns/survey/results'],
  ['needs', '/campaigns/reminders/unresolved'],
  ['decisions', '/decisions'],
  ['search', '/search'],
  ['do-not-call', '/do-not-call'],
  ['webhooks', '/webhooks'],
  ['limits', '/limits'],
  ['access', '/access'],
  ['new', '/new', { open: upload }],
  ['sign-in', '/sign-in', { colorScheme: 'dark' }],
];

async function upload(page: Page): Promise<void> {
  const people = ['Ana,+12125550131', 'Ben,+13125550132', 'Chloe,+13105550133', 'David,555'];
  const buffer = Buffer.from(['name,phone', ...people].join('\n'));
  await page.getByLabel(/Your list/).setInputFiles({ name: 'guests.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('complementary', { name: 'What would happen' }).getByText('of 4 can be called').waitFor();
}

const database = await mkdtemp(join(tmpdir(), 'carillon-pictures-'));
const store = await openStore({ sqlitePath: join(database, 'carillon.db') });
await makePicturedCampaigns(store);
// The server's configured service, which is absent too.
const service = 'http://127.0.0.1:9';
await store.db.updateTable('campaigns').set({ account_id: service }).execute();
const now = () => picturedAt;
const { text } = await createToken(store, { name: 'front desk', role: 'admin', lastsMs: null, nowReal: now() });

await mkdir(folder, { recursive: true });
for (const [name, path, { size = 'wide', colorScheme = 'light', open } = {}] of pictures) {
  const control = createControl({
    config: readConfig({ CARILLON_LOG_LEVEL: 'silent', SVC_BASE_URL: service }),
    store,
    now,
    // The picture is taken before the page could miss Temporal.
    connect: () => new Promise(() => {}),
  });
  const context = { ...control, logger: pino({ level: 'silent' }), clock: async () => realClock(now), install: installConsole };
  const api = await startApi(context, { host: '127.0.0.1', port: 0, tls: null });
  const window = await openWindow({ origin: api.url, ...sizes[size], colorScheme, timezoneId: 'America/New_York' });
  const { page } = window;
  await page.clock.setFixedTime(picturedAt);
  if (path === '/sign-in') await page.goto(api.url + path);
  else await page.goto(`${api.url}/sign-in?to=${encodeURIComponent(path)}#token=${text}`);
  await page.locator(path === '/sign-in' ? 'h1' : '.app h1').waitFor();
  await open?.(page);
  await page.locator('.bone').first().waitFor({ state: 'detached' });
  await page.screenshot({ path: join(folder, `console-${name}-${size}-${colorScheme}.png`) });
  for (const complaint of window.complaints) console.error(complaint);
  await window.close();
  await api.close();
  await control.close();
}
await store.close();
await rm(database, { recursive: true });

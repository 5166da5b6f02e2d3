/** Creates the pictures of docs/page.md: npx tsx test/interfaces/console/take-screenshots.ts [folder] */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { startApi } from '../../../src/interfaces/api/server.ts';
import { readConfig } from '../../../src/shared/config.ts';
import { createControl } from '../../../src/operations/control/control.ts';
import { realClock } from '../../../src/service/port/service-clock.ts';
import { createToken } from '../../../src/ledger/console/tokens.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { openWindow } from '../../support/browser.ts';
import { makePicturedCampaigns, picturedAt } from './pictured-campaigns.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images');
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };
const pictures = [
  { name: 'campaigns', path: '/', size: 'wide', colorScheme: 'light' },
  { name: 'campaign', path: '/campaigns/reminders', size: 'wide', colorScheme: 'light' },
  { name: 'campaign', path: '/campaigns/reminders', size: 'narrow', colorScheme: 'dark' },
  { name: 'people', path: '/campaigns/reminders/rows?person=14', size: 'wide', colorScheme: 'light' },
  { name: 'person', path: '/campaigns/reminders/rows/14', size: 'wide', colorScheme: 'dark' },
  { name: 'needs', path: '/campaigns/reminders/unresolved', size: 'wide', colorScheme: 'light' },
] as const;

const database = await mkdtemp(join(tmpdir(), 'carillon-pictures-'));
const store = await openStore({ sqlitePath: join(database, 'carillon.db') });
await makePicturedCampaigns(store);
const now = () => picturedAt;
const { text } = await createToken(store, { name: 'front desk', role: 'operate', lastsMs: null, nowReal: now() });

await mkdir(folder, { recursive: true });
for (const { name, path, size, colorScheme } of pictures) {
  const control = createControl({
    config: readConfig({ CARILLON_LOG_LEVEL: 'silent', SVC_BASE_URL: 'http://127.0.0.1:9' }),
    store,
    now,
    // Temporal is not there, and the page is pictured before it could say so.
    connect: () => new Promise(() => {}),
  });
  const context = { ...control, logger: pino({ level: 'silent' }), clock: async () => realClock(now) };
  const api = await startApi(context, { host: '127.0.0.1', port: 0, tls: null });
  const window = await openWindow({ origin: api.url, ...sizes[size], colorScheme, timezoneId: 'America/New_York' });
  const { page } = window;
  await page.clock.setFixedTime(picturedAt);
  await page.goto(`${api.url}/sign-in?to=${path}#token=${text}`);
  await page.locator('.live[data-link="on"]:visible').waitFor();
  await page.screenshot({ path: join(folder, `console-${name}-${size}-${colorScheme}.png`) });
  for (const complaint of window.complaints) console.error(complaint);
  await window.close();
  await api.close();
  await control.close();
}
await store.close();
await rm(database, { recursive: true });

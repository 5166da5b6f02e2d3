/** Creates the pictures of docs/sandbox/page.md: npx tsx test/sandbox/page/take-screenshots.ts [folder] */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceClock } from '../../../src/sandbox/core/clock/clock.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { openWindow } from '../../support/browser.ts';
import { fillForPictures } from './pictured-sandbox.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images');
const widths = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } };
const clock = new ServiceClock({ speed: 0, epochMs: Date.UTC(2030, 0, 15, 12) });
const sandbox = await startSandbox({ seed: 'pictures', clock, concurrency: 8 });

await fillForPictures(sandbox);

const answered = sandbox.calls().find(({ to }) => to === '+12125550100');
const asked = sandbox.journal().find(({ operation }) => operation === 'batch_calls');
const views: Record<string, string> = {
  calls: '/',
  conversation: `/?view=call&id=${answered?.callId}`,
  batches: '/?view=batches',
  agents: '/?view=agents',
  agent: '/?view=agent&id=agent_reminders',
  numbers: '/?view=numbers',
  journal: '/?view=journal',
  request: `/?view=request&id=${asked?.sequence}`,
  webhooks: '/?view=webhooks',
  faults: '/?view=faults',
  conduct: '/?view=conduct',
  control: '/?view=control',
};
/** In the docs there is no room for all of them. */
const pictured = ['calls wide light', 'conversation wide dark', 'faults wide light', 'calls narrow dark'];

await mkdir(folder, { recursive: true });
for (const [size, viewport] of Object.entries(widths)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    const window = await openWindow({ origin: sandbox.url, ...viewport, colorScheme, timezoneId: 'UTC' });
    for (const [name, path] of Object.entries(views)) {
      if (process.argv[2] === undefined && !pictured.includes(`${name} ${size} ${colorScheme}`)) continue;
      await window.page.goto(sandbox.url + path);
      await window.page.locator('.live[data-link="on"]:visible').waitFor();
      await window.page.screenshot({ path: join(folder, `page-${name}-${size}-${colorScheme}.png`), fullPage: process.argv[3] === 'full' });
    }
    for (const complaint of window.complaints) console.error(complaint);
    await window.close();
  }
}
await sandbox.close();

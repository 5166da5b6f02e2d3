import { expect, onTestFinished } from 'vitest';
import { openWindow } from '../../support/browser.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { browserTest } from '../../sandbox/page/window.ts';
import { ConsoleWorld } from './console-world.ts';
import { startStillService } from './still-service.ts';

async function look() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  await scenario.dial(1);
  const console = await ConsoleWorld.over(store, { SVC_BASE_URL: await startStillService(noon) });
  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in?to=/campaigns/spring#token=${console.api.tokenText('operate')}`);
  await page.getByRole('heading', { name: 'Why is nobody called now?' }).waitFor();
  return { ...window, console };
}

browserTest('a pause that somebody else makes shows on an open page, with who made it and the button that ends it', async () => {
  const { page, console, complaints } = await look();
  await page.getByText('Live', { exact: true }).waitFor();
  await console.submit('/campaigns/spring/pause', {}, 'admin');
  await page.getByText('Paused by a person, since').waitFor();
  await page.getByRole('rowheader', { name: 'admin console: pause' }).waitFor();
  await page.getByRole('link', { name: 'Resume' }).waitFor();
  expect(complaints).toEqual([]);
});

browserTest('limits are changed in the form, and the page says what holds from the next batch on', async () => {
  const { page, complaints } = await look();
  await page.getByRole('link', { name: 'Limits …' }).click();
  await page.getByRole('textbox', { name: 'Concurrent calls' }).fill('7');
  await page.getByRole('button', { name: 'Change the limits' }).click();
  await page.getByText('From the next batch on: concurrent calls: 7').waitFor();
  await page.getByText('2 in use, 7 allowed').waitFor();
  expect(complaints).toEqual([]);
});

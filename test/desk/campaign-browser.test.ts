import { expect, onTestFinished } from 'vitest';
import { pauseCampaign } from '../../src/ledger/rows/campaigns.ts';
import { axeFindings } from '../support/axe.ts';
import { openWindow } from '../support/browser.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { beginProven, noon } from '../ledger/scenario.ts';
import { browserTest } from '../sandbox/page/window.ts';
import { DeskWorld } from './desk-world.ts';
import { startStillService } from './still-service.ts';

async function look({ width = 1280, dark = false } = {}) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  await scenario.dial(1);
  const desk = await DeskWorld.over(store, { SVC_BASE_URL: await startStillService(noon) });
  const origin = await desk.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin, width, colorScheme: dark ? 'dark' : 'light' });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in?to=/campaigns/spring#token=${desk.api.tokenText('operate')}`);
  await page.getByRole('heading', { name: 'Why is nobody called now?' }).waitFor();
  return { ...window, page, store, scenario, desk, origin };
}

browserTest(
  'a pause that somebody else makes shows on an open page, with who made it and the button that ends it',
  async () => {
    const { page, desk, complaints } = await look();
    await page.getByText('Live', { exact: true }).waitFor();
    await desk.submit('/campaigns/spring/pause', {}, 'admin');
    await page.getByText('Paused by a person, since').waitFor();
    await page.getByRole('rowheader', { name: 'admin desk: pause' }).waitFor();
    await page.getByRole('link', { name: 'Resume' }).waitFor();
    expect(complaints).toEqual([]);
  },
);

browserTest('limits are changed in the form, and the page says what holds from the next batch on', async () => {
  const { page, complaints } = await look();
  await page.getByRole('link', { name: 'Limits …' }).click();
  await page.getByRole('textbox', { name: 'Concurrent calls' }).fill('7');
  await page.getByRole('button', { name: 'Change the limits' }).click();
  await page.getByText('From the next batch on: concurrent calls: 7').waitFor();
  await page.getByText('2 in use, 7 allowed').waitFor();
  expect(complaints).toEqual([]);
});

const views = ['/', '/campaigns/spring', '/campaigns/spring/figures', '/campaigns/spring/events', '/campaigns/spring/limits', '/campaigns/spring/pause', '/campaigns/spring/resume']; // prettier-ignore

for (const dark of [false, true])
  browserTest(
    `axe finds nothing, and nothing is wider than a window of 320 pixels: ${dark ? 'dark' : 'light'}`,
    async () => {
      const { page, origin, store } = await look({ width: 320, dark });
      await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'the key is refused' });
      for (const view of views) {
        await page.goto(`${origin}${view}`);
        expect(await axeFindings(page), view).toEqual([]);
        const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect(wide, view).toBe(false);
      }
    },
  );

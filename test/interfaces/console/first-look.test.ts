import { expect, onTestFinished } from 'vitest';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { openWindow } from '../../support/browser.ts';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { browserTest } from '../../sandbox/page/window.ts';
import { ConsoleWorld } from './console-world.ts';
import { makePicturedCampaigns, picturedAt } from './pictured-campaigns.ts';
import { startStillService } from './still-service.ts';

/** How far down progress and figures may reach. */
const looks = [
  { width: 1440, height: 900, most: 600 },
  { width: 390, height: 844, most: 700 },
] as const;

browserTest('progress and figures stand in the first look, whatever state a campaign is in', async () => {
  const store = await openCleanStore('sqlite');
  await makePicturedCampaigns(store);
  const console = await ConsoleWorld.over(store, { SVC_BASE_URL: await startStillService(picturedAt) });
  console.api.at = picturedAt;
  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in#token=${console.api.tokenText('operate')}`);
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  const found: string[] = [];
  const look = async (id: string, state: string, notes = 0): Promise<void> => {
    await page.goto(`${origin}/campaigns/${id}`);
    await page.locator('#key-figures .bone').waitFor({ state: 'detached' });
    await page
      .locator('.note-place')
      .nth(Math.max(0, notes - 1))
      .waitFor({ state: notes === 0 ? 'detached' : 'attached' });
    for (const { width, height, most } of looks) {
      await page.setViewportSize({ width, height });
      const bottoms = await page.evaluate<number[]>(
        `['#hero', '#key-figures'].map((id) => document.querySelector(id).getBoundingClientRect().bottom + scrollY)`,
      );
      for (const bottom of bottoms) if (bottom > most) found.push(`${state} at ${width} px: ${bottom}`);
      // What is wrong is told above them in any case.
      const told = await page.evaluate<number>(
        `Math.min(...[...document.querySelectorAll('.state, .note-brief, .note')].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect().top + scrollY))`,
      );
      if (told > most) found.push(`${state} at ${width} px is not told`);
    }
  };
  // Of Temporal this process knows nothing: that is told beside what waits for a person.
  await look('reminders', 'calling', 2);
  await look('spring-offers', 'waiting for its start', 1);
  await look('renewals', 'paused by a person', 1);
  await pauseCampaign(store, { campaignId: 'reminders', now: picturedAt }, { reason: 'The service refuses the API key (401): set SVC_API_KEY. Fix it, then resume.' }); // prettier-ignore
  await look('reminders', 'paused by a problem', 2);
  await look('survey', 'ended');
  expect(found).toEqual([]);
  expect(window.complaints).toEqual([]);
});

import { expect, onTestFinished } from 'vitest';
import { actions } from '../../../../src/interfaces/console/actions/all.ts';
import { views } from '../../../../src/interfaces/console/views/all.ts';
import { pauseCampaign } from '../../../../src/ledger/rows/campaigns.ts';
import { browserTest } from '../../../sandbox/page/window.ts';
import { axeFindings } from '../../../support/axe.ts';
import { isFull, isSoak } from '../../../support/depth.ts';
import { openWindow } from '../../../support/browser.ts';
import { until } from '../../../support/until.ts';
import { picturedAt } from '../pictured-campaigns.ts';
import { openAddress, openPlainTab } from './page-addresses.ts';
import { firstLookFindings, largeTextFindings, printFindings, screenFindings } from './page-quality.ts';
import { startWalkedConsole } from './walked-console.ts';

const isLong = isFull || isSoak;
const colorSchemes = ['light', 'dark'] as const;
const moving = 'document.getAnimations().length';

/** Small depth: each once, but in every state of a campaign; every-form.test.ts has the forms. */
function shownAt([place, paths]: [place: string, paths: readonly string[]]): readonly string[] {
  if (isLong) return paths;
  if (place === '/campaigns/:campaign') return paths;
  return actions.some(({ path }) => path === place) ? [] : paths.slice(0, 1);
}

/** Small depth: axe checks each address once, in light at the widest or in dark at the narrowest. */
function schemesAt(address: number, width: number): readonly ('light' | 'dark')[] {
  if (isLong) return colorSchemes;
  const isEven = address % 2 === 0;
  return width !== (isEven ? 1280 : 320) ? [] : [isEven ? 'light' : 'dark'];
}

browserTest('every view is accessible, fits, is printed, is read in large text and without scripts, and asks nobody else', async () => {
  const { console, examples } = await startWalkedConsole();
  const registered = [...Object.keys(views), ...actions.map(({ path }) => path)];
  expect(Object.keys(examples)).toEqual(expect.arrayContaining(registered));

  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page, strayed } = window;
  // This page signs the plain tab in, too.
  const plain = await openPlainTab(page, origin, console.api.tokenText('admin'));
  const tools = await page.context().newCDPSession(page);
  const found: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400 && !answer.request().isNavigationRequest()) found.push(`${answer.url()}: ${answer.status()}`);
  });
  page.on('pageerror', (error) => found.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    // Answers are checked separately.
    if (!message.text().startsWith('Failed to load resource')) found.push(`${page.url()}: ${message.text()}`);
  });
  for (const [address, path] of Object.entries(examples).flatMap(shownAt).entries()) {
    const note = (where: string, findings: readonly string[]) => found.push(...findings.map((finding) => `${path} ${where}: ${finding}`));
    const status = await until(`${path} is ready`, () => openAddress(page, origin + path));
    if (status !== 200) note('is not there', [String(status)]);
    await page.getByText(/ being (read|looked up)/).first().waitFor({ state: 'detached' }); // prettier-ignore
    for (const width of [1280, 768, 320]) {
      await page.setViewportSize({ width, height: 900 });
      note(`at ${width} px`, await screenFindings(page));
      for (const colorScheme of schemesAt(address, width)) {
        await page.emulateMedia({ colorScheme });
        note(`at ${width} px, ${colorScheme}`, await axeFindings(page));
      }
    }
    if ((await page.evaluate(moving)) !== 0) note('moves', ['for somebody who asks for less motion']);
    if (/^\/campaigns\/[^/]+$/.test(path)) note('at first', await firstLookFindings(page));
    note('on paper', await printFindings(page));
    note('with text at 200 %', await largeTextFindings(page, tools));
    // Without a script a page has a heading, and waits for nothing.
    const isWhole = async () => (await openAddress(plain, origin + path)) === 200 && (await plain.locator('.bone:visible').count()) === 0;
    if (!isLong && !(await console.text(path, 'admin')).includes('bone')) continue;
    await until(`${path} is whole without a script`, isWhole);
    if ((await plain.locator('h1:visible').count()) !== 1) note('without a script', ['has no heading']);
  }
  // Others see an animation.
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await openAddress(page, `${origin}/campaigns/reminders`);
  expect(await page.evaluate(moving)).toBeGreaterThan(0);
  const reason = 'The service refuses the API key (401): set SVC_API_KEY. Fix it, then resume.';
  await pauseCampaign(console.store, { campaignId: 'reminders', now: picturedAt }, { reason });
  await openAddress(page, `${origin}/campaigns/reminders`);
  expect({ found: [...found, ...(await firstLookFindings(page))], strayed }).toEqual({ found: [], strayed: [] });
});

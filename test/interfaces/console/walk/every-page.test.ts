import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { actions } from '../../../../src/interfaces/console/actions/all.ts';
import { views } from '../../../../src/interfaces/console/views/all.ts';
import { browserTest } from '../../../sandbox/page/window.ts';
import { axeFindings } from '../../../support/axe.ts';
import { isFull } from '../../../support/depth.ts';
import { openWindow } from '../../../support/browser.ts';
import { until } from '../../../support/until.ts';
import { largeTextFindings, printFindings } from './page-quality.ts';
import { documentsOf } from './page-addresses.ts';
import { startWalkedConsole } from './walked-console.ts';

const widths = [1280, 768, 320];
const colorSchemes = ['light', 'dark'] as const;
/** Ids of one word that stand on two lines. */
const brokenIds = `[...document.querySelectorAll('.named a')]
  .filter((link) => /^[a-z]+$/.test(link.textContent) && link.getClientRects().length > 1)
  .map((link) => link.textContent)`;

const moving = 'document.getAnimations().length';

/** How a width is looked at by axe: at the small depth each address once, in light at the widest or in dark at the narrowest. */
function schemesAt(address: number, width: number): readonly ('light' | 'dark')[] {
  if (isFull) return colorSchemes;
  const isEven = address % 2 === 0;
  return width !== (isEven ? 1280 : 320) ? [] : [isEven ? 'light' : 'dark'];
}

browserTest('every view and form is accessible, fits, is printed, is read in large text and without scripts, and asks nobody else', { timeout: 900_000 }, async () => {
  const { console, examples } = await startWalkedConsole();
  const documents = documentsOf(console.api.app);
  const registered = [...Object.keys(views), ...actions.map(({ path }) => path)];
  expect(documents).toEqual(expect.arrayContaining(registered));
  // A new view or form needs an address in walked-console.ts.
  expect(Object.keys(examples).toSorted()).toEqual(documents.toSorted());

  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page, strayed } = window;
  await page.goto(`${origin}/sign-in#token=${console.api.tokenText('admin')}`);
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  const found: string[] = [];
  page.on('response', (answer) => {
    if (answer.status() >= 400 && !answer.request().isNavigationRequest()) found.push(`${answer.url()}: ${answer.status()}`);
  });
  page.on('pageerror', (error) => found.push(`${page.url()}: ${error.message}`));
  page.on('console', (message) => {
    // Answers are judged by themselves.
    if (!message.text().startsWith('Failed to load resource')) found.push(`${page.url()}: ${message.text()}`);
  });
  for (const [address, path] of Object.values(examples).flat().entries()) {
    const status = await until(`${path} is ready`, () => open(page, origin + path));
    if (status !== 200) found.push(`${path}: ${status}`);
    await page.getByText(/ being (read|looked up)/).first().waitFor({ state: 'detached' });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      for (const id of await page.evaluate<string[]>(brokenIds)) found.push(`${path} at ${width} px: ${id} is broken`);
      if (isWide === true) found.push(`${path} at ${width} px scrolls sideways`);
      for (const colorScheme of schemesAt(address, width)) {
        await page.emulateMedia({ colorScheme });
        for (const finding of await axeFindings(page)) found.push(`${path} at ${width} px, ${colorScheme}: ${finding}`);
      }
    }
    if ((await page.evaluate(moving)) !== 0) found.push(`${path} moves for somebody who asks for less motion`);
    for (const finding of await printFindings(page)) found.push(`${path} on paper: ${finding}`);
  }
  // Others see that something goes on.
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await open(page, `${origin}/campaigns/reminders`);
  expect(await page.evaluate(moving)).toBeGreaterThan(0);
  const walked = { token: console.api.tokenText('admin'), paths: Object.values(examples).flat() };
  found.push(...(await walkInLargeText(origin, walked)), ...(await walkWithoutScripts(origin, walked)));
  expect({ found, strayed }).toEqual({ found: [], strayed: [] });
}); // prettier-ignore

/** Every page for somebody whose browser shows text at twice its usual size. */
async function walkInLargeText(origin: string, { token, paths }: { token: string; paths: readonly string[] }): Promise<string[]> {
  const window = await openWindow({ origin, fontSize: 32 });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in#token=${token}`);
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  const found: string[] = [];
  for (const path of paths) {
    await until(`${path} is ready`, () => open(page, origin + path));
    for (const finding of await largeTextFindings(page)) found.push(`${path} with text at 200 %: ${finding}`);
  }
  return found;
}

/** Every page without a script: it has a heading, and nothing of it waits for more; a campaign is paused. */
async function walkWithoutScripts(origin: string, { token, paths }: { token: string; paths: readonly string[] }): Promise<string[]> {
  const window = await openWindow({ origin, javaScriptEnabled: false });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  const found: string[] = [];
  for (const path of paths) {
    const isWhole = async () => {
      if ((await open(page, origin + path)) !== 200) return undefined;
      return (await page.locator('.bone:visible').count()) === 0 ? true : undefined;
    };
    await until(`${path} is whole without a script`, isWhole);
    if ((await page.locator('h1:visible').count()) !== 1) found.push(`${path} without a script has no heading`);
  }
  await page.goto(`${origin}/campaigns/reminders`);
  await page.getByRole('link', { name: 'Pause', exact: true }).click();
  await page.locator('form.act button.primary').click();
  await page.getByRole('link', { name: 'Resume' }).first().waitFor();
  return found;
}

/** What an address is answered with; nothing yet while a busy Temporal does not say in time what the page waits for. */
async function open(page: Page, url: string): Promise<number | undefined> {
  const status = (await page.goto(url))?.status();
  return status === 503 ? undefined : status;
}

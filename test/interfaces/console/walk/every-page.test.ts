import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { actions } from '../../../../src/interfaces/console/actions/all.ts';
import { views } from '../../../../src/interfaces/console/views/all.ts';
import { browserTest } from '../../../sandbox/page/window.ts';
import { axeFindings } from '../../../support/axe.ts';
import { isFull } from '../../../support/depth.ts';
import { openWindow } from '../../../support/browser.ts';
import { until } from '../../../support/until.ts';
import { largeTextFindings, printFindings, screenFindings } from './page-quality.ts';
import { documentsOf } from './page-addresses.ts';
import { startWalkedConsole } from './walked-console.ts';

const widths = [1280, 768, 320];
const colorSchemes = ['light', 'dark'] as const;
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
  const plain = await openPlainTab(page, origin, console.api.tokenText('admin'));
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
      for (const finding of await screenFindings(page)) found.push(`${path} at ${width} px: ${finding}`);
      for (const colorScheme of schemesAt(address, width)) {
        await page.emulateMedia({ colorScheme });
        for (const finding of await axeFindings(page)) found.push(`${path} at ${width} px, ${colorScheme}: ${finding}`);
      }
    }
    if ((await page.evaluate(moving)) !== 0) found.push(`${path} moves for somebody who asks for less motion`);
    for (const finding of await printFindings(page)) found.push(`${path} on paper: ${finding}`);
    for (const finding of await largeTextFindings(page)) found.push(`${path} with text at 200 %: ${finding}`);
    // Without a script a page has a heading, and nothing of it waits for more.
    const isWhole = async () => (await open(plain, origin + path)) === 200 && (await plain.locator('.bone:visible').count()) === 0;
    await until(`${path} is whole without a script`, isWhole);
    if ((await plain.locator('h1:visible').count()) !== 1) found.push(`${path} without a script has no heading`);
  }
  // Others see that something goes on.
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  await open(page, `${origin}/campaigns/reminders`);
  expect(await page.evaluate(moving)).toBeGreaterThan(0);
  await pausePlainly(plain, origin);
  expect({ found, strayed }).toEqual({ found: [], strayed: [] });
}); // prettier-ignore

/** A tab that runs no scripts, in which the token was written into the form; it signs the others in, too. */
async function openPlainTab(beside: Page, origin: string, token: string): Promise<Page> {
  const page = await beside.context().newPage();
  const tools = await beside.context().newCDPSession(page);
  await tools.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.goto(`${origin}/sign-in`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Campaigns', level: 1 }).waitFor();
  return page;
}

async function pausePlainly(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/campaigns/reminders`);
  await page.getByRole('link', { name: 'Pause', exact: true }).click();
  await page.locator('form.act button.primary').click();
  await page.getByRole('link', { name: 'Resume' }).first().waitFor();
}

/** What an address is answered with; nothing yet while a busy Temporal does not say in time what the page waits for. */
async function open(page: Page, url: string): Promise<number | undefined> {
  const status = (await page.goto(url))?.status();
  return status === 503 ? undefined : status;
}

import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeFindings } from '../../support/axe.ts';
import { isFull } from '../../support/depth.ts';
import { browserTest, fillSandbox, look } from './window.ts';

const liveLink = '.live[data-link="on"]:visible';

/** Widths in pixels on both sides of each place where the styles change, and the narrowest that is asked for. */
const widths = [1280, 1101, 961, 768, 390, 320];

/** Ids and telephone numbers in the main part that break over lines. Bodies are shown as sent. */
const brokenIds = `(() => {
  const wanted = /\\+\\d{8,}|\\b(?:agent|batch|call|conv|pn|webhook)_\\w+/g;
  const broken = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    if (element.closest('pre, option, .hidden') || !element.checkVisibility()) continue;
    for (const { 0: text, index } of node.data.matchAll(wanted)) {
      seen += 1;
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + text.length);
      const cut = element.scrollWidth > element.clientWidth && getComputedStyle(element).overflow === 'hidden';
      if (range.getClientRects().length !== 1 || cut) broken.push(text);
    }
  }
  return { seen, broken };
})()`;

const overflow = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const right = Math.max(...[...document.querySelectorAll('main *:not(.scroll *)')].map((element) => element.getBoundingClientRect().right));
  return [scrollWidth, clientWidth, right];
})()`;

browserTest('everything can be reached and done with the keyboard alone', async ({ sandbox }) => {
  const { page } = await look(sandbox);
  await page.locator(liveLink).waitFor();
  const focused = 'document.activeElement.textContent.trim() || document.activeElement.getAttribute("aria-label")';
  await page.keyboard.press('Tab');
  expect(await page.evaluate(focused)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');
  await page.goto(`${sandbox.url}/`);
  await page.locator(liveLink).waitFor();
  const go = async (wanted: RegExp): Promise<void> => {
    for (let steps = 0; steps < 60; steps += 1) {
      await page.keyboard.press('Tab');
      if (wanted.test(String(await page.evaluate(focused)))) return;
    }
    throw new Error(`Nothing that reads ${String(wanted)} was reached in 60 steps.`);
  };
  await go(/^Faults$/);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/?view=faults');
  await page.locator(liveLink).waitFor();
  await go(/^A page of the gateway$/);
  const outline =
    '(() => { const style = getComputedStyle(document.activeElement); return style.outlineStyle + " " + style.outlineWidth; })()';
  expect(await page.evaluate(outline)).toBe('solid 2px');
  await page.keyboard.press('Space');
  await page.getByRole('switch', { name: 'A page of the gateway', checked: true }).waitFor();
  expect(await page.evaluate(focused)).toBe('A page of the gateway');
  expect((await sandbox.ask('GET', '/v1/convai/agents')).status).toBe(502);
});

const ground = 'Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])';

const focusedPlace = `(() => {
  const { nodeName, textContent } = document.activeElement;
  return nodeName === 'BODY' ? nodeName : nodeName + ' ' + textContent.trim().slice(0, 20);
})()`;

const visiblePlaces = `[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, audio, [tabindex="0"]')]
  .filter((element) => element.checkVisibility({ contentVisibilityAuto: true }) && element.closest('details:not([open]) > :not(summary)') === null).length`;

browserTest('every view can be read in both schemes and at every width, and the tab key comes through it', async ({ sandbox }) => {
  const long = 'A_name_without_any_place_to_break_it_that_goes_on_and_on_'.repeat(6);
  await sandbox.ask('POST', '/v1/convai/agents', { name: long, tags: [long] });
  await sandbox.ask('GET', `/v1/convai/${long}`);
  const { body } = await sandbox.ask('POST', '/v1/convai/agents', { name: 'An agent with a longer name', tags: ['tag'] });
  await sandbox.ask('GET', `/v1/convai/conversations?page_size=1&agent_id=${body.agent_id}`);
  for (const id of ['pn_main', 'pn_second']) await sandbox.ask('PATCH', `/v1/convai/phone-numbers/${id}`, { agent_id: body.agent_id });
  const views = [...(await fillSandbox(sandbox)), `/?view=agent&id=${body.agent_id}`];
  const { page, complaints } = await look(sandbox);
  const found = new Map(widths.map((width) => [width, 0]));
  for (const [nth, view] of views.entries()) {
    await page.goto(sandbox.url + view);
    await page.locator(liveLink).waitFor();
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      const brightness = await page.evaluate<number>(ground);
      expect(colorScheme === 'light' ? brightness > 192 : brightness < 64, colorScheme).toBe(true);
      expect(await axeFindings(page, 'color-contrast'), `${view}, ${colorScheme}`).toEqual([]);
    }
    // Each press of the key takes its time: usually a third of the views shows it.
    if (isFull || nth % 3 === 0) await expectRoundByTab(page, view);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 800 });
      const { seen, broken } = await page.evaluate<{ seen: number; broken: string[] }>(brokenIds);
      expect({ view, width, broken }).toEqual({ view, width, broken: [] });
      found.set(width, (found.get(width) ?? 0) + seen);
    }
    await page.evaluate('document.querySelectorAll("details").forEach((details) => { details.open = true; })');
    for (const width of widths.toReversed()) {
      await page.setViewportSize({ width, height: 800 });
      const [scroll = 0, client = 0, right = 0] = await page.evaluate<number[]>(overflow);
      expect({ view, width, fits: scroll <= client && Math.floor(right) <= width }).toEqual({ view, width, fits: true });
    }
  }
  expect(Math.min(...found.values())).toBeGreaterThan(40);
  // One of the views is one that there is not.
  expect(complaints.splice(0).every((text) => text.includes('404'))).toBe(true);
});

async function expectRoundByTab(page: Page, view: string): Promise<void> {
  const places = await page.evaluate<number>(visiblePlaces);
  const way: string[] = [];
  const isRound = (): boolean => way.at(-1) === 'BODY' || (way.length > 1 && way.at(-1) === way[0]);
  // A player, and a field for a date, have places of their own inside.
  while (!isRound() && way.length < places + 40) {
    await page.keyboard.press('Tab');
    way.push(await page.evaluate<string>(focusedPlace));
  }
  expect(isRound(), `${view} has ${places} places: ${way.join(', ')}`).toBe(true);
  expect(way.length - 1, way.join(', ')).toBeGreaterThanOrEqual(places);
}

browserTest('nothing moves by itself for whoever wants less motion', async ({ sandbox }) => {
  await sandbox.batch('+12125550109');
  await sandbox.advance(12);
  const { page } = await look(sandbox, '/', { reducedMotion: 'no-preference' });
  await page.locator('.state.is-live').first().waitFor();
  const moving = 'document.getAnimations().length';
  expect(await page.evaluate(moving)).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  expect(await page.evaluate(moving)).toBe(0);
});

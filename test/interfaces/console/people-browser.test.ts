import { expect, onTestFinished } from 'vitest';
import { hourMs } from '../../support/campaign-rules.ts';
import { openWindow } from '../../support/browser.ts';
import { secret } from '../../shared/hooks/webhook-world.ts';
import { talk, three, threeInDoubt } from '../../ledger/people/three-in-doubt.ts';
import { noon } from '../../ledger/scenario.ts';
import { browserTest } from '../../sandbox/page/window.ts';
import { ConsoleWorld } from './console-world.ts';
import { startStillService } from './still-service.ts';

const later = noon + 3 * hourMs;

async function look() {
  const scenario = await threeInDoubt('sqlite', [talk('conv_a'), talk('conv_b')]);
  const settings = { SVC_BASE_URL: await startStillService(later), CARILLON_HOOK_SECRET: secret };
  const console = await ConsoleWorld.over(scenario.store, settings);
  console.api.at = later;
  const origin = await console.api.app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page } = window;
  await page.goto(`${origin}/sign-in?to=/campaigns/spring/rows#token=${console.api.tokenText('admin')}`);
  await page.locator('#rows-search').waitFor();
  return { ...window, page, scenario, origin };
}

browserTest('a number that is searched for is in no address and no history, and is found', async () => {
  const { page, origin, complaints } = await look();
  await page.getByRole('searchbox').fill('202 555 0142');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('heading', { name: 'Found' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  expect(page.url()).toBe(`${origin}/campaigns/spring/rows`);
  expect(await page.content()).not.toContain(three[1]?.slice(1));
  await page.getByRole('button', { name: 'Show numbers' }).click();
  await page.getByText(three[1] ?? '', { exact: true }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(1);
  await page.getByRole('link', { name: '2', exact: true }).click();
  await page.getByRole('heading', { name: 'Row 2 of spring' }).waitFor();
  await page.getByText('call 1 planned').waitFor();
  expect(complaints).toEqual([]);
});

browserTest('one click says whose a record is, and the page has one row fewer to decide about', async () => {
  const { page, origin, scenario, complaints } = await look();
  await page.goto(`${origin}/campaigns/spring/unresolved`);
  const second = page.locator('#doubt-2 tr', { hasText: 'conv_b' });
  await second.getByRole('button', { name: 'It is theirs' }).click();
  await page.getByText('Row 2: the record is theirs').waitFor();
  await page.locator('#doubt-2').waitFor({ state: 'detached' });
  expect((await scenario.recipients()).map(({ outcome }) => outcome)).toEqual(['unresolved', 'completed', 'unresolved']);
  expect(complaints).toEqual([]);
});

browserTest('a file of numbers is chosen, sent and counted', async () => {
  const { page, origin, complaints } = await look();
  await page.goto(`${origin}/do-not-call/import`);
  const buffer = Buffer.from(`phone\n${three.join('\n')}\nnobody\n`);
  await page.locator('input[type=file]').setInputFiles({ name: 'numbers.csv', mimeType: 'text/csv', buffer });
  await page.getByRole('button', { name: 'Import the file' }).click();
  await page.getByText('1 line protects nobody').waitFor();
  await page.goto(`${origin}/do-not-call`);
  await page.getByLabel('Numbers, one a line').fill(`${three[0]}\n+12125550199`);
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('1 of 2 numbers is not called').waitFor();
  expect(page.url()).toBe(`${origin}/do-not-call`);
  expect(complaints).toEqual([]);
});

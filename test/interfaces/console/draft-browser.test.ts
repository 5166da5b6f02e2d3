import { expect, onTestFinished } from 'vitest';
import { openTestStore } from '../../ledger/test-stores.ts';
import { browserTest } from '../../sandbox/page/window.ts';
import { openWindow } from '../../support/browser.ts';
import { DraftWorld, goodList } from './draft-world.ts';

async function look() {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const { app } = world.console.api;
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const window = await openWindow({ origin });
  onTestFinished(async () => {
    await window.close();
    expect(window.strayed).toEqual([]);
    expect(window.complaints).toEqual([]);
  });
  await window.page.goto(`${origin}/sign-in?to=/new#token=${world.console.api.tokenText('operate')}`);
  await window.page.getByRole('heading', { name: 'New campaign' }).waitFor();
  return window;
}

browserTest('a list is dropped, and the example follows what is written, with the keyboard alone', async () => {
  const { page } = await look();
  const dropped = await page.evaluateHandle(`(() => {
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(goodList)}], 'autumn.csv', { type: 'text/csv' }));
    return data;
  })()`);
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: dropped });
  await page.getByRole('button', { name: 'Upload and go on' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New campaign: columns' }).waitFor();
  await page.getByLabel('Country of numbers without +').focus();
  await page.keyboard.type('United States');
  await page.getByRole('button', { name: /^Save/ }).press('Enter');
  await page.getByLabel('Opening line').focus();
  await page.keyboard.type('Hello {{ First_name }}, until {{ Day }}.');
  await page.locator('#example').getByText('Hello Ben, until Tuesday.', { exact: true }).waitFor();
  await page.keyboard.type(' {{ nobody }}');
  await page.locator('#example').getByText('No example yet.').waitFor();
  for (let typed = 0; typed < ' {{ nobody }}'.length; typed += 1) await page.keyboard.press('Backspace');
  await page.locator('#example').getByText('Hello Chloe, until Wednesday.', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Save/ }).press('Enter');
  await page.getByRole('heading', { name: 'New campaign: calls' }).waitFor();
  await page.goBack();
  await page.getByText('Hello {{ First_name }}, until {{ Day }}.').waitFor();
  await page.getByRole('link', { name: '2 Columns' }).click();
  expect(await page.getByLabel('Country of numbers without +').inputValue()).toBe('US');
});

import { expect, onTestFinished } from 'vitest';
import type { Page } from 'playwright-core';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { browserTest } from '../sandbox/page/window.ts';
import { openWindow } from '../support/browser.ts';
import { until } from '../support/until.ts';

const rows = 300;
/** In Chicago: calling hours in all of these places. */
const tuesdayNoon = Date.UTC(2030, 0, 15, 18);
const areas = [212, 312, 310];
const numberOf = (n: number) => `+1${areas[Math.floor(n / 100)]}555${String(100 + (n % 100)).padStart(4, '0')}`;
const list = ['phone,name', ...Array.from({ length: rows }, (_, n) => `${numberOf(n)},Guest ${n + 1}`)].join('\n');
/** A letter stands in the first number. */
const listWithMistake = list.replace('+12125550100', '+1212555O100');

/** Presses a link and the button of the form behind it. */
async function act(page: Page, link: RegExp, button: RegExp): Promise<void> {
  await page.getByRole('link', { name: link }).first().click();
  await page.getByRole('button', { name: button }).click();
}

browserTest(
  'a campaign of 300 rows is made from an upload, checked, started, paused, steered, decided about and handed on without a shell',
  async () => {
    // Of the first batch nobody will ever know whether it arrived: its connection is cut, and no record shows it.
    const lost = {
      operation: 'batch_calls' as const,
      nth: 1,
      effect: { type: 'reset' as const, when: 'before' as const },
    };
    const world = await createWorld({ epochMs: tuesdayNoon, faults: [lost] });
    await world.work();
    const made = await world.run('token', 'create', 'front desk', '--role', 'operate', '--json');
    const { token } = JSON.parse(made.stdout) as { token: string };
    const server = world.begin('serve', '--port', '0', '--json');
    const ready = await until('the page listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
    const { url: origin } = JSON.parse(ready) as { url: string };
    const window = await openWindow({ origin });
    onTestFinished(() => window.close());
    const { page, complaints, strayed } = window;
    // Each wait is for what surely comes, however busy the machine is.
    page.setDefaultTimeout(240_000);

    // Signed in with a link, as `carillon dev` prints it.
    await page.goto(`${origin}/sign-in?to=/new#token=${token}`);
    await page.getByLabel(/Your list/).setInputFiles({ name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(listWithMistake) });
    // The page opens as soon as the list is there, and saves what is changed without a button.
    const sum = page.getByRole('complementary', { name: 'What would happen' });
    await sum.getByText(`of ${rows} can be called`).waitFor();
    await sum.getByText(String(rows - 1), { exact: true }).waitFor();
    const cell = page.getByLabel('New value of phone in row 1', { exact: true });
    await cell.fill(numberOf(0));
    await cell.press('Tab');
    await page.getByLabel('Agent', { exact: true }).selectOption('agent_reminders');
    await sum.getByText(String(rows), { exact: true }).waitFor();
    await page.getByLabel(/Main line/).check();
    await page.getByLabel('Opening line').fill('Hello , a reminder of your appointment.');
    await page.getByLabel('Opening line').press('Home');
    for (const _ of 'Hello ') await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'name', exact: true }).click();
    await page.getByText('Hello Guest 2, a reminder').waitFor();
    await page.getByLabel('As long as the law allows').check();
    await page.getByLabel('Call at most').fill('5');
    await page.getByLabel('Try each person up to').fill('1');
    await page.getByLabel('Never call a number more than').fill('');
    await page.getByLabel('Within this time').selectOption('');
    await page.getByLabel('Id of the campaign').fill('No id');
    await page.getByLabel('Name', { exact: true }).fill('Guests');
    await page.getByRole('heading', { name: 'Guests', level: 1 }).waitFor();
    await page.locator('[id="id"][aria-invalid="true"]').fill(world.id);
    await page.getByRole('button', { name: 'Rehearse' }).click();
    await page.getByRole('link', { name: 'Back to check and start' }).click({ timeout: 240_000 });
    await page.getByRole('link', { name: 'Report' }).waitFor();
    await page.getByRole('button', { name: `Start calling ${rows} people` }).click();
    await page.getByText(`${world.id} is started with ${rows} rows.`).waitFor();

    await page.getByRole('link', { name: 'Activity', exact: true }).click();
    await page
      .getByText(/^No usable answer/)
      .first()
      .waitFor({ timeout: 240_000 });
    await page.getByRole('link', { name: 'Overview' }).click();
    await act(page, /^Pause/, /^Pause/);
    await page.getByText(`${world.id} is paused`).waitFor();
    await page.getByLabel('More actions').click();
    await page.getByRole('link', { name: 'Change limits…' }).click();
    await page.getByRole('textbox', { name: 'Concurrent calls' }).fill('100');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('From the next batch on: concurrent calls: 100').waitFor();
    await act(page, /^Resume/, /^Resume/);
    await page.getByText(`${world.id} is running again.`).waitFor();

    // One who rang the front desk is taken off, if nobody has called them yet, and put on the do-not-call list in any case.
    await page.goto(`${origin}/campaigns/${world.id}/rows/300`);
    await page.getByRole('link', { name: 'Do not call this number' }).click();
    await page.getByRole('button', { name: 'Do not call this number' }).click();

    await page.goto(`${origin}/campaigns/${world.id}`);
    await until(
      'the campaign ends on the open page',
      async () => (await page.getByRole('link', { name: 'Download results' }).count()) > 0,
      {
        limitMs: 400_000,
        everyMs: 500,
      },
    );

    // The service's log has no call to those of the lost batch, and a person decides that they are dialled again.
    const called = (): Set<string> => new Set(world.sandbox.calls().map(({ to }) => to));
    const before = called().size;
    await page.getByRole('link', { name: 'Decide' }).click();
    await act(page, /^Call 5 again/, /^Call 5 people again/);
    await page.getByText('5 people called again').waitFor();
    await page.goto(`${origin}/campaigns/${world.id}`);
    await until('they have been called', () => called().size === before + 5, { limitMs: 300_000 });
    await page.getByRole('link', { name: 'Download results' }).waitFor({ timeout: 300_000 });
    expect(await page.getByRole('link', { name: 'Decide' }).count()).toBe(0);
    expect(complaints).toEqual([]);
    expect(strayed).toEqual([]);

    // Somebody who was reached: what was said, beside its recording.
    await page
      .getByRole('navigation', { name: 'Campaign' })
      .getByRole('link', { name: /^People/ })
      .click();
    await page
      .getByRole('navigation', { name: 'Filter by status' })
      .getByRole('link', { name: /^Reached/ })
      .click();
    await page.locator('tbody').getByRole('link').first().click();
    await page.getByRole('link', { name: 'Listen and read' }).first().click();
    await page.getByRole('heading', { name: 'Recording and transcript' }).waitFor();
    expect(await page.locator('.talk li').count()).toBeGreaterThan(1);
    expect(await page.locator('audio#recording').count()).toBe(1);

    await page.goto(`${origin}/campaigns/${world.id}/results`);
    const [results] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: /CSV/ }).first().click()]);
    expect(results.suggestedFilename()).toMatch(/\.csv$/);
    const [report] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download the report' }).click()]);
    expect(report.suggestedFilename()).toMatch(/\.html$/);
    expect(await world.run('verify', world.id)).toMatchObject(proven);
    server.interrupt();
    expect((await server.ended).code).toBe(0);
  },
);

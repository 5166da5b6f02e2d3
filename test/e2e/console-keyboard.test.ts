import { expect, onTestFinished } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { apiKey, browserTest } from '../sandbox/page/window.ts';
import { openWindow } from '../support/browser.ts';
import { until } from '../support/until.ts';

const rows = 12;
/** In Chicago, within calling hours. */
const tuesdayNoon = Date.UTC(2030, 0, 15, 18);
const numberOf = (n: number) => `+1312555${String(100 + n).padStart(4, '0')}`;
const list = ['phone,name', ...Array.from({ length: rows }, (_, n) => `${numberOf(n)},Guest ${n + 1}`)].join('\n');
/** A letter stands in the first number. */
const listWithMistake = list.replace(numberOf(0), numberOf(0).replace('0', 'O'));

/** Whether the element with the focus shows that it has it, by its outline, its shadow, or those of what is drawn around it. */
const focusShown = `(() => {
  const at = document.activeElement;
  const shows = (it) => it !== null && (getComputedStyle(it).outlineStyle !== 'none' || getComputedStyle(it).boxShadow !== 'none');
  return at === document.body || shows(at) || shows(at.closest('label, .drop, fieldset')) || shows(at.nextElementSibling);
})()`;
const mostStops = 300;

/** Somebody without a mouse. */
class Keyboard {
  readonly #page: Page;
  /** Stops at which nobody could see where they are. */
  readonly unseen: string[] = [];

  constructor(page: Page) {
    this.#page = page;
  }

  /** Goes on with Tab until the focus is there. */
  async to(goal: Locator): Promise<void> {
    await goal.first().waitFor();
    for (let stops = 0; stops < mostStops; stops += 1) {
      if (await goal.first().evaluate((it) => it === it.ownerDocument.activeElement)) return;
      await this.#page.keyboard.press('Tab');
      if (!(await this.#page.evaluate<boolean>(focusShown)))
        this.unseen.push(await this.#page.evaluate<string>('document.activeElement.outerHTML.slice(0, 120)'));
    }
    throw new Error(`not reached with ${mostStops} stops: ${goal.toString()}`);
  }

  async press(goal: Locator, key = 'Enter'): Promise<void> {
    await this.to(goal);
    await this.#page.keyboard.press(key);
  }

  /** Writes in place of what stands there, and goes on. */
  async write(goal: Locator, text: string): Promise<void> {
    await this.to(goal);
    await this.#page.keyboard.press('Control+a');
    await this.#page.keyboard.type(text);
    await this.#page.keyboard.press('Tab');
  }

  /** Arrow keys until it is so. */
  async choose(goal: Locator, isChosen: () => Promise<boolean>): Promise<void> {
    await this.to(goal);
    for (let steps = 0; steps < 20 && !(await isChosen()); steps += 1) await this.#page.keyboard.press('ArrowDown');
    expect(await isChosen()).toBe(true);
  }
}

browserTest('a campaign is made, mended, started, paused, looked into, handed on and cancelled with the keyboard alone', async () => {
  const world = await createWorld({ epochMs: tuesdayNoon });
  await world.work();
  const made = await world.run('token', 'create', 'front desk', '--role', 'operate', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the page listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url: origin } = JSON.parse(ready) as { url: string };
  const window = await openWindow({ origin });
  onTestFinished(() => window.close());
  const { page, complaints, strayed } = window;
  const keys = new Keyboard(page);
  const link = (name: RegExp | string) => page.getByRole('link', { name });
  const button = (name: RegExp | string) => page.getByRole('button', { name });

  await page.goto(`${origin}/sign-in`);
  await keys.write(page.getByLabel('Token'), token);
  await keys.press(button('Sign in'));
  await keys.press(link(/^New campaign|from a list|Upload/));
  const chosen = page.waitForEvent('filechooser');
  await keys.press(page.getByLabel(/Your list/));
  await (await chosen).setFiles({ name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(listWithMistake) });

  const sum = page.getByRole('complementary', { name: 'What would happen' });
  await sum.getByText(`of ${rows} can be called`).waitFor();
  await keys.write(page.getByLabel('New value of phone in row 1', { exact: true }), numberOf(0));
  const agent = page.getByLabel('Agent', { exact: true });
  await keys.choose(agent, async () => (await agent.inputValue()) === 'agent_reminders');
  await sum.getByText(String(rows), { exact: true }).first().waitFor();
  await keys.press(page.getByLabel(/Main line/), 'Space');
  await keys.write(page.getByLabel('Opening line'), 'Hello {{ name }}, a reminder of your appointment.');
  await page.getByText('Hello Guest 2, a reminder').waitFor();
  const always = page.getByLabel('As long as the law allows');
  await keys.choose(page.locator('input[name="hours"]:checked'), () => always.isChecked());
  await keys.write(page.getByLabel('Call at most'), '12');
  await keys.write(page.getByLabel('Try each person up to'), '1');
  await keys.write(page.getByLabel('A minute on the line costs'), '0.12');
  await keys.write(page.getByLabel('Currency'), 'USD');
  await keys.write(page.getByLabel('Id of the campaign'), world.id);
  await keys.press(button(`Start calling ${rows} people`));
  await page.getByText(`${world.id} is started with ${rows} rows.`).waitFor();

  await keys.press(page.getByRole('link', { name: 'Pause', exact: true }));
  await keys.press(button(/^Pause/));
  await page.getByText(`${world.id} is paused`).waitFor();
  await keys.press(link(/^Resume/));
  await keys.press(button(/^Resume/));
  await page.getByText(`${world.id} is running again.`).waitFor();
  // People: found with the key of the search, walked through, looked at, and left.
  const scriptsRun = () => page.locator('.live[data-link="on"]:visible').waitFor();
  await keys.press(link(/^People/));
  await page.waitForURL(/\/rows$/);
  await scriptsRun();
  await page.keyboard.press('/');
  await page.keyboard.type('Guest 7');
  await page.keyboard.press('Enter');
  await page.getByText('Guest 8').waitFor({ state: 'detached' });
  await page.getByText('Guest 7').first().waitFor();
  await page.waitForLoadState('load');
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.waitForURL(/person=7|rows\/7/);

  await keys.press(page.locator('.crumbs').getByRole('link', { name: world.id, exact: true }));
  await until('somebody has been called', () => world.sandbox.calls().length > 0);
  await keys.press(page.getByLabel('More actions'));
  await keys.press(link('Download results so far'));
  await page.waitForURL(/\/results/);
  const download = page.waitForEvent('download');
  await keys.press(button(/CSV/));
  expect((await download).suggestedFilename()).toMatch(/\.csv$/);
  await keys.press(link('Overview'));
  await keys.press(page.getByLabel('More actions'));
  await keys.press(link(/^Cancel campaign/));
  await keys.press(button(/^Cancel/));
  await page.getByText('Cancelled', { exact: true }).first().waitFor();

  // The cost is the same on the page, in the report, and by the service's own records.
  const auth = { headers: { authorization: `Bearer ${token}` } };
  const { cost } = (await (await fetch(`${origin}/api/v1/campaigns/${world.id}/report`, auth)).json()) as { cost: object };
  const records = `${world.sandbox.url}/v1/convai/conversations?page_size=100`;
  const { conversations } = (await (await fetch(records, { headers: { 'x-api-key': apiKey } })).json()) as {
    conversations: { call_duration_secs: number }[];
  };
  const seconds = conversations.reduce((sum, each) => sum + each.call_duration_secs, 0);
  expect(seconds).toBeGreaterThan(0);
  expect(cost).toEqual({ amount: Math.round(seconds * 2000) / 1_000_000, currency: 'USD', perMinute: 0.12, perGoal: null });
  await page.reload();
  await page
    .locator('#key-figures')
    .getByText(`${(seconds * 0.002).toFixed(2)} USD`)
    .waitFor();

  expect({ unseen: [...new Set(keys.unseen)], complaints, strayed }).toEqual({ unseen: [], complaints: [], strayed: [] });
  const asked = await fetch(`${origin}/api/v1/campaigns/${world.id}/file`, auth);
  expect(await asked.json()).toMatchObject({ file: { pacing: { max_concurrent_calls: 12 }, retry: { max_attempts: 1 } } });
  // The one that was mended among them; whom the carrier refused was tried again.
  const called = new Set(world.sandbox.calls().map(({ to }) => to));
  expect(called).toEqual(new Set(Array.from({ length: rows }, (_, n) => numberOf(n))));
  expect(await world.run('verify', world.id)).toMatchObject(proven);
  server.interrupt();
  expect((await server.ended).code).toBe(0);
});

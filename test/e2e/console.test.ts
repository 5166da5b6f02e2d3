import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { proven, useSharedWorld } from '../interfaces/cli/campaign-world.ts';
import { apiKey, browserTest } from '../sandbox/page/window.ts';
import { openWindow, type TestWindow } from '../support/browser.ts';
import { until } from '../support/until.ts';

/** In Chicago: calling hours there, in New York and in Los Angeles. */
const tuesdayNoon = Date.UTC(2030, 0, 15, 18);
let origin: string;
let token: string;
const newWorld = useSharedWorld({}, { epochMs: tuesdayNoon }, async (world) => {
  [origin] = await Promise.all([world.serve(), world.work()]);
  token = await world.token('front desk', 'operate');
});

/** A list of these numbers; the first has a letter in it. */
function listOf(numbers: readonly string[]): { name: string; mimeType: string; buffer: Buffer } {
  const [first = '', ...others] = numbers;
  const lines = [first.replace('0', 'O'), ...others].map((number, at) => `${number},Guest ${at + 1}`);
  return { name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(['phone,name', ...lines].join('\n')) };
}

/** A window that must request nothing elsewhere and log no complaint. */
async function inWindow(work: (window: TestWindow) => Promise<void>): Promise<void> {
  const window = await openWindow({ origin });
  try {
    await work(window);
    expect({ complaints: window.complaints, strayed: window.strayed }).toEqual({ complaints: [], strayed: [] });
  } finally {
    await window.close();
  }
}

/** Whether the focused element shows its focus, by outline or shadow of its own or of an ancestor. */
const focusShown = `(() => {
  const at = document.activeElement;
  const shows = (it) => it !== null && (getComputedStyle(it).outlineStyle !== 'none' || getComputedStyle(it).boxShadow !== 'none');
  return at === document.body || shows(at) || shows(at.closest('label, .drop, fieldset')) || shows(at.nextElementSibling);
})()`;
const mostStops = 300;

class Keyboard {
  readonly #page: Page;
  /** Stops without visible focus. */
  readonly unseen = new Set<string>();

  constructor(page: Page) {
    this.#page = page;
  }

  async to(goal: Locator): Promise<void> {
    await goal.first().waitFor();
    for (let stops = 0; stops < mostStops; stops += 1) {
      if (await goal.first().evaluate((it) => it === it.ownerDocument.activeElement)) return;
      await this.#page.keyboard.press('Tab');
      if (!(await this.#page.evaluate<boolean>(focusShown)))
        this.unseen.add(await this.#page.evaluate<string>('document.activeElement.outerHTML.slice(0, 120)'));
    }
    throw new Error(`not reached with ${mostStops} stops: ${goal.toString()}`);
  }

  async press(goal: Locator, key = 'Enter'): Promise<void> {
    await this.to(goal);
    await this.#page.keyboard.press(key);
  }

  /** Replaces the present text. */
  async write(goal: Locator, text: string): Promise<void> {
    await this.to(goal);
    await this.#page.keyboard.press('Control+a');
    await this.#page.keyboard.type(text);
    await this.#page.keyboard.press('Tab');
  }

  async choose(goal: Locator, isChosen: () => Promise<boolean>): Promise<void> {
    await this.to(goal);
    for (let steps = 0; steps < 20 && !(await isChosen()); steps += 1) await this.#page.keyboard.press('ArrowDown');
    expect(await isChosen()).toBe(true);
  }
}

browserTest(
  'a campaign is made, started, paused, looked into, handed on and cancelled with the keyboard alone; rehearsed, steered, decided about and handed on with the mouse',
  () =>
    inWindow(async ({ page }) => {
      const world = newWorld();
      const rows = 60;
      const areas = [212, 312, 310];
      const numbers = Array.from({ length: rows }, (_, n) => `+1${areas[n % 3]}555${String(130 + Math.floor(n / 3)).padStart(4, '0')}`);
      const keys = new Keyboard(page);
      const link = (name: RegExp | string) => page.getByRole('link', { name });
      const button = (name: RegExp | string) => page.getByRole('button', { name });
      const calls = () => world.sandbox.calls().filter(({ to }) => numbers.includes(to));
      // The first batch's arrival stays unknown: its connection is cut, and no record shows it.
      world.sandbox.addFaults({ operation: 'batch_calls', nth: 1, effect: { type: 'reset', when: 'before' } });

      await page.goto(`${origin}/sign-in`);
      await keys.write(page.getByLabel('Token'), token);
      await keys.press(button('Sign in'));
      await keys.press(link(/^New campaign|from a list|Upload/));
      const chosen = page.waitForEvent('filechooser');
      await keys.press(page.getByLabel(/Your list/));
      await (await chosen).setFiles(listOf(numbers));
      // The page opens as soon as the list is there, and saves changes without a button.
      const sum = page.getByRole('complementary', { name: 'What would happen' });
      await sum.getByText(`of ${rows} can be called`).waitFor();
      await sum.getByText(String(rows - 1), { exact: true }).waitFor();
      await keys.write(page.getByLabel('New value of phone in row 1', { exact: true }), numbers[0] ?? '');
      const agent = page.getByLabel('Agent', { exact: true });
      await keys.choose(agent, async () => (await agent.inputValue()) === 'agent_reminders');
      await sum.getByText(String(rows), { exact: true }).first().waitFor();
      await keys.press(page.getByLabel(/Main line/), 'Space');
      await keys.write(page.getByLabel('Opening line'), 'Hello , a reminder of your appointment.');
      // The column goes where the caret was.
      await page.getByLabel('Opening line').press('Home');
      for (const _ of 'Hello ') await page.keyboard.press('ArrowRight');
      await page.getByRole('button', { name: 'name', exact: true }).click();
      await page.getByText('Hello Guest 2, a reminder').waitFor();
      const always = page.getByLabel('As long as the law allows');
      await keys.choose(page.locator('input[name="hours"]:checked'), () => always.isChecked());
      await keys.write(page.getByLabel('Call at most'), '5');
      await keys.write(page.getByLabel('Try each person up to'), '1');
      await page.getByLabel('Never call a number more than').fill('');
      await page.getByLabel('Within this time').selectOption('');
      await keys.write(page.getByLabel('A minute on the line costs'), '0.12');
      await keys.write(page.getByLabel('Currency'), 'USD');
      await keys.write(page.getByLabel('Id of the campaign'), 'No id');
      await page.getByLabel('Name', { exact: true }).fill('Guests');
      await page.getByRole('heading', { name: 'Guests', level: 1 }).waitFor();
      await page.locator('[id="id"][aria-invalid="true"]').fill(world.id);
      await button('Rehearse').click();
      await page.getByText('The campaign went as it should.').waitFor();
      const rehearsed = await page.content();
      expect(rehearsed).toContain(`${rows} of ${rows}`);
      expect(rehearsed).not.toMatch(/\+1212555/);
      await link('Back to check and start').click();
      await link('Report').waitFor();
      await keys.press(button(`Start calling ${rows} people`));
      await page.getByText(`${world.id} is started with ${rows} rows.`).waitFor();

      await link(/^Activity$/).click();
      await page
        .getByText(/^No usable answer/)
        .first()
        .waitFor();
      await keys.press(link('Overview'));
      await keys.press(page.getByRole('link', { name: 'Pause', exact: true }));
      await keys.press(button(/^Pause/));
      await page.getByText(`${world.id} is paused`).waitFor();
      await keys.press(page.getByLabel('More actions'));
      await keys.press(link('Download results so far'));
      await page.waitForURL(/\/results/);
      const soFar = page.waitForEvent('download');
      await keys.press(button(/CSV/));
      expect((await soFar).suggestedFilename()).toMatch(/\.csv$/);
      await keys.press(link('Overview'));
      await page.getByLabel('More actions').click();
      await link('Change limits…').click();
      await page.getByRole('textbox', { name: 'Concurrent calls' }).fill('40');
      await page.getByRole('button', { name: 'Change', exact: true }).click();
      await page.getByText('From the next batch on: concurrent calls: 40').waitFor();
      await keys.press(link(/^Resume/));
      await keys.press(button(/^Resume/));
      await page.getByText(`${world.id} is running again.`).waitFor();
      // People: search by key, move through, open, and leave.
      await keys.press(link(/^People/));
      await page.waitForURL(/\/rows$/);
      await page.locator('.live[data-link="on"]:visible').waitFor();
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

      // A recipient who rang the front desk is withdrawn if not called yet, and suppressed in any case.
      await page.goto(`${origin}/campaigns/${world.id}/rows/${rows}`);
      await link('Do not call this number').click();
      await button('Do not call this number').click();

      await page.goto(`${origin}/campaigns/${world.id}`);
      const results = link('Download results');
      await until('the campaign ends on the open page', async () => (await results.count()) > 0);

      // The service's log has no calls to the lost batch, and the operator redials it.
      const before = calls().map(({ to }) => to);
      const again = () =>
        new Set(
          calls()
            .slice(before.length)
            .map(({ to }) => to),
        );
      await link('Decide').click();
      await link(/^Call 5 again/).click();
      await button(/^Call 5 people again/).click();
      await page.getByText('5 people called again').waitFor();
      await page.goto(`${origin}/campaigns/${world.id}`);
      await until('they have been called', () => again().size === 5);
      await results.waitFor();
      expect(await link('Decide').count()).toBe(0);
      expect(before.filter((number) => again().has(number))).toEqual([]);
      // Everyone, with corrected numbers, except perhaps the opt-out.
      const called = new Set(calls().map(({ to }) => to));
      expect(called).toContain(numbers[0]);
      expect(called.add(numbers.at(-1) ?? '')).toEqual(new Set(numbers));

      // The cost is the same on the page, in the report, and by the service's own records.
      const auth = { headers: { authorization: `Bearer ${token}` } };
      const { cost } = (await (await fetch(`${origin}/api/v1/campaigns/${world.id}/report`, auth)).json()) as { cost: object };
      const records = `${world.sandbox.url}/v1/convai/conversations?page_size=100`;
      const { conversations } = (await (await fetch(records, { headers: { 'x-api-key': apiKey } })).json()) as {
        conversations: { conversation_id: string; call_duration_secs: number }[];
      };
      const own = calls().map(({ conversationId }) => conversationId);
      const seconds = conversations.reduce((sum, each) => sum + (own.includes(each.conversation_id) ? each.call_duration_secs : 0), 0);
      expect(seconds).toBeGreaterThan(0);
      expect(cost).toEqual({ amount: Math.round(seconds * 2000) / 1_000_000, currency: 'USD', perMinute: 0.12, perGoal: null });
      await page.reload();
      await page.locator('#key-figures', { hasText: `${(seconds * 0.002).toFixed(2)} USD` }).waitFor();
      const asked = await fetch(`${origin}/api/v1/campaigns/${world.id}/file`, auth);
      expect(await asked.json()).toMatchObject({ file: { pacing: { max_concurrent_calls: 5 }, retry: { max_attempts: 1 } } });

      // A call that was answered: its transcript, beside its recording.
      const within = (name: string, choice: RegExp) => page.getByRole('navigation', { name }).getByRole('link', { name: choice }).click();
      await within('Campaign', /^People/);
      await within('Filter by status', /^Reached/);
      // Before its styles load, a page shows links that it hides.
      await page.waitForURL(/completed/);
      await page.locator('tbody').getByRole('link').first().click();
      await link('Listen and read').first().click();
      await page.getByRole('heading', { name: 'Recording and transcript' }).waitFor();
      expect(await page.locator('.talk li').count()).toBeGreaterThan(1);
      expect(await page.locator('audio#recording').count()).toBe(1);

      await page.goto(`${origin}/campaigns/${world.id}/results`);
      const [csv] = await Promise.all([page.waitForEvent('download'), button(/CSV/).first().click()]);
      expect(csv.suggestedFilename()).toMatch(/\.csv$/);
      const [html] = await Promise.all([page.waitForEvent('download'), button('Download the report').click()]);
      expect(html.suggestedFilename()).toMatch(/\.html$/);

      // A campaign with a later start is cancelled, and never calls.
      const later = newWorld();
      const startsAt = new Date(world.sandbox.clock.now() + 20 * 86_400_000).toISOString();
      const startsLater = later.writeCampaign({ lines: ['+14155550149,Guest'], yaml: [`starts_at: '${startsAt}'`] });
      expect(await later.run('start', startsLater)).toMatchObject({ code: 0 });
      await page.goto(`${origin}/campaigns/${later.id}`);
      await keys.press(page.getByLabel('More actions'));
      await keys.press(link(/^Cancel campaign/));
      await keys.press(button(/^Cancel/));
      await page.getByText('Cancelled', { exact: true }).first().waitFor();
      expect([...keys.unseen]).toEqual([]);
      for (const { id } of [world, later]) expect(await world.run('verify', id)).toMatchObject(proven);
    }),
);

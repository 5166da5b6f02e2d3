import { expect, test } from 'vitest';
import { appendEvents, readMarks } from '../../../src/ledger/events.ts';
import { findCampaign, pauseCampaign, resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { finishRecipients } from '../../../src/ledger/rows/recipients.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { until } from '../../support/until.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';
import { readAdjustable } from '../../../src/ledger/limits/adjustments.ts';
import type { Store } from '../../../src/ledger/tx.ts';

async function openWorld(dialect: (typeof dialects)[number] = 'sqlite') {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  return { store, scenario, console: await ConsoleWorld.over(store) };
}

test('a button that is pressed twice acts once', async () => {
  const { store, console } = await openWorld();
  const form = hiddenFields((await console.get('/campaigns/spring/pause')).text);
  expect(form).toHaveProperty('key');
  const acted = async () => (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  for (let times = 0; times < 2; times += 1)
    expect(await console.post('/campaigns/spring/pause', form)).toMatchObject({
      status: 303,
      headers: { location: '/campaigns/spring' },
    });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' });
  expect(await acted()).toHaveLength(1);
});

test('whoever may only look sees no button, and is refused what they send all the same', async () => {
  const { store, console } = await openWorld();
  expect((await console.get('/campaigns/spring')).text).toContain('href="/campaigns/spring/pause"');
  expect((await console.get('/campaigns/spring', 'read')).text).not.toContain('/pause"');
  expect(await console.get('/campaigns/spring/pause', 'read')).toMatchObject({ status: 403 });
  expect(await console.post('/campaigns/spring/pause', { key: 'k1' }, 'read')).toMatchObject({ status: 403 });
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running' });
});

test.for(dialects)(
  'a button of yesterday is refused with how the campaign stands now, and who acted last and when: %s',
  async (dialect) => {
    const { store, console } = await openWorld(dialect);
    const old = { pause: await formOf(console, 'pause'), resume: { key: 'r1', 'pauses-seen': '0' } };
    await console.post('/campaigns/spring/pause', old.pause, 'admin');
    // The other one has the page of a running campaign before them.
    const again = await console.get('/campaigns/spring/pause');
    expect(again.status).toBe(409);
    expect(alertOf(again.text)).toMatch(/There is nothing to pause now\..*Last changed by admin console: pause, 2030-01-15 12:00:00/);
    expect(again.text).not.toContain('<form class="act"');
    await resumeCampaign(store, { campaignId: 'spring', now: noon + 1 });
    await endAll(store);
    const refused = await console.post('/campaigns/spring/pause', { ...old.resume, key: 'p2' });
    expect(refused.status).toBe(409);
    expect(alertOf(refused.text)).toMatch(/spring has ended \(cancelled\).*Last changed by admin console: pause/);
    expect(refused.text).toMatch(/state is-quiet">[\s\S]{0,120}Cancelled/);
    expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'cancelled' });
  },
);

test('a form of an earlier round ends no later one, and says who began it', async () => {
  const { store, console } = await openWorld();
  const yesterday = { cancel: await formOf(console, 'cancel'), pause: await formOf(console, 'pause') };
  await store.transaction((tx) =>
    appendEvents(tx, [{ at: noon, campaignId: 'spring', type: 'operator.acted', data: { name: 'night console', action: 'retry' } }]),
  );
  await store.db.updateTable('campaigns').set({ round: 2 }).where('campaign_id', '=', 'spring').execute();
  for (const [wish, form] of Object.entries(yesterday)) {
    const refused = await console.post(`/campaigns/spring/${wish}`, form);
    expect(refused.status).toBe(409);
    expect(alertOf(refused.text)).toMatch(/spring is in round 2 now\. This was meant for round 1.*Last changed by night console: retry/);
  }
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running', round: 2 });
  expect(await console.submit('/campaigns/spring/pause')).toMatchObject({ status: 303 });
});

test.for(dialects)('a campaign says why nobody is called, and who waits by the rule that keeps them: %s', async (dialect) => {
  const { console, scenario } = await openWorld(dialect);
  const ids = await scenario.dial(1);
  const result = { disposition: 'busy', detail: null, counted: true } as const;
  await scenario.store.transaction((tx) =>
    settleAttempts(tx, { campaignId: 'spring', now: noon + 1000 }, [{ attemptId: ids[0] ?? '', result }]),
  );
  console.api.at = noon + 2000;
  const text = await until('it is looked up', async () => {
    const answer = await console.get('/campaigns/spring');
    return answer.text.includes('class="why"') && answer.text;
  });
  expect(text).toMatch(/id="waiting-due"[\s\S]*?href="\/campaigns\/spring\/rows\?waiting=due"[\s\S]*?<b class="num">4</);
  expect(text).toMatch(/id="waiting-retry"[\s\S]*?href="\/campaigns\/spring\/rows\?waiting=retry"[\s\S]*?<b class="num">1</);
  // Outside of the database there is no Temporal here, and that is what stands in the way.
  expect(text).toMatch(/class="why">[^<]*Temporal/);
  expect(text).toContain('0 of 6 people done, 1 being called, 5 waiting, 0 cannot be called');
  await console.submit('/campaigns/spring/pause');
  expect((await console.get('/campaigns/spring')).text).toMatch(
    /class="why">Paused by a person, since <time[^>]*>[^<]*<.time> [^<]*, until a person resumes or cancels it\./,
  );
});

test('the calls on the line are linked to their rows, without whole numbers', async () => {
  const { console, scenario } = await openWorld();
  expect((await console.get('/campaigns/spring')).text).not.toContain('Calls right now');
  await scenario.dial(1);
  const { text } = await console.get('/campaigns/spring');
  expect(text).toMatch(/id="live-1"[\s\S]*?href="\/campaigns\/spring\/rows\/1"[\s\S]*?•••[\s\S]*? Calling</);
  expect(text).toContain('id="live-2"');
  expect(text).not.toMatch(/\+1\d{10}/);
});

test('what only a person can set right stands on the page with what to do', async () => {
  const { store, console } = await openWorld();
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'the key is refused' });
  const { text } = await console.get('/campaigns/spring');
  expect(text).toMatch(/id="note-1"[\s\S]*It has paused by itself<[\s\S]*Paused: the key is refused[\s\S]*To fix it:[\s\S]*then resume it/);
  expect(text).toMatch(/class="btn primary" href="\/campaigns\/spring\/resume"/);
});

test('people who cannot be called are no progress', async () => {
  const { store, console } = await openWorld();
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  await store.transaction((tx) =>
    finishRecipients(tx, { campaignId: 'spring', now: noon }, [
      ...[1, 2, 3].map((row) => ({ recipientId: `spring/${row}`, outcome: 'completed', reason: null }) as const),
      { recipientId: 'spring/4', outcome: 'undialable', reason: 'no_open_window_before_end' },
      { recipientId: 'spring/5', outcome: 'suppressed', reason: 'suppressed' },
    ]),
  );
  const { text } = await console.get('/campaigns/spring');
  expect(text).toMatch(/<b>75%<\/b>\s*<span class="soft">3 of 4 people done</);
  expect(text).toMatch(/class="cannot"[\s\S]{0,120}url\(#hatch\)/);
});

test('reasons and names of people stay text on every page of a campaign', async () => {
  const { store, console } = await openWorld();
  const attack = `<script>alert(1)</script>"'&${poison}`;
  await store.db.updateTable('campaigns').set({ name: attack }).where('campaign_id', '=', 'spring').execute();
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: attack });
  await store.transaction((tx) =>
    appendEvents(tx, [{ at: noon, campaignId: 'spring', type: 'operator.acted', data: { name: attack, action: 'pause' } }]),
  );
  const own = ['', '/pause', '/limits', '/events', '/figures'].map((path) => `/campaigns/spring${path}`);
  for (const path of ['/', ...own]) {
    const { text, status } = await console.get(path);
    expect(status, path).toBeLessThan(500);
    expect(text, path).not.toContain('<script>alert');
    expect(text, path).not.toMatch(obeyed);
  }
});

test.for(dialects)('the log is shown newest first, by kind and page by page, without anybody’s number: %s', async (dialect) => {
  const { console, scenario } = await openWorld(dialect);
  for (let n = 1; n <= 3; n += 1) await scenario.dial(n, noon + n);
  const short = await console.get('/campaigns/spring/events');
  // What goes together is one line, and no batch has a number.
  expect(short.text).toMatch(/6 calls placed[\s\S]*The list has 6 people/);
  expect(short.text).not.toMatch(/batch \d/);
  const all = await console.get('/campaigns/spring/events?kind=all');
  const seqs = [...all.text.matchAll(/id="event-(\d+)"/g)].map(([, seq]) => Number(seq));
  expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
  expect(all.text).toContain('href="/campaigns/spring/rows/6"');
  expect(all.text).not.toMatch(/\+1\d{10}/);
  const planned = await console.get('/campaigns/spring/events?kind=attempt.planned');
  expect(planned.text).toMatch(/kind=calls"\s*aria-current="true"\s*>Calls <span class="n">12</);
  expect(planned.text).toMatch(/kind=attempt.planned"\s*aria-current="page"\s*>attempt: planned <span class="n">6</);
  expect(planned.text.match(/call 1 planned/g)).toHaveLength(6);
  expect(planned.text).not.toContain('requested');
  const calls = await console.get('/campaigns/spring/events?kind=calls');
  expect(calls.text).toContain('call 1 planned');
  expect(calls.text).toContain('call 1 requested');
  expect(calls.text).not.toContain('batch 1');
  const older = await console.get(`/campaigns/spring/events?kind=all&before=${seqs[3]}`);
  expect(older.text).toContain(`id="event-${seqs[4]}"`);
  expect(older.text).not.toContain(`id="event-${seqs[3]}"`);
  expect((await console.get('/campaigns/spring/events?kind=nothing')).text).toContain('Nothing of this kind');
});

test.for(dialects)('the end of a campaign is told by its forecast, with who is next in line: %s', async (dialect) => {
  const { store, console } = await openWorld(dialect);
  const minuteMs = 60_000;
  for (const [row, ms] of [30 * minuteMs, 3 * 60 * minuteMs, 48 * 60 * minuteMs].entries())
    await store.db
      .updateTable('recipients')
      .set({ due_at: noon + ms })
      .where('row_number', '=', row + 1)
      .execute();
  console.api.at = noon;
  const shown = async (path: string, wanted: RegExp) => until('it has been read', async () => wanted.test((await console.get(path)).text));
  // Nobody can be reached before the last of them is due.
  await shown('/campaigns/spring', /35 % answer and talk 90 s[\s\S]*between <time datetime="2030-01-17T12:01[\s\S]*3 next in line/);
  await shown('/', /0 of 6 people done, 0 being called, 6 waiting[\s\S]*latest <time/);
});

test('of many rows the costly figures are read after the answer, and are there for the next one', async () => {
  const { store, console } = await openWorld();
  await store.db.updateTable('campaigns').set({ rows_total: 30_000 }).where('campaign_id', '=', 'spring').execute();
  for (const [path, wanted] of [
    ['/campaigns/spring', 'between <time'],
    ['/campaigns/spring/figures', 'class="charts"'],
  ] as const) {
    const first = await console.get(path);
    expect(first.text).not.toContain(wanted);
    expect(first.text).toContain('data-again="1000"');
    await until('it has been read', async () => (await console.get(path)).text.includes(wanted));
  }
});

test.for(dialects)('the figures are those of a report: %s', async (dialect) => {
  const { console, scenario } = await openWorld(dialect);
  await scenario.dial(1);
  const { text } = await console.get('/campaigns/spring/figures');
  for (const title of ['Funnel', 'Course', 'Attempts', 'Caller numbers', 'How calls and rows ended'])
    expect(text).toContain(`<h2>${title}</h2>`);
  expect(text).toContain('<svg');
  expect(text).not.toContain('style=');
});

async function formOf(console: ConsoleWorld, wish: string): Promise<Record<string, string>> {
  return hiddenFields((await console.get(`/campaigns/spring/${wish}`)).text);
}

function alertOf(text: string): string {
  return (/<p class="refused" role="alert">([\s\S]*?)<\/p>/.exec(text)?.[1] ?? '').replaceAll(/<[^>]*>/g, '');
}

async function endAll(store: Store): Promise<void> {
  await store.db.updateTable('campaigns').set({ state: 'cancelled' }).where('campaign_id', '=', 'spring').execute();
}

const limitsPath = '/campaigns/spring/limits';

async function openLimits() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2, startsPerMinute: 40 } } });
  const limits = async () => (await readAdjustable(store.db, 'spring'))?.now;
  return { store, scenario, limits, console: await ConsoleWorld.over(store) };
}

/** What stands in the fields of the form, as a browser sends it. */
const typed = { maxConcurrentCalls: '50', startsPerMinute: '40', batchSize: '2', priority: '10' };

test('the form says what is on the line and allowed, and what it changes holds from the next batch on', async () => {
  const { console, scenario, limits } = await openLimits();
  await scenario.dial(1);
  const form = await console.get(limitsPath);
  expect(form.text).toContain('2 calls may be on the line now, and 50 are allowed.');
  expect(form.text).toContain('A limit below 2 ends none of them');
  const done = await console.submit(limitsPath, { ...typed, maxConcurrentCalls: '7', startsPerMinute: '' });
  expect(done).toMatchObject({ status: 303, headers: { location: '/campaigns/spring' } });
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 7, startsPerMinute: null, batchSize: 2 });
  expect((await console.get(limitsPath)).text).toMatch(/id="limit-maxConcurrentCalls"[\s\S]*?>7<[\s\S]*?>50</);
  await console.submit(limitsPath, { ...typed, reset: 'yes' });
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 50, startsPerMinute: 40 });
});

test('hours and retries are looked at first, in people, and changed then', async () => {
  const { console, limits } = await openLimits();
  const wish = { ...typed, maxAttempts: '1', hours: '03:00-03:30' };
  const looked = await console.submit(limitsPath, { ...wish, look: 'yes' });
  expect(looked.status).toBe(200);
  expect(looked.text).toMatch(/0 of \d+ people who wait may be called at this hour, instead of \d+\./);
  expect(looked.text).toContain('value="03:00-03:30"');
  expect(await limits()).toMatchObject({ hours: null, maxAttempts: 3 });
  expect(await console.submit(limitsPath, wish)).toMatchObject({ status: 303 });
  expect(await limits()).toMatchObject({ hours: { mon: [{ from: 180, to: 210 }] }, maxAttempts: 1 });
});

test('a form of yesterday changes only what was changed in it: the limits of somebody else stay', async () => {
  const { console, limits } = await openLimits();
  const old = hiddenFields((await console.get(limitsPath)).text);
  await console.submit(limitsPath, { ...typed, batchSize: '9' }, 'admin');
  expect(await console.post(limitsPath, { ...old, ...typed, priority: '20' })).toMatchObject({ status: 303 });
  expect(await limits()).toMatchObject({ batchSize: 9, priority: 20 });
});

test('what is no limit is refused in the words of the API, and stays in its field', async () => {
  const { console, limits } = await openLimits();
  const before = await limits();
  for (const startsPerMinute of ['many', '-1', '1.5', '0']) {
    const refused = await console.submit(limitsPath, { ...typed, startsPerMinute });
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/aria-describedby="startsPerMinute-problem" autofocus[\s\S]*id="startsPerMinute-problem"/);
    expect(refused.text).not.toMatch(/role="alert">|startsPerMinute:/);
    expect(refused.text).toContain(`value="${startsPerMinute}"`);
  }
  expect((await console.submit(limitsPath, typed)).text).toMatch(/role="alert">[^<]*names nothing to change/);
  expect(await limits()).toEqual(before);
});

test('the limits of a campaign that has ended are told, with who acted last, and not offered', async () => {
  const { console, store, limits } = await openLimits();
  const old = hiddenFields((await console.get(limitsPath)).text);
  await console.submit(limitsPath, { ...typed, priority: '20' }, 'admin');
  await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', 'spring').execute();
  const shown = await console.get(limitsPath);
  expect(shown.status).toBe(409);
  expect(shown.text).toMatch(/nothing to change now\. Last changed by admin console: adjust/);
  expect(shown.text).not.toContain('<form class="act"');
  const refused = await console.post(limitsPath, { ...old, ...typed, priority: '30' });
  expect(refused.status).toBe(409);
  expect(refused.text).toMatch(/role="alert">[^<]*no pace to change[^<]*Last changed by admin console: adjust/);
  expect(await limits()).toMatchObject({ priority: 20 });
});

test('whoever may only look changes no limit', async () => {
  const { console, limits } = await openLimits();
  const before = await limits();
  expect((await console.get('/campaigns/spring', 'read')).text).not.toContain(limitsPath);
  expect(await console.get(limitsPath, 'read')).toMatchObject({ status: 403 });
  expect(await console.post(limitsPath, { key: 'k', ...typed, priority: '20', 'was-priority': '10' }, 'read')).toMatchObject({
    status: 403,
  });
  expect(await limits()).toEqual(before);
});

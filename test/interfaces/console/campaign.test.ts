import { expect, test } from 'vitest';
import { appendEvents } from '../../../src/ledger/events.ts';
import { findCampaign, pauseCampaign, resumeCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { finishRecipients } from '../../../src/ledger/rows/recipients.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { until } from '../../support/until.ts';
import { actsIn } from '../api/api-world.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';
import { readAdjustable } from '../../../src/ledger/limits/adjustments.ts';
import { holds, locationOf, told } from '../../support/answers.ts';

async function openWorld(dialect: (typeof dialects)[number] = 'sqlite') {
  const store = await openCleanStore(dialect);
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } } });
  return { store, scenario, console: await ConsoleWorld.over(store) };
}

test('a button that is pressed twice acts once, and one of yesterday is refused with how the campaign is now, and who acted last and when', async () => {
  const { store, console } = await openWorld();
  const press = (wish: string, form: Record<string, string>, role?: 'admin') => console.post(wish, form, role);
  const [pause, cancel] = [await formOf(console, 'pause'), await formOf(console, 'cancel')];
  for (let times = 0; times < 2; times += 1) expect(locationOf(await press('pause', pause, 'admin'))).toBe('/campaigns/spring');
  expect(await actsIn(store)).toEqual(['pause']);
  const again = await console.get('pause');
  expect(again.status).toBe(409);
  expect(alertOf(again.text)).toMatch(/There is nothing to pause now\..*Last changed by admin console: pause, 2030-01-15 12:00:00/);
  expect(again.text).not.toContain('<form class="act"');
  await resumeCampaign(store, { campaignId: 'spring', now: noon + 1 });
  await store.db.updateTable('campaigns').set({ round: 2 }).execute();
  const refused = await press('cancel', cancel);
  expect(refused.status).toBe(409);
  expect(alertOf(refused.text)).toMatch(/spring is in round 2 now\. This was meant for round 1.*Last changed by admin console: pause/);
  expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'running', round: 2 });
  await store.db.updateTable('campaigns').set({ state: 'cancelled' }).execute();
  const late = await press('pause', { key: 'p2', 'pauses-seen': '0' });
  expect(late.status).toBe(409);
  expect(alertOf(late.text)).toMatch(/spring has ended \(cancelled\).*Last changed by admin console: pause/);
  expect(late.text).toMatch(/state is-quiet">[\s\S]{0,120}Cancelled/);
});

test.for(dialects)('a campaign says why nobody is called, and who waits by the rule that keeps them: %s', async (dialect) => {
  const { console, scenario } = await openWorld(dialect);
  const [id = ''] = await scenario.dial(1);
  await scenario.settle(id, 'busy', noon + 1000);
  console.api.at = noon + 2000;
  const text = await until('it is looked up', async () => {
    const answer = await console.get('');
    return answer.text.includes('class="why"') && answer.text;
  });
  holds(text, [
    /id="waiting-due"[\s\S]*?href="\/campaigns\/spring\/rows\?waiting=due"[\s\S]*?<b class="num">4</,
    /id="waiting-retry"[\s\S]*?href="\/campaigns\/spring\/rows\?waiting=retry"[\s\S]*?<b class="num">1</,
    // There is no Temporal here, which is the reason.
    /class="why">[^<]*Temporal/,
    '0 of 6 people done, 1 being called, 5 waiting, 0 cannot be called',
  ]);
  await console.submit('pause');
  expect(await console.text('')).toMatch(
    /class="why">Paused by a person, since <time[^>]*>[^<]*<.time> [^<]*, until a person resumes or cancels it\./,
  );
});

test('the calls on the line are linked to their people, without whole numbers; what only you can set right is there with what to do', async () => {
  const { store, console, scenario } = await openWorld();
  expect(await console.text('')).not.toContain('Calls right now');
  await scenario.dial(1);
  await pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'the key is refused' });
  const has = [
    /id="live-1"[\s\S]*?href="\/campaigns\/spring\/rows\/1"[\s\S]*?•••[\s\S]*? Calling</,
    'id="live-2"',
    /id="note-1"[\s\S]*It has paused by itself<[\s\S]*Paused: the key is refused[\s\S]*To fix it:[\s\S]*then resume it/,
    /class="btn primary" href="\/campaigns\/spring\/resume"/,
  ];
  holds(await console.text(''), has, [/\+1\d{10}/]);
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
  holds(await console.text(''), [/<b>75%<\/b>\s*<span class="soft">3 of 4 people done</, /class="cannot"[\s\S]{0,120}url\(#hatch\)/]);
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
  // Related events are one line, without batch numbers.
  holds(await console.text('events'), [/6 calls placed[\s\S]*The list has 6 people/], [/batch \d/]);
  const all = await console.get('events?kind=all');
  const seqs = [...all.text.matchAll(/id="event-(\d+)"/g)].map(([, seq]) => Number(seq));
  expect(seqs).toEqual(seqs.toSorted((a, b) => b - a));
  holds(all.text, ['href="/campaigns/spring/rows/6"'], [/\+1\d{10}/]);
  const planned = await console.get('events?kind=attempt.planned');
  holds(planned.text, [
    /kind=calls"\s*aria-current="true"\s*>Calls <span class="n">12</,
    /kind=attempt.planned"\s*aria-current="page"\s*>attempt: planned <span class="n">6</,
  ]);
  expect(planned.text.match(/call 1 planned/g)).toHaveLength(6);
  expect(planned.text).not.toContain('requested');
  holds(await console.text('events?kind=calls'), ['call 1 planned', 'call 1 requested'], ['batch 1']);
  holds(await console.text(`events?kind=all&before=${seqs[3]}`), [`id="event-${seqs[4]}"`], [`id="event-${seqs[3]}"`]);
  expect(await console.text('events?kind=nothing')).toContain('Nothing of this kind');
});

test.for(dialects)('the end of a campaign is told by its forecast, with who is next in line: %s', async (dialect) => {
  const { store, console } = await openWorld(dialect);
  const minuteMs = 60_000;
  for (const [row, ms] of [30 * minuteMs, 3 * 60 * minuteMs, 48 * 60 * minuteMs].entries())
    await store.db
      .updateTable('recipients')
      .set('due_at', noon + ms)
      .where('row_number', '=', row + 1)
      .execute();
  console.api.at = noon;
  const shown = async (path: string, wanted: RegExp) => until('it has been read', async () => wanted.test(await console.text(path)));
  // No row is callable before the last of them is due.
  await shown('/campaigns/spring', /35 % answer and talk 90 s[\s\S]*between <time datetime="2030-01-17T12:01[\s\S]*3 next in line/);
  await shown('/', /0 of 6 people done, 0 being called, 6 waiting[\s\S]*latest <time/);
});

test('of many rows the costly figures are read after the answer, and are there for the next one', async () => {
  const { store, console, scenario } = await openWorld();
  await scenario.dial(1);
  await store.db.updateTable('campaigns').set({ rows_total: 30_000 }).where('campaign_id', '=', 'spring').execute();
  for (const [path, wanted] of [
    ['/campaigns/spring', 'between <time'],
    ['/campaigns/spring/figures', 'class="charts"'],
  ] as const) {
    holds(await console.text(path), ['data-again="1000"'], [wanted]);
    await until('it has been read', async () => (await console.text(path)).includes(wanted));
  }
  const titles = ['Funnel', 'Course', 'Attempts', 'Caller numbers', 'How calls and rows ended'].map((title) => `<h2>${title}</h2>`);
  holds(await console.text('figures'), [...titles, '<svg'], ['style=']);
});

async function formOf(console: ConsoleWorld, wish: string): Promise<Record<string, string>> {
  return hiddenFields(await console.text(wish));
}

function alertOf(text: string): string {
  return (/<p class="refused" role="alert">([\s\S]*?)<\/p>/.exec(text)?.[1] ?? '').replaceAll(/<[^>]*>/g, '');
}

async function openLimits() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2, startsPerMinute: 40 } } });
  const limits = async () => (await readAdjustable(store.db, 'spring'))?.now;
  return { store, scenario, limits, console: await ConsoleWorld.over(store) };
}

const typed = { maxConcurrentCalls: '50', startsPerMinute: '40', batchSize: '2', priority: '10' };

test('the form says what may be on the line; hours and retries are looked at first; what somebody else has changed since stays', async () => {
  const { console, scenario, limits } = await openLimits();
  await scenario.dial(1);
  holds(await console.text('limits'), ['2 calls may be on the line now, and 50 are allowed.', 'A limit below 2 ends none of them']);
  const old = hiddenFields(await console.text('limits'));
  await console.submit('limits', { ...typed, batchSize: '9' }, 'admin');
  const changes = { ...old, ...typed, maxConcurrentCalls: '7', startsPerMinute: '' };
  expect(locationOf(await console.post('limits', changes))).toBe('/campaigns/spring');
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 7, startsPerMinute: null, batchSize: 9 });
  expect(await console.text('limits')).toMatch(/id="limit-maxConcurrentCalls"[\s\S]*?>7<[\s\S]*?>50</);
  await console.submit('limits', { ...typed, reset: 'yes' });
  expect(await limits()).toMatchObject({ maxConcurrentCalls: 50, startsPerMinute: 40 });
  const wish = { ...typed, maxAttempts: '1', hours: '03:00-03:30' };
  const looked = await console.submit('limits', { ...wish, look: 'yes' });
  expect(looked.status).toBe(200);
  holds(looked.text, [/0 of \d+ people who wait may be called at this hour, instead of \d+\./, 'value="03:00-03:30"']);
  expect(await limits()).toMatchObject({ hours: null, maxAttempts: 3 });
  expect(await console.submit('limits', wish)).toMatchObject({ status: 303 });
  expect(await limits()).toMatchObject({ hours: { mon: [{ from: 180, to: 210 }] }, maxAttempts: 1 });
});

test('what is no limit is refused in the words of the API, and stays in its field', async () => {
  const { console, limits } = await openLimits();
  const before = await limits();
  for (const startsPerMinute of ['many', '-1', '1.5', '0']) {
    const refused = await console.submit('limits', { ...typed, startsPerMinute });
    expect(refused.status).toBe(400);
    holds(
      refused.text,
      [/aria-describedby="startsPerMinute-problem" autofocus[\s\S]*id="startsPerMinute-problem"/, `value="${startsPerMinute}"`],
      [/role="alert">|startsPerMinute:/],
    );
  }
  expect((await console.submit('limits', typed)).text).toMatch(/role="alert">[^<]*names nothing to change/);
  expect(await limits()).toEqual(before);
});

test('the limits of a campaign that has ended are told, with who acted last, and not offered', async () => {
  const { console, store, limits } = await openLimits();
  const old = hiddenFields(await console.text('limits'));
  await console.submit('limits', { ...typed, priority: '20' }, 'admin');
  await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', 'spring').execute();
  const shown = await console.get('limits');
  expect(shown.status).toBe(409);
  holds(shown.text, [/nothing to change now\. Last changed by admin console: adjust/], ['<form class="act"']);
  const refused = await console.post('limits', { ...old, ...typed, priority: '30' });
  expect(refused.status).toBe(409);
  expect(refused.text).toMatch(/role="alert">[^<]*no pace to change[^<]*Last changed by admin console: adjust/);
  expect(await limits()).toMatchObject({ priority: 20 });
  // Errors shown at a field elsewhere have no field here.
  const wrong = await console.post('limits', { ...old, ...typed, startsPerMinute: '0' });
  expect(wrong).toMatchObject(told(400, /role="alert">[^<]*startsPerMinute/));
});

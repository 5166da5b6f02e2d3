import { expect, test } from 'vitest';
import { statusOf } from '../../../src/interfaces/console/people/standing.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { buildRow, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, guests, noon, numbers, type ScenarioOptions } from '../../ledger/scenario.ts';
import { actsIn } from '../api/api-world.ts';
import { ConsoleWorld } from './console-world.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

const [one = '', , three = ''] = numbers(3);
const tame = `<script>alert(1)</script>"'&`;
const attack = `${tame}${poison}`;

async function openWorld(options: ScenarioOptions = {}) {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rules: { pacing: { batchSize: 2 } }, ...options });
  const console = await ConsoleWorld.over(store);
  return { store, scenario, console, acted: () => actsIn(store) };
}

const keys = (text: string) => [...text.matchAll(/<tr id="row-(\d+)"/g)].map(([, key]) => Number(key));

test('no page of rows or of a person holds a whole number until somebody asks, and asking is one line of the log', async () => {
  const { scenario, console, acted } = await openWorld();
  await scenario.dial(1);
  const paths = ['rows', 'rows/1', 'rows/1/suppress'];
  const whole = numbers(6).map((number) => number.slice(1));
  for (const path of paths) holds(await console.text(path), ['+1••••••••42'], whole);
  const shown = await console.post('numbers', { show: 'yes', to: '/campaigns/spring/rows/1' });
  expect(locationOf(shown)).toBe('/campaigns/spring/rows/1');
  for (const path of paths) expect(await console.text(path)).toContain(one);
  expect(await acted()).toEqual(['numbers_shown']);
  expect(await console.text('rows', 'admin')).not.toContain(one);
  await console.post('numbers', { show: 'no', to: '/' });
  expect(await console.text('rows')).not.toContain(one);
  expect(await acted()).toHaveLength(1);
});

test('a person shows what the row says of its own, and when they agreed where the campaign asks for consent', async () => {
  const consent = { atColumn: 'a', sourceColumn: 'b', textColumn: 'c', proofColumn: null, purposeColumn: null, maxAgeMs: null };
  const own = { priority: 7, hours: 'Mon-Fri 18:00-20:00', consentedAt: noon - 60 * minuteMs };
  const { console } = await openWorld({ rows: guests(2).map((row, at) => (at === 0 ? { ...row, ...own } : row)), rules: { consent } });
  const has = [
    /Agreed<\/dt>\s*<dd>[^]*2030-01-15T11:00/,
    /<dt>Priority<\/dt>\s*<dd>7</,
    /<dt>Own calling hours<\/dt>\s*<dd>Mon-Fri 18:00-20:00</,
  ];
  holds(await console.text('rows/1'), has, ['Not called before']);
  expect(await console.text('rows/2')).toContain('Their row tells of no consent');
});

test('rejected rows are corrected where they stand; what is still wrong is told, and a number is masked until somebody asks', async () => {
  const [first = '', second = '', third = ''] = numbers(3);
  const rejected = (row: number, cell: string, reason: string, e164: string | null = null) => {
    const place = { zones: [], country: null, regions: null };
    return { ...buildRow(row, '', [cell, tame]), ...place, e164, externalId: null, verdict: 'rejected' as const, reason };
  };
  const wrong = `${second.slice(0, -1)}O`;
  const rows = [buildRow(1, first, [first, 'Guest']), rejected(2, wrong, 'invalid_phone'), rejected(3, first, 'duplicate_phone', first)];
  const { console, scenario, acted } = await openWorld({ rows: [...rows, rejected(4, 'x', 'malformed_row')] });
  const path = 'fix';
  expect(await console.text('rows?outcome=rejected')).toContain('href="/campaigns/spring/fix"');
  expect(await console.text('rows/3')).toContain('href="/campaigns/spring/fix?after=2"');
  holds(
    await console.text(path),
    ['Row 1 of the campaign has the same number', 'Its cells may have shifted'],
    [first.slice(1), wrong, '<script>alert'],
  );
  const untouched = { 'fix.2.0': '', 'fix.3.0': '' };
  expect(await console.submit(path, untouched)).toMatchObject(told(422, 'No field was changed'));

  const half = await console.submit(path, { 'fix.2.0': second, 'fix.3.0': '+1' });
  holds(half.text, ['1 row put back in line. 1 row still cannot be called', 'value="+1"'], ['id="fix-row-2"']);
  const states = async () => (await scenario.recipients()).map(({ e164, outcome }) => [e164, outcome]);
  expect(await states()).toEqual([[first, null], [second, null], [first, 'rejected'], [null, 'rejected']]); // prettier-ignore
  await console.post('numbers', { show: 'yes', to: '/' });
  expect(await console.text(path)).toContain(`value="${first}"`);
  // Unmasked, the present value is no change.
  expect((await console.submit(path, { 'fix.3.0': first })).status).toBe(422);
  const whole = await console.submit(path, { 'fix.3.0': third });
  expect(locationOf(whole)).toBe('/campaigns/spring');
  expect((await states()).slice(1, 3)).toEqual([[second, null], [third, null]]); // prettier-ignore
  expect(await acted()).toEqual(['fix', 'numbers_shown', 'fix']);
});

test('people are listed by what their talk came to, and every page says it in the same words', async () => {
  const value = { source: 'collected' as const, key: 'comes', values: [true] };
  const results = [{ result: 'will_come', value, talkUnderMs: null, goal: true }];
  const { scenario, console } = await openWorld({ rules: { pacing: { batchSize: 2 }, results } });
  await scenario.dial(1);
  const records = (await scenario.attempts()).map(({ e164 }, at) => ({
    ...answered(`conv_${at}`, e164, noon + 5_000),
    collected: { comes: at === 0 },
  }));
  await scenario.sweep(noon + minuteMs, records);
  console.api.at = noon + 2 * minuteMs;
  expect(await console.text('rows')).toMatch(/href="[^"]*result=will_come"[^>]*>Will come <span class="n">1<\/span>/);
  holds(await console.text('rows?result=will_come'), ['id="row-1"', /will come/], ['id="row-2"']);
  expect(await console.text('rows?result=nothing')).toContain('No one matches');
  expect(await console.text('rows/1')).toContain('came to: will come');
  expect(await console.text('')).toMatch(/50%[\s\S]*1 of 2 talks, likely 9 to 91%/);
});

test('whoever may only look is not shown numbers, and has no button for them', async () => {
  const { console, acted } = await openWorld();
  expect(await console.text('rows', 'read')).not.toContain('Show numbers');
  for (const path of ['numbers', 'rows']) {
    expect(await console.post(path, { show: 'yes', to: '/' }, 'read')).toMatchObject({ status: 403 });
    expect(await console.text('rows', 'read')).not.toContain(one);
  }
  expect(await acted()).toEqual([]);
});

test('a number is searched for without standing in any address, and the search stays when numbers are shown', async () => {
  const { console, acted } = await openWorld();
  // A remaining filter would hide search results.
  const form = /<form id="rows-search"[^>]*method="post" action="\/campaigns\/spring\/rows"/;
  expect(await console.text('rows?outcome=completed')).toMatch(form);
  const found = await console.post('rows', { search: '203 555-0142' });
  expect(found.status).toBe(200);
  expect(keys(found.text)).toEqual([3]);
  holds(found.text, ['value="203 555-0142"'], [/(href|action)="[^"]*203/]);
  // A view that follows events would lose its search.
  expect(found.text).toContain('data-follows=""');
  const shown = await console.post('rows', { search: '203 555-0142', show: 'yes' });
  holds(shown.text, [three], [one]);
  expect(await acted()).toEqual(['numbers_shown']);
  expect(await console.text('rows?search=2035550142')).toContain('id="row-1"');
  expect(await console.post('rows', { search: '99 99 99' })).toMatchObject({ text: expect.stringContaining('No one matches') });
});

test('rows are filtered by state and outcome, and paged in the order of the list', async () => {
  const { scenario, console } = await openWorld({ rows: 60 });
  await scenario.dial(1);
  expect(keys(await console.text('rows?state=open'))).toEqual([1, 2]);
  const first = await console.get('rows?state=waiting');
  expect(keys(first.text)).toHaveLength(50);
  expect(first.text).toContain('href="/campaigns/spring/rows?state=waiting&amp;after=52"');
  const second = await console.get('rows?state=waiting&after=52');
  expect(keys(second.text)).toEqual([53, 54, 55, 56, 57, 58, 59, 60]);
  expect(second.text).not.toContain('&amp;after=60');
  expect(await console.text('rows?outcome=completed')).toContain('No one matches');
});

test('columns of the list are shown and ordered by for whoever may operate, and stay in the address; a reader sees neither', async () => {
  const rows = ['Zoe', 'Ana', 'Mia'].map((name, index) =>
    buildRow(index + 1, numbers(3)[index] ?? '', [numbers(3)[index] ?? '', name, 'Oslo']),
  );
  const list = { ...buildRules().list, columns: ['phone', 'name', 'city'] };
  const { store } = await openWorld({ rows, rules: { list } });
  const console = await ConsoleWorld.over(store);
  const usual = await console.get('rows');
  holds(
    usual.text,
    [/data-label="name">Zoe</, '<a href="/campaigns/spring/rows?sort=column-1">name', 'href="/campaigns/spring/rows?columns=1%2C2"'],
    ['Oslo'],
  );
  const ordered = await console.get('rows?sort=column-1&columns=2');
  expect(keys(ordered.text)).toEqual([2, 3, 1]);
  holds(
    ordered.text,
    [/data-label="city">Oslo</, 'href="/campaigns/spring/rows?sort=column-1&amp;columns=2&amp;person=3"'],
    [/data-label="name"/],
  );
  for (const sort of ['column-0', 'column-9', 'x']) expect(keys(await console.text(`rows?sort=${sort}`))).toEqual([1, 2, 3]);
  const reader = await console.get('rows?sort=column-1&columns=1,2', 'read');
  expect(keys(reader.text)).toEqual([1, 2, 3]);
  holds(reader.text, [], ['Zoe', 'Oslo', 'Columns']);
  expect(keys((await console.post('rows', { search: 'mia' })).text)).toEqual([3]);
  for (const search of ['mia', '2035550142']) expect((await console.post('rows', { search }, 'read')).text).toContain('No one matches');
});

test('a drawer shows one person beside the others, and closes by a link', async () => {
  const { scenario, console } = await openWorld();
  await scenario.dial(1);
  const { text } = await console.get('rows?state=open&person=2');
  const [drawer = ''] = /<aside class="panel drawer"[\s\S]*<\/aside>/.exec(text) ?? [];
  holds(drawer, [
    '<h2 id="who">Person 2</h2>',
    'href="/campaigns/spring/rows/2/suppress"',
    /id="close-drawer" href="\/campaigns\/spring\/rows\?state=open"/,
  ]);
  expect(text).toMatch(/id="row-2" class="go" aria-current="true"/);
  const closed = await console.get('rows?state=open&person=99');
  expect(closed.status).toBe(200);
  expect(closed.text).not.toContain('<aside class="panel drawer"');
});

test('people are told by how they stand, with how many there are', async () => {
  const { scenario, console } = await openWorld();
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', one, noon + 5_000)]);
  const { text } = await console.get('rows');
  const chip = (query: string, words: string, people: number) =>
    expect(text).toMatch(new RegExp(`href="/campaigns/spring/rows${query}"[^>]*>\\s*(<i[^>]*></i>)?${words} <span class="n">${people}<`));
  chip('', 'All', 6);
  chip('\\?outcome=completed', 'Reached', 1);
  chip('\\?state=open', 'Calling', 1);
  chip('\\?state=waiting', 'Waiting', 4);
  holds(text, ['aria-current="page"', /People <span class="count">6</], ['Opted out']);
});

test('a person is told with every decision, each call, and what the agent collected; whoever may only look does not see what they said', async () => {
  const { scenario, console } = await openWorld();
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [
    { ...answered('conv_1', one, noon + 5_000), collected: { [attack]: attack, wish: 'call on Monday' } },
  ]);
  const { text } = await console.get('rows/1');
  holds(text, [/id="next-call">Done</, /<dt>name<\/dt>\s*<dd>Guest[^<]*<\/dd>/]);
  holds(text, ['call 1 planned', 'call 1 requested', 'is conversation conv_1', 'call on Monday', 'Call 1: answered']);
  expect(text).not.toContain('<script>alert');
  expect(text.replaceAll(/[\n]/g, '')).not.toMatch(obeyed);
  holds(await console.text('rows/1', 'read'), ['call 1 planned'], ['call on Monday', '/suppress"', 'In the list', 'Guest']);
  expect(await console.get('rows/99')).toMatchObject({ status: 404 });
  expect(await console.get('rows/1e3')).toMatchObject({ status: 404 });
});

test('a number is put on the do-not-call list from its row with its reason, and the page says what it stops', async () => {
  const { store, scenario, console, acted } = await openWorld();
  await scenario.plan(1);
  expect(await console.text('rows/1/suppress')).toMatch(/Planned calls that are stopped<\/dt>\s*<dd><span class="num">1</);
  const path = 'rows/1/suppress';
  const bad = await console.submit(path, { scope: 'all', until: 'some day', reason: tame });
  expect(bad.status).toBe(400);
  holds(bad.text, ['expiresAt'], ['<script>alert']);
  expect(await console.submit(path, { scope: 'all', until: '', reason: attack })).toMatchObject(
    told(400, 'reason holds the control character (U+001B); remove it'),
  );
  expect(locationOf(await console.submit(path, { scope: 'all', reason: tame, until: '' }))).toBe('/campaigns/spring/rows/1');
  const entries = await store.db.selectFrom('suppressions').selectAll().execute();
  expect(entries).toMatchObject([{ e164: one, scope: 'account', source: 'person:operate console', expires_at: null }]);
  expect(await readMarks(store.db, 'account')).toMatchObject([{ data: { action: 'suppressions_added' } }]);
  expect(await acted()).toEqual([]);
  const { text } = await console.get('rows/1');
  holds(text, ['for all campaigns'], ['<script>alert']);
  expect(text.replaceAll(/[\n]/g, '')).not.toMatch(obeyed);
});

test('a waiting row is withdrawn, an open one is not, and a form that is stale changes nothing and says so', async () => {
  const { scenario, console } = await openWorld();
  await scenario.dial(1);
  expect(await console.text('rows/1/withdraw')).toContain('it goes on, and they stay in the campaign');
  const path = 'rows/3/withdraw';
  expect(await console.text(path)).toMatch(/People who are removed<\/dt>\s*<dd><span class="num">1</);
  expect(await console.submit(path, { reason: 'moved' })).toMatchObject({ status: 303 });
  expect((await scenario.recipients()).filter(({ outcome }) => outcome === 'cancelled').map((row) => row.row_number)).toEqual([3]);
  const again = await console.post(path, { key: 'another' });
  expect(decodeURIComponent(String(again.headers['set-cookie']))).toContain('Nothing was changed. They have their outcome');
});

test('who was talked to, and whose record is not complete yet, is not shown as being called', () => {
  const row = { state: 'open', outcome: null, reason: null, result: null, attempts: 1, lastDialedAt: noon, dueAt: null } as const;
  const terms = {} as Parameters<typeof statusOf>[0]['terms'];
  const text = (more: object): string =>
    statusOf({ ...row, disposition: null, terms, ...more }, noon + 60_000).text.replaceAll(/<[^>]*>/g, '');
  expect(text({})).toMatch(/Calling for/);
  expect(text({ disposition: 'answered' })).toMatch(/Answered their record is awaited/);
  // A callback is planned: the previous talk had a result.
  expect(text({ disposition: 'answered', result: 'later' })).toMatch(/Calling next/);
});

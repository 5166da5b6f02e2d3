import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { readReport } from '../../../src/ledger/read/report.ts';
import { requireCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import { dialects } from '../../ledger/test-stores.ts';
import { actsIn } from '../api/api-world.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

const [one = '', two = ''] = numbers(2);
const attack = `<script>alert(1)</script>"'${poison}`;

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, {
    rows: buildRows(numbers(3), (index) => ['Ana', attack, 'Ben'][index] ?? ''),
    rules: { pacing: { batchSize: 2 } },
  });
  const console = await ConsoleWorld.over(store);
  const listed = () => store.db.selectFrom('suppressions').selectAll().orderBy('e164').execute();
  return { store, scenario, console, listed, actions: (campaignId: string) => actsIn(store, campaignId) };
}

test('a number is checked without standing in an address, and is masked in the answer', async () => {
  const { console } = await openWorld();
  const odd = { key: 'k1', step: 'change', numbers: one, region: '', campaign: '', reason: attack, until: '' };
  const refused = await console.post('/do-not-call/add', odd);
  expect(refused).toMatchObject(told(400, 'reason holds the control character (U+001B); remove it'));
  const add = { ...odd, reason: attack.replace(poison, '') };
  expect(locationOf(await console.post('/do-not-call/add', add))).toBe('/do-not-call');
  const checked = await console.post('/do-not-call', { numbers: `${one}\n(202) 555-0142`, region: 'US' }, 'read');
  holds(checked.text, ['1 of 2 numbers is not called', 'Added by: operate console.']);
  holds(checked.text, [], [one, two, '555-0142']);
  expect(checked.text).not.toContain('<script>alert');
  expect(checked.text.replaceAll(/\n/g, '')).not.toMatch(obeyed);
  const bad = await console.post('/do-not-call', { numbers: '12', region: '' });
  expect(bad.text).toContain('Number 1 of 1 cannot be used');
  const unread = await console.submit('/do-not-call/add', { numbers: '555', region: 'US', reason: attack });
  expect(unread.status).toBe(422);
  holds(unread.text, ['Number 1 of 1 cannot be used', '555</textarea>'], ['<script>alert']);
  expect(await console.text('/do-not-call', 'read')).not.toContain('/do-not-call/add');
});

test('numbers are counted before they are added, and before they are taken off', async () => {
  const { scenario, console, listed, actions } = await openWorld();
  await scenario.plan(1);
  const written = { numbers: `${one}, ${two};${one}`, region: '', reason: 'asked us', until: '' };
  const counted = await console.submit('/do-not-call/add', written);
  holds(counted.text, ['Put 2 numbers on the do-not-call list?', /Planned calls that are stopped<\/dt>\s*<dd><span class="num">2</]);
  expect(await listed()).toEqual([]);
  expect(await console.post('/do-not-call/add', { ...hiddenFields(counted.text), ...written })).toMatchObject({ status: 303 });
  expect((await listed()).map(({ e164, reason }) => [e164, reason])).toEqual([
    [one, 'asked us'],
    [two, 'asked us'],
  ]);
  expect(await actions('account')).toEqual(['suppressions_added']);
  const sure = await console.submit('/do-not-call/remove', { numbers: one, region: '' }, 'admin');
  expect(sure.text).toContain('Allow calls to 1 number again?');
  expect(await listed()).toHaveLength(2);
  const remove = { ...hiddenFields(sure.text), numbers: one, region: '' };
  expect(await console.post('/do-not-call/remove', remove, 'admin')).toMatchObject({ status: 303 });
  expect((await listed()).map(({ e164 }) => e164)).toEqual([two]);
});

test('a file of numbers is imported with the lines counted that are no number', async () => {
  const { console, listed, actions } = await openWorld();
  const form = await console.get('/do-not-call/import');
  expect(form.text).toContain('multipart/form-data');
  const files = { numbers: `phone\n${one}\nnobody\n${one}\n${two}\n` };
  const fields = { ...hiddenFields(form.text), region: '', column: '', until: '' };
  const done = await console.send('/do-not-call/import', { fields, files });
  expect(done.status).toBe(200);
  holds(done.text, [/Numbers added<\/dt>\s*<dd><span class="num">2</, 'Lines 3 of the file'], [one.slice(1)]);
  expect((await listed()).map(({ e164, source }) => [e164, source])).toEqual([
    [one, 'import:operate console'],
    [two, 'import:operate console'],
  ]);
  expect(await actions('account')).toEqual(['suppressions_imported']);
  const refused = await console.send('/do-not-call/import', { fields: { ...fields, key: 'other', column: 'mobile' }, files });
  expect(refused.status).toBe(422);
  expect(refused.text).not.toContain('carillon-');
  expect(await console.send('/do-not-call/import', { fields: { ...fields, key: 'third' }, files: {} })).toMatchObject(told(400, 'numbers'));
});

test('a retry says how many rows each outcome has; without Temporal, and while the campaign goes on, nothing moves', async () => {
  const { store, scenario, console } = await openWorld();
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', one, noon + 5_000)]);
  expect(await console.text('retry')).toContain('retry it when it has ended');
  const reason = sql<string>`case row_number when 2 then 'attempts_used_up' else 'no_retry_after_voicemail' end`;
  const done = { state: 'done', outcome: 'exhausted', reason } as const;
  await store.db.updateTable('recipients').set(done).where('row_number', 'in', [2, 3]).execute();
  const counted = { campaign_id: 'spring', kind: 'outcome', key: '', value: 'exhausted', count: 2 };
  await store.db.insertInto('aggregates').values(counted).execute();
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  holds(await console.text('retry'), [/Not reached, 2 (?:rows|people)/], ['Reached,']);
  const { text } = await console.get('');
  expect(text).toContain('/campaigns/spring/retry');
  holds(text, ['Not reached: all attempts used', 'Not reached: no retry after voicemail', '1 person: no retry after voicemail.']);
  expect(text).not.toMatch(/attempts are used|Not reached, attempts used/);
  const report = await readReport(store, await requireCampaign(store.db, 'spring'), ['outcome']);
  expect(report.unreached).toEqual([
    { value: 'attempts_used_up', count: 1, share: 0.5 },
    { value: 'no_retry_after_voicemail', count: 1, share: 0.5 },
  ]);
  expect(await console.text('', 'read')).not.toContain('/campaigns/spring/retry');
  expect(await console.submit('retry', {})).toMatchObject({ status: 400 });
  const refused = await console.submit('retry', { outcome: 'exhausted' });
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toMatch(/value="exhausted"\s+checked/);
  expect((await scenario.recipients()).filter(({ state }) => state === 'waiting')).toHaveLength(0);
});

test('a report is one file that opens without this server; with people in it the log says who has asked', async () => {
  const { store, scenario, console, actions } = await openWorld();
  await beginProven(store, { campaignId: 'autumn' });
  await scenario.dial(1);
  await scenario.sweep(noon + minuteMs, [answered('conv_1', one, noon + 5_000)]);
  holds(await console.text('results', 'read'), ['value="autumn"', 'Reached'], ['name="people"', 'results.csv']);
  const report = await console.get('report.html?with=autumn', 'read');
  expect(report).toMatchObject({ status: 200, headers: { 'content-disposition': 'attachment; filename="campaigns-report.html"' } });
  holds(report.text, ['spring', 'autumn']);
  for (const number of numbers(3)) expect(report.text).not.toContain(number);
  expect((await console.get('report.html?people=true', 'read')).status).toBe(403);
  expect(await actions('spring')).toEqual([]);
  holds(await console.text('report.html?people=true'), [one], ['<script>alert']);
  expect(await actions('spring')).toEqual(['numbers_shown']);
});

test.for(dialects)('entries of the list are shown page by page, masked, and found without an address that tells: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  await beginProven(store);
  const console = await ConsoleWorld.over(store);
  const e164s = numbers(60);
  const terms = { scope: 'account', source: 'person:front desk', expiresAt: null };
  await addSuppressions(
    store,
    e164s.map((e164, index) => ({ ...terms, e164, reason: index === 7 ? `50% off ${attack}` : null })),
    noon,
  );
  await addSuppressions(store, [{ ...terms, e164: one, scope: 'spring', source: 'call:spring/1/1', reason: 'asked us' }], noon);
  const shown = (text: string) => text.match(/id="entry-\d+"/g)?.length ?? 0;
  const first = await console.get('/do-not-call');
  expect(shown(first.text)).toBe(50);
  holds(first.text, ['href="/do-not-call?page=2"'], [/\+1\d{10}/, '<script>alert']);
  expect(first.text.replaceAll(/\n/g, '')).not.toMatch(obeyed);
  expect(shown(await console.text('/do-not-call?page=2'))).toBe(11);
  for (const [search, count] of [
    [one, 2],
    ['50% OFF', 1],
    ['spring/1', 1],
    ['sprin', 1],
    ['0% o_f', 0],
    ['person:', 50],
  ] as const)
    expect([search, shown((await console.post('/do-not-call', { search })).text)]).toEqual([search, count]);
  const kinds = [['single', 1], ['asked', 1], ['imported', 0], ['unheard', 50]] as const; // prettier-ignore
  for (const [kind, count] of kinds) expect([kind, shown(await console.text(`/do-not-call?kind=${kind}`))]).toEqual([kind, count]);
  for (const answer of [console.get('/do-not-call', 'read'), console.post('/do-not-call', { search: one }, 'read')])
    expect(shown((await answer).text)).toBe(0);
});

test('an entry is taken off from the list by an admin who was shown its number, for its own scope', async () => {
  const { store, console, listed } = await openWorld();
  const entry = { e164: one, scope: 'spring', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry, { ...entry, scope: 'account' }], noon);
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  const path = '/do-not-call?kind=single';
  expect(await console.text(path, 'admin')).not.toContain('Allow again…');
  await console.post('/campaigns/account/numbers', { show: 'yes', to: path }, 'admin');
  holds(await console.text(path, 'admin'), [
    one,
    new RegExp(`action="/do-not-call/remove">[\\s\\S]*name="numbers" value="\\${one}"[\\s\\S]*name="campaign" value="spring"`),
  ]);
  const asked = await console.post('/do-not-call/remove', { step: 'check', numbers: one, campaign: 'spring' }, 'admin');
  holds(asked.text, ['Allow calls to 1 number again?', /value="spring" selected/]);
  expect(await listed()).toHaveLength(2);
  const sure = { ...hiddenFields(asked.text), numbers: one, campaign: 'spring' };
  expect(await console.post('/do-not-call/remove', sure, 'admin')).toMatchObject({ status: 303 });
  expect((await listed()).map(({ scope }) => scope)).toEqual(['account']);
});

test('who took back consent for a purpose stands on the list with it, and is not allowed again by a press', async () => {
  const console = await ConsoleWorld.empty();
  const { store } = console;
  const entry = { e164: one, scope: 'purpose:recall', source: 'person', reason: null, expiresAt: null };
  await addSuppressions(store, [entry], noon);
  await console.post('/campaigns/account/numbers', { show: 'yes', to: '/do-not-call' }, 'admin');
  const { text } = await console.get('/do-not-call', 'admin');
  holds(text, [one, 'Calls for recall (consent taken back)']);
  holds(text, [], ['purpose:', 'Allow again…']);
  expect(await console.text('/do-not-call?kind=single', 'admin')).not.toContain(one);
});

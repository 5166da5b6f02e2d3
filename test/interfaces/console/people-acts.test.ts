import { expect, test } from 'vitest';
import { buildRows, hourMs } from '../../support/campaign-rules.ts';
import { changeAggregates } from '../../../src/ledger/aggregates.ts';
import { bothDialects } from '../../ledger/test-stores.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { talk, three, threeInDoubt } from '../../ledger/people/three-in-doubt.ts';
import { noon, beginProven, beginCampaign } from '../../ledger/scenario.ts';
import { actsIn } from '../api/api-world.ts';
import { ConsoleWorld, hiddenFields, startStillService } from './console-world.ts';
import { idRules, listRows, numberOf } from '../../ledger/edit-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { listWebhooks } from '../../../src/ledger/webhooks/registry.ts';
import { sendJson, startHookServer } from '../../shared/hooks/hook-server.ts';
import { secret } from '../../shared/hooks/webhook-world.ts';
import { holds, told, locationOf } from '../../support/answers.ts';

const later = noon + 3 * hourMs;
const attack = `Hello Guest <script>alert(1)</script>"'${poison}`;

async function openWorld() {
  const scenario = await threeInDoubt('sqlite', [talk('conv_a', { openingLine: attack }), talk('conv_b')]);
  const console = await ConsoleWorld.over(scenario.store, { SVC_BASE_URL: await startStillService(later) });
  console.api.at = later;
  const outcomes = async () => (await scenario.recipients()).map(({ outcome, reason }) => [outcome, reason]);
  return { scenario, console, outcomes, store: scenario.store };
}

const unresolved = ['unresolved', 'records_not_told_apart'];

function fieldsOf(text: string, { row, decision, record }: { row: number; decision: string; record: string }) {
  const forms = text.match(/<form[^>]*\/rows\/\d+\/resolve"[\s\S]*?<\/form>/g) ?? [];
  const form = forms.find((each) => [`/rows/${row}/`, `"${decision}"`, `"${record}"`].every((part) => each.includes(part)));
  const fields = (form ?? '').matchAll(/name="([^"]*)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

test('rows that cannot be told apart stand with their records side by side, and one press assigns one', async () => {
  const { console, outcomes, store } = await openWorld();
  const { text } = await console.get('unresolved');
  holds(text, ['3 people need a decision', 'a record may belong to their call, or to another one']);
  for (const record of ['conv_a', 'conv_b']) expect(text.split(`title="${record}"`)).toHaveLength(4);
  for (const number of three) expect(text).not.toContain(number.slice(1));
  expect(text).not.toContain('<script>alert');
  expect(text.replaceAll(/\n/g, '')).not.toMatch(obeyed);
  const fields = fieldsOf(text, { row: 2, decision: 'theirs', record: 'conv_b' });
  expect(locationOf(await console.post('rows/2/resolve', fields))).toBe('/campaigns/spring/unresolved');
  expect(await outcomes()).toEqual([unresolved, ['completed', 'answered'], unresolved]);
  expect(await actsIn(store)).toEqual(['resolve_row_theirs']);
  // The other page is older: the record has its owner, and the row its result.
  const stale = await console.post('rows/1/resolve', { ...fields, key: 'another' });
  expect(stale.status).toBe(422);
  expect(stale.text).toContain('conv_b');
  const again = await console.post('rows/2/resolve', { ...fields, key: 'a third' });
  expect(again).toMatchObject(told(409, 'is not in doubt'));
});

test('whoever may only look sees the causes, and not what was said', async () => {
  const { console } = await openWorld();
  holds(await console.text('unresolved', 'read'), ['a record may belong to their call'], ['Hello Guest', /\/resolve[?"]/]);
});

test('dialling again says how many may be called twice, and without Temporal nothing is decided', async () => {
  const { console, outcomes, scenario } = await openWorld();
  holds(await console.text('rows/1/resolve?decision=redial'), [
    'this person is called twice',
    /Records that may be their call<\/dt>\s*<dd><span class="num">2</,
  ]);
  // Each of these needs a decision of its own.
  expect(await console.text('unresolved')).not.toContain('/campaigns/spring/resolve?decision=redial');
  expect(await console.text('resolve?decision=redial')).toContain('Nobody can be decided about together');
  const { db } = scenario.store;
  await db.updateTable('recipients').set({ reason: 'held' }).where('row_number', '=', 3).execute();
  await db
    .updateTable('attempts')
    .set('detail', 'held')
    .where('e164', '=', three[2] ?? '')
    .execute();
  const together = await console.text('resolve?decision=redial');
  holds(together, ['up to 1 person is called twice', /left to a decision of their own<\/dt>\s*<dd><span class="num">2</]);
  const refused = await console.submit('rows/1/resolve?decision=redial');
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toContain('class="refused"');
  expect(await outcomes()).toEqual([unresolved, unresolved, ['unresolved', 'held']]);
});

test('a row is left as it is, then all others, and the page then asks for nothing', async () => {
  const { console, outcomes } = await openWorld();
  expect(await console.submit('rows/3/resolve?decision=give_up')).toMatchObject({ status: 303 });
  const givenUp = ['unresolved', 'given_up'];
  expect(await outcomes()).toEqual([unresolved, unresolved, givenUp]);
  expect(await console.text('resolve?decision=give_up')).toContain('Leave 2 people open');
  const done = await console.submit('resolve?decision=give_up');
  expect(decodeURIComponent(String(done.headers['set-cookie']))).toContain('2 people left open');
  expect(await outcomes()).toEqual([givenUp, givenUp, givenUp]);
  const { text } = await console.get('unresolved');
  holds(text, ['Nobody needs a decision', /Left open<\/span><span class="num">3</]);
  expect(await console.text('/decisions')).toContain('Nobody needs a decision');
  expect(text).not.toContain('/resolve?');
});

test.for(bothDialects)(
  'people of all campaigns stand on one page, a page at a time, and a decision leads back to it: %s',
  async (dialect) => {
    const { store } = await threeInDoubt(dialect);
    const list = Array.from({ length: 30 }, (_, index) => `+1${301 + index}5550142`);
    const autumn = await beginCampaign(store, { campaignId: 'autumn', rows: buildRows(list, (index) => `Guest ${index}`), now: noon + 1 });
    await store.db.updateTable('recipients').set({ state: 'done', outcome: 'unresolved' }).where('campaign_id', '=', 'autumn').execute();
    await store.transaction((tx) => changeAggregates(tx, 'autumn', [{ kind: 'outcome', value: 'unresolved', delta: 30 }]));
    const console = await ConsoleWorld.over(store, { SVC_BASE_URL: await startStillService(later) });
    console.api.at = later;
    const first = await console.get('/decisions');
    holds(first.text, ['33 people need a decision', /href="\/campaigns\/autumn\/unresolved"\s*>\s*autumn <span class="n">30</]);
    const found = (text: string) => [...text.matchAll(/<section id="doubt-([\w-]+)"/g)].map(([, key]) => key);
    expect(found(first.text)).toHaveLength(25);
    const [, next = ''] = /href="(\/decisions\?[^"]*)"[^>]*>\s*Next people/.exec(first.text) ?? [];
    const second = await console.get(next.replaceAll('&amp;', '&'));
    expect(found(second.text)).toEqual([26, 27, 28, 29, 30].map((row) => `autumn-${row}`).concat(['spring-1', 'spring-2', 'spring-3']));
    expect(second.text).not.toContain('Next people');
    const fields = fieldsOf(second.text, { row: 2, decision: 'theirs', record: 'conv_b' });
    expect(await console.post('rows/2/resolve', fields)).toMatchObject({ headers: { location: '/decisions' } });
    const left = await console.submit('/campaigns/autumn/rows/1/resolve?decision=give_up&from=all');
    expect(locationOf(left)).toBe('/decisions');
    // A given-up row needs no decision.
    expect(await console.text('/decisions')).toContain('31 people need a decision');
    expect((await autumn.recipients())[0]).toMatchObject({ reason: 'given_up' });
  },
);

const updatePath = 'update';

async function openList() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rows: listRows(3), rules: idRules });
  const console = await ConsoleWorld.over(store);
  const names = async () => (await scenario.recipients()).map(({ cells }) => (JSON.parse(cells) as string[])[1]);
  return { store, scenario, console, names };
}

const listOf = (...lines: string[]): Record<string, string> => ({ list: `phone,name,id\n${lines.join('\n')}\n` });
const corrected = listOf(`${numberOf(0)},Ana,id0`, `${numberOf(7)},New,id7`, 'no number,Bad,id1');

test('a corrected list is counted before it is taken; another file is not taken, nor one without the columns of the campaign', async () => {
  const { console, names } = await openList();
  const before = await names();
  const first = { ...hiddenFields(await console.text(updatePath)), restore: 'yes' };
  const counted = await console.send(updatePath, { fields: first, files: corrected });
  expect(counted.status).toBe(200);
  holds(counted.text, [/New, added after the last row<\/dt>\s*<dd><span class="num">1</, 'invalid phone'], [numberOf(0).slice(1)]);
  const fields = hiddenFields(counted.text);
  expect(fields).toMatchObject({ step: 'change', restore: 'yes' });
  const other = listOf(`${numberOf(0)},Eve,id0`);
  expect(await console.send(updatePath, { fields, files: other })).toMatchObject(told(422, 'this is not the file'));
  const without = await console.send(updatePath, { fields: { key: 'k1', step: 'count' }, files: { list: 'a,b\n1,2\n' } });
  expect(without.status).toBe(422);
  holds(without.text, ['class="refused"'], ['carillon-upload']);
  expect(await names()).toEqual(before);
  const again = { ...fields, key: 'another' };
  expect(locationOf(await console.send(updatePath, { fields: again, files: corrected }))).toBe('/campaigns/spring');
  expect(await names()).toEqual(['Ana', 'Guest id1', 'Guest id2', 'New']);
});

test('a campaign that has ended meanwhile keeps its list, and the form says so', async () => {
  const { store, console, names } = await openList();
  const before = await names();
  const counted = await console.send(updatePath, { fields: hiddenFields(await console.text(updatePath)), files: corrected });
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  const late = await console.send(updatePath, { fields: hiddenFields(counted.text), files: corrected });
  expect(late).toMatchObject(told(409, 'has ended'));
  expect(await names()).toEqual(before);
  expect(await console.text(updatePath)).toContain('its rows cannot be changed');
});

async function openWebhooks() {
  const console = await ConsoleWorld.empty({ CARILLON_HOOK_SECRET: secret, CARILLON_HOOK_NETWORKS: '127.0.0.1' });
  await beginCampaign(console.store);
  return console;
}

test('a webhook is added, paused, resumed and removed, and its address is shown to nobody', async () => {
  const console = await openWebhooks();
  const { store } = console;
  expect(await console.text('/webhooks', 'read')).toContain('There is no webhook yet');
  const fields = { url: 'https://crm.example.com/planted-path', campaign: 'spring', type: 'row.ended' };
  expect(locationOf(await console.submit('/webhooks/add', fields, 'admin'))).toBe('/webhooks');
  const [webhook] = await listWebhooks(store.db);
  expect(webhook).toMatchObject({ campaignId: 'spring', types: ['row.ended'], state: 'active' });
  const own = `/webhooks/${webhook?.webhookId}`;
  for (const [wish, state] of Object.entries({ pause: 'paused', resume: 'active' })) {
    expect(locationOf(await console.submit(`${own}/${wish}`, {}, 'admin'))).toBe('/webhooks');
    expect(await listWebhooks(store.db)).toMatchObject([{ state }]);
  }
  for (const [path, role] of [['/webhooks', 'read'], ['/webhooks', 'admin'], [`${own}/remove`, 'admin']] as const) {
    holds(await console.text(path, role), ['crm.example.com', 'no event waits'], ['planted']);
  } // prettier-ignore
  expect(await console.submit(`${own}/remove`, {}, 'admin')).toMatchObject({ status: 303 });
  expect(await listWebhooks(store.db)).toEqual([]);
  expect(await console.get(`${own}/pause`, 'admin')).toMatchObject({ status: 404 });
});

test('a ping that was not taken says so, and an address that cannot be used is refused', async () => {
  const console = await openWebhooks();
  const { store } = console;
  const server = await startHookServer((response) => sendJson(response, {}, 500));
  const made = await console.post('/webhooks/add', { key: 'k1', url: new URL('/crm', server.url).href }, 'admin');
  expect(made.status).toBe(303);
  const [webhook] = await listWebhooks(store.db);
  const pinged = await console.submit(`/webhooks/${webhook?.webhookId}/test`, {}, 'admin');
  expect(pinged).toMatchObject(told(200, 'The ping was not taken'));
  const refused = await console.post('/webhooks/add', { key: 'k2', url: 'ftp://crm.example.com/key' }, 'admin');
  expect(refused).toMatchObject(told(422, 'cannot be used'));
  expect(await listWebhooks(store.db)).toHaveLength(1);
  server.answerWith((response) => sendJson(response, {}));
  expect(await console.submit(`/webhooks/${webhook?.webhookId}/test`, {}, 'admin')).toMatchObject({ status: 303 });
});

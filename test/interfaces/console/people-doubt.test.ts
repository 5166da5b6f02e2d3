import { expect, test } from 'vitest';
import { readMarks } from '../../../src/ledger/events.ts';
import { hourMs } from '../../support/campaign-rules.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { talk, three, threeInDoubt } from '../../ledger/people/three-in-doubt.ts';
import { noon } from '../../ledger/scenario.ts';
import { ConsoleWorld } from './console-world.ts';
import { startStillService } from './still-service.ts';

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

/** What the button beside this record sends. */
function fieldsOf(text: string, { row, decision, record }: { row: number; decision: string; record: string }) {
  const forms = text.match(/<form[^>]*\/rows\/\d+\/resolve"[\s\S]*?<\/form>/g) ?? [];
  const form = forms.find((each) => [`/rows/${row}/`, `"${decision}"`, `"${record}"`].every((part) => each.includes(part)));
  const fields = (form ?? '').matchAll(/name="([^"]*)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]));
}

test('rows that cannot be told apart stand with their records side by side, and one press assigns one, once', async () => {
  const { console, outcomes, store } = await openWorld();
  const { text } = await console.get('/campaigns/spring/unresolved');
  expect(text).toContain('a record may belong to their call, or to another one');
  for (const record of ['conv_a', 'conv_b']) expect(text.split(`title="${record}"`)).toHaveLength(4);
  for (const number of three) expect(text).not.toContain(number.slice(1));
  expect(text).not.toContain('<script>alert');
  expect(text.replaceAll(/\n/g, '')).not.toMatch(obeyed);
  const fields = fieldsOf(text, { row: 2, decision: 'theirs', record: 'conv_b' });
  for (let times = 0; times < 2; times += 1)
    expect(await console.post('/campaigns/spring/rows/2/resolve', fields)).toMatchObject({
      status: 303,
      headers: { location: '/campaigns/spring/unresolved' },
    });
  expect(await outcomes()).toEqual([unresolved, ['completed', 'answered'], unresolved]);
  const acted = (await readMarks(store.db, 'spring')).filter(({ type }) => type === 'operator.acted');
  expect(acted).toMatchObject([{ data: { name: 'operate console', action: 'resolve_row_theirs' } }]);
  // The page of somebody else is older: the record has its owner, and the row its result.
  const stale = await console.post('/campaigns/spring/rows/1/resolve', { ...fields, key: 'another' });
  expect(stale.status).toBe(422);
  expect(stale.text).toContain('conv_b');
  const again = await console.post('/campaigns/spring/rows/2/resolve', { ...fields, key: 'a third' });
  expect(again).toMatchObject({ status: 409, text: expect.stringContaining('is not in doubt') });
});

test('whoever may only look sees the causes, and neither what was said nor a button', async () => {
  const { console, outcomes } = await openWorld();
  const { text } = await console.get('/campaigns/spring/unresolved', 'read');
  expect(text).toContain('a record may belong to their call');
  expect(text).not.toContain('Hello Guest');
  expect(text).not.toMatch(/\/resolve[?"]/);
  const fields = { key: 'k1', decision: 'give_up' };
  for (const path of ['/campaigns/spring/rows/1/resolve', '/campaigns/spring/resolve'])
    expect(await console.post(path, fields, 'read')).toMatchObject({ status: 403 });
  expect(await outcomes()).toEqual([unresolved, unresolved, unresolved]);
});

test('dialling again says how many may be called twice, and without Temporal nothing is decided', async () => {
  const { console, outcomes, scenario } = await openWorld();
  const one = await console.get('/campaigns/spring/rows/1/resolve?decision=redial');
  expect(one.text).toContain('this person is called twice');
  expect(one.text).toMatch(/Records that may be theirs<\/dt>\s*<dd><span class="num">2</);
  // All of them are told apart by a person alone.
  expect((await console.get('/campaigns/spring/unresolved')).text).not.toContain('/campaigns/spring/resolve?decision=redial');
  const all = await console.get('/campaigns/spring/resolve?decision=redial');
  expect(all.text).toContain('No row can be decided about together');
  const { db } = scenario.store;
  await db.updateTable('recipients').set({ reason: 'held' }).where('row_number', '=', 3).execute();
  await db
    .updateTable('attempts')
    .set({ detail: 'held' })
    .where('e164', '=', three[2] ?? '')
    .execute();
  const together = (await console.get('/campaigns/spring/resolve?decision=redial')).text;
  expect(together).toContain('up to 1 person is called twice');
  expect(together).toMatch(/left to a decision of their own<\/dt>\s*<dd><span class="num">2</);
  const refused = await console.submit('/campaigns/spring/rows/1/resolve?decision=redial');
  expect(refused.status).toBeGreaterThanOrEqual(400);
  expect(refused.text).toContain('class="refused"');
  expect(await outcomes()).toEqual([unresolved, unresolved, ['unresolved', 'held']]);
});

test('a row is left as it is, then all others, and the page then asks for nothing', async () => {
  const { console, outcomes } = await openWorld();
  expect(await console.submit('/campaigns/spring/rows/3/resolve?decision=give_up')).toMatchObject({ status: 303 });
  const givenUp = ['unresolved', 'given_up'];
  expect(await outcomes()).toEqual([unresolved, unresolved, givenUp]);
  expect((await console.get('/campaigns/spring/resolve?decision=give_up')).text).toContain('Leave 2 rows as they are');
  const done = await console.submit('/campaigns/spring/resolve?decision=give_up');
  expect(decodeURIComponent(String(done.headers['set-cookie']))).toContain('2 rows left as unresolved');
  expect(await outcomes()).toEqual([givenUp, givenUp, givenUp]);
  const { text } = await console.get('/campaigns/spring/unresolved');
  expect(text).toContain('given up by an operator');
  expect(text).not.toContain('/resolve?');
});

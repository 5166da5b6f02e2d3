import { expect, test } from 'vitest';
import { buildRow, buildRules } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginCampaign, noon, numbers } from '../../ledger/scenario.ts';
import { bothDialects, type TestDialect } from '../../ledger/test-stores.ts';
import { ConsoleWorld } from '../console/console-world.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { holds } from '../../support/answers.ts';

const attack = `<script>alert(1)</script>"'&${poison}`;
const [ana = '', ben = '', carla = '', dev = ''] = numbers(4);

/** The older campaign has Ana and Ben, the newer one Carla, Dev and Ana again. */
async function openWorld(dialect: TestDialect) {
  const store = await openCleanStore(dialect);
  const list = { ...buildRules().list, columns: ['phone', 'name', 'id', 'second phone'], idColumn: 'id' };
  const begin = (campaignId: string, now: number, people: readonly (readonly [e164: string, name: string, id: string])[]) =>
    beginCampaign(store, {
      campaignId,
      now,
      rules: { list },
      rows: people.map(([e164, name, id], index) => ({ ...buildRow(index + 1, e164, [e164, name, id, '(312) 555-0177']), externalId: id })),
    });
  await begin('old', noon - 1, [[ana, 'Ana Berg', 'A-1'], [ben, 'Ben Lima', 'B-2']]); // prettier-ignore
  await begin('new', noon, [[carla, 'Carla BERGER', 'C-3'], [dev, attack, 'D-4'], [ana, 'Ana Berg', 'A-1']]); // prettier-ignore
  const console = await ConsoleWorld.over(store);
  const find = async (text: string, role: 'read' | 'operate' = 'operate', limit?: number) => {
    const { status, body } = await console.api.ask('POST /search', { role, body: { text, ...(limit === undefined ? {} : { limit }) } });
    expect(status).toBe(200);
    const people = (body.people as { campaignId: string; row: number }[]).map(({ campaignId, row }) => `${campaignId} ${row}`);
    return { people, complete: body.complete as boolean, body };
  };
  return { store, console, find };
}

test.for(bothDialects)(
  'people of all campaigns are found by name, number, id and any cell, the newest campaign first: %s',
  async (dialect) => {
    const { find } = await openWorld(dialect);
    const berg = await find('berg');
    expect(berg.people).toEqual(['new 1', 'new 3', 'old 1']);
    expect(berg.body.people[0]).toMatchObject({
      externalId: 'C-3',
      state: 'waiting',
      outcome: null,
      match: { column: 'name', value: 'Carla BERGER' },
    });
    expect((await find('A-1')).people).toEqual(['new 3', 'old 1']);
    expect((await find('#2')).people).toEqual(['new 2', 'old 2']);
    for (const written of [ben, ben.slice(2), `${ben.slice(2, 5)} ${ben.slice(5, 8)}-${ben.slice(8)}`])
      expect((await find(written)).people).toEqual(['old 2']);
    const second = await find('(312) 555');
    expect(second.people).toHaveLength(5);
    expect(second.body.people[0].match).toEqual({ column: 'second phone', value: expect.stringMatching(/^\(3•+77$/) });
    expect(await find('berg', 'operate', 2)).toMatchObject({ people: ['new 1', 'new 3'], complete: false });
    expect(await find('nobody of this name')).toMatchObject({ people: [], complete: true });
    // The database's wildcards are literal.
    for (const wild of ['%', 'B_rg', '%erg']) expect((await find(wild)).people).toEqual([]);
    expect(JSON.stringify(berg.body)).not.toContain(ana.slice(1));
  },
);

test('whoever may only look finds by whole IDs and rows alone, and nothing that is searched for is in the log', async () => {
  const { console, find, store } = await openWorld('sqlite');
  for (const hidden of ['berg', 'Ana', ben, ben.slice(-4), '3125550177', 'A-']) expect((await find(hidden, 'read')).people).toEqual([]);
  expect((await find('A-1', 'read')).people).toEqual(['new 3', 'old 1']);
  expect((await find('#1', 'read')).body.people[0]).toMatchObject({ row: 1, match: null });
  await find(ben);
  expect(JSON.stringify(await store.db.selectFrom('events').select('data').execute())).not.toContain(ben.slice(1));
  for (const body of [{}, { text: '  ' }, { text: 'a', limit: 0 }, { text: 'x'.repeat(201) }])
    expect(await console.api.ask('POST /search', { body })).toMatchObject({ status: 400 });
});

test('the page searches all campaigns by POST, masks numbers and shows cells as text', async () => {
  const { console } = await openWorld('sqlite');
  const keys = (text: string) => [...text.matchAll(/<tr id="found-([\w-]+)"/g)].map(([, key]) => key);
  const search = async (words: string, role?: 'read') => (await console.post('/search', { search: words }, role)).text;
  expect(await console.text('/search')).toContain('id="search-form"');
  const found = await search('berg');
  expect(keys(found)).toEqual(['new-1', 'new-3', 'old-1']);
  holds(found, ['href="/campaigns/old/rows/1"', 'data-follows=""'], [ana.slice(1)]);
  expect(keys(await console.text('/search?search=berg'))).toEqual([]);
  const poisoned = await search('<script>');
  expect(keys(poisoned)).toEqual(['new-2']);
  holds(poisoned.replaceAll(/\n/g, ''), [], ['<script>alert', obeyed]);
  expect(keys(await search('berg', 'read'))).toEqual([]);
  expect(keys(await search('A-1', 'read'))).toEqual(['new-3', 'old-1']);
});

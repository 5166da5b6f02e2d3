import { expect, test } from 'vitest';
import { idRules, listRows, numberOf } from '../../ledger/edit-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven } from '../../ledger/scenario.ts';
import { ConsoleWorld, hiddenFields } from './console-world.ts';

const path = '/campaigns/spring/update';

async function openWorld() {
  const store = await openCleanStore('sqlite');
  const scenario = await beginProven(store, { rows: listRows(3), rules: idRules });
  const console = await ConsoleWorld.over(store);
  const names = async () => (await scenario.recipients()).map(({ cells }) => (JSON.parse(cells) as string[])[1]);
  return { store, scenario, console, names };
}

const listOf = (...lines: string[]): Record<string, string> => ({ list: `phone,name,id\n${lines.join('\n')}\n` });
const corrected = listOf(`${numberOf(0)},Ana,id0`, `${numberOf(7)},New,id7`, 'no number,Bad,id1');

test('a corrected list is counted before it is taken, and taken once', async () => {
  const { console, names } = await openWorld();
  const before = await names();
  const first = { ...hiddenFields((await console.get(path)).text), restore: 'yes' };
  const counted = await console.send(path, { fields: first, files: corrected });
  expect(counted.status).toBe(200);
  expect(counted.text).toMatch(/New, added after the last row<\/dt>\s*<dd><span class="num">1</);
  expect(counted.text).toContain('invalid phone');
  expect(counted.text).not.toContain(numberOf(0).slice(1));
  expect(await names()).toEqual(before);
  const fields = hiddenFields(counted.text);
  expect(fields).toMatchObject({ step: 'change', restore: 'yes' });
  for (let times = 0; times < 2; times += 1)
    expect(await console.send(path, { fields, files: corrected })).toMatchObject({
      status: 303,
      headers: { location: '/campaigns/spring' },
    });
  expect(await names()).toEqual(['Ana', 'Guest id1', 'Guest id2', 'New']);
});

test('another file than the one that was counted is not taken', async () => {
  const { console, names } = await openWorld();
  const before = await names();
  const counted = await console.send(path, { fields: hiddenFields((await console.get(path)).text), files: corrected });
  const other = await console.send(path, {
    fields: hiddenFields(counted.text),
    files: listOf(`${numberOf(0)},Eve,id0`),
  });
  expect(other).toMatchObject({ status: 422, text: expect.stringContaining('this is not the file') });
  expect(await names()).toEqual(before);
});

test('a list without the columns of the campaign is refused without a path of the server, and a reader is refused at once', async () => {
  const { console } = await openWorld();
  const fields = { key: 'k1', step: 'count' };
  const refused = await console.send(path, { fields, files: { list: 'a,b\n1,2\n' } });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain('class="refused"');
  expect(refused.text).not.toContain('carillon-upload');
  expect(await console.send(path, { fields: { ...fields, key: 'k2' }, files: corrected }, 'read')).toMatchObject({
    status: 403,
  });
});

test('a campaign that has ended meanwhile keeps its list, and the form says so', async () => {
  const { store, console, names } = await openWorld();
  const before = await names();
  const counted = await console.send(path, { fields: hiddenFields((await console.get(path)).text), files: corrected });
  await store.db.updateTable('campaigns').set({ state: 'completed' }).execute();
  const late = await console.send(path, { fields: hiddenFields(counted.text), files: corrected });
  expect(late).toMatchObject({ status: 409, text: expect.stringContaining('has ended') });
  expect(await names()).toEqual(before);
  expect((await console.get(path)).text).toContain('its rows cannot be changed');
});

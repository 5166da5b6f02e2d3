import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openSqliteFile } from '../../../src/ledger/sqlite-dialect.ts';
import { createWorld } from './campaign-world.ts';

test('a start that Temporal refuses leaves no campaign behind that is called running', async () => {
  const [one, other] = [await createWorld(), await createWorld()];
  expect(await one.run('start', one.writeCampaign({ id: 'taken' }))).toMatchObject({ code: 0 });
  expect(await other.run('start', other.writeCampaign({ id: 'taken' }))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/campaign taken in another database/),
  });
  expect(await other.run('status')).toMatchObject({ code: 0, stdout: '' });
});

test('start --no-check does not ask the service, not even whether it is there', async () => {
  const world = await createWorld({}, { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: '' });
  expect(await world.run('start', '--no-check', world.writeCampaign({}))).toMatchObject({ code: 0 });
});

test.each(['status', 'start', 'worker', 'check'])('%s leaves the SQLite file of another program as it is', async (name) => {
  const world = await createWorld();
  const other = openSqliteFile(world.path('carillon.db'), { journal: 'delete' });
  other.prepare('create table orders (id integer)').run([]);
  other.close();
  const before = readFileSync(world.path('carillon.db'));
  const needsFile = name === 'start' || name === 'check';
  const { code, stdout, stderr } = await world.run(name, ...(needsFile ? [world.writeCampaign({})] : []));
  expect(`${stdout}${stderr}`.replace(/\s+/g, ' ')).toMatch(/it is the database of another program \(its tables: orders\)/);
  expect(code).toBe(name === 'check' ? 0 : 1);
  expect(readFileSync(world.path('carillon.db')).equals(before)).toBe(true);
});

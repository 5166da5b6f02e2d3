import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteFile } from '../../../src/ledger/sqlite-file.ts';
import { minimalCampaign } from '../../list/campaign-folder.ts';
import { createWorld, type CampaignWorld } from './campaign-world.ts';
import { commandFolder } from './terminal.ts';

const nobody = '127.0.0.1:1';

async function expectNothingImported(world: CampaignWorld): Promise<void> {
  expect(await world.run('status')).toMatchObject({ code: 0, stdout: '' });
  expect(world.sandbox.calls()).toEqual([]);
}

test.each([
  { yaml: ['agent_id: agent_nobody'], says: /does not know agent agent_nobody \(404\): correct agent_id/ },
  {
    yaml: ['from_phone_number_id: pn_none'],
    says: /has no phone number pn_none: import the number, or write another from_phone_number_id/,
  },
  { yaml: ['from_phone_number_id: pn_unverified'], says: /pn_unverified is not verified.*verify it with the service/ },
  {
    yaml: ['from_phone_number_id: [pn_unverified, pn_nowhere]'],
    says: /None of the 2 caller numbers may call \(pn_unverified is not verified, pn_nowhere is not known to the service\): fix one of them/,
  },
])('a campaign that the service would not call for is not imported: $yaml', async ({ yaml, says }) => {
  const world = await createWorld();
  const path = world.writeCampaign({ yaml });
  const { code, stdout, stderr } = await world.run('start', path);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(says);
  expect(stderr).toMatch(/Nothing was imported and no call was placed\.\n$/);
  await expectNothingImported(world);
});

test('a wrong key, a missing key and a service that is down are told apart', async () => {
  const wrong = await createWorld({}, { SVC_API_KEY: 'sk_wrong' });
  expect(await wrong.run('start', wrong.writeCampaign({}))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/refuses the API key \(401\): set SVC_API_KEY/),
  });
  await expectNothingImported(wrong);

  const none = await createWorld({}, { SVC_API_KEY: '' });
  expect(await none.run('start', none.writeCampaign({}))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^SVC_API_KEY is not set/),
  });

  const down = await createWorld({}, { SVC_BASE_URL: `http://${nobody}` });
  expect(await down.run('start', down.writeCampaign({}))).toMatchObject({
    code: 1,
    stderr: `The service at http://${nobody} cannot be reached. Check SVC_BASE_URL and that it is up (carillon sandbox runs it on this machine).\n`,
  });
  await expectNothingImported(down);
});

test('a service without encryption that is not on this machine gets no key', async () => {
  const world = await createWorld({}, { SVC_BASE_URL: 'http://192.0.2.1' });
  const { code, stderr } = await world.run('worker');
  expect(code).toBe(1);
  expect(stderr).not.toMatch(/sk_sandbox_ok/);
});

test('with Temporal down nothing is imported, and the message names the address', async () => {
  const world = await createWorld({}, { TEMPORAL_ADDRESS: nobody });
  expect(await world.run('start', world.writeCampaign({}))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Temporal at 127\.0\.0\.1:1 cannot be used.*TEMPORAL_ADDRESS/),
  });
  await expectNothingImported(world);
  expect(await world.run('worker')).toMatchObject({ code: 1, stderr: expect.stringContaining(nobody) });
});

test('the checks of a file come before anything else', async () => {
  const world = await createWorld({}, { TEMPORAL_ADDRESS: nobody, SVC_BASE_URL: `http://${nobody}` });
  const cases: [Parameters<CampaignWorld['writeCampaign']>[0], RegExp][] = [
    [{ yaml: ['retry: { busy: soon }'] }, /campaign\.yaml:\d+: retry\.busy:.*such as 5m/],
    [{ yaml: ["opt_out: 'x'"] }, /opt_out/],
  ];
  for (const [settings, says] of cases) {
    expect(await world.run('run', world.writeCampaign(settings))).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(says),
    });
  }
  expect(await world.run('start', world.path('none.yaml'))).toMatchObject({ code: 2 });
});

test('a list of which no row can be dialled starts no campaign, and a mended one does', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({ lines: ['nonsense,A', ',B'] });
  expect(await world.run('start', path)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /none of the 2 rows taken from list\.csv can be dialled \(invalid_phone 1, missing_phone 1\)\ncarillon check \S+\.yaml says more\.\n/,
    ),
  });
  await expectNothingImported(world);
  world.writeCampaign({ rows: 2 });
  expect(await world.run('start', path)).toMatchObject({ code: 0 });
});

test('hours in which the law lets nobody of the list be called start no campaign; where some can be called, the others are told', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({ lines: ['+12055550101,Ana'] });
  const onSundays = readFileSync(path, 'utf8').replace('hours: any\nlaw: off', 'hours: { sun: "10:00-18:00" }');
  writeFileSync(path, onSundays);
  const refusal = /campaign\.yaml:\d+: hours\.sun: "10:00-18:00" leaves no time .* rule us-al \(Ala\. Admin\. Code/;
  for (const command of ['check', 'start']) {
    expect(await world.run(command, path)).toMatchObject({ code: 2, stderr: expect.stringMatching(refusal) });
  }
  await expectNothingImported(world);
  world.writeCampaign({ lines: ['+12055550101,Ana', '+14045550102,Ben'] });
  writeFileSync(path, onSundays);
  expect(await world.run('start', path)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Warning: 1 row of US AL in America\/Chicago \(the first is row 1\) can never be called/m),
  });
});

test('a campaign with too little time for its list is not imported, unless some are enough', async () => {
  const world = await createWorld({ speed: 1 });
  const soon = new Date(world.sandbox.clock.now() + 15 * 60_000).toISOString();
  const path = world.writeCampaign({
    rows: 300,
    yaml: [`ends_at: ${soon}`, 'pacing: { max_concurrent_calls: 1, batch_size: 1 }', 'advanced: { dispatch_margin: 10m }'],
  });
  const slow = await world.run('start', path);
  expect(slow).toMatchObject({ code: 2, stdout: '' });
  expect(slow.stderr).toMatch(/campaign\.yaml:\d+: ends_at: .*even at best \d+ recipients/);
  await expectNothingImported(world);
});

test('a start that has passed is refused, and does not matter to a campaign that exists', async () => {
  const world = await createWorld({ speed: 1 });
  const path = world.writeCampaign({ rows: 2, yaml: ['starts_at: 2020-01-01T00:00:00Z'] });
  for (const command of ['check', 'start', 'run']) {
    expect(await world.run(command, path)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/campaign\.yaml:\d+: starts_at: 2020-01-01T00:00:00\.000Z has passed/),
    });
  }
  await expectNothingImported(world);
  const ahead = new Date(world.sandbox.clock.now() + 3_600_000).toISOString();
  world.writeCampaign({ rows: 2, yaml: [`starts_at: ${ahead}`] });
  expect(await world.run('start', path)).toMatchObject({ code: 0 });
  await world.sandbox.advance(2 * 3_600_000);
  expect(await world.run('start', path)).toMatchObject({ code: 0, stdout: expect.stringContaining('already running') });
});

/** A separate file: SQLite shares a file's state among a process's connections. */
function useCopy(world: CampaignWorld, files: string[], name: string): void {
  const from = dirname(world.env['CARILLON_DB'] ?? '');
  mkdirSync(world.path(name));
  for (const file of files) copyFileSync(join(from, file), join(world.path(name), file));
  world.env['CARILLON_DB'] = join(world.path(name), 'carillon.db');
}

test.each([
  { left: 'at rest', files: ['carillon.db'] },
  { left: 'in use', files: ['carillon.db', 'carillon.db-wal', 'carillon.db-shm'] },
])('a database that cannot be written is a sentence, not a stack: $left', async ({ files }) => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({}));
  const path = world.writeCampaign({ id: `${world.id}-new` });
  const user = openSqliteFile(world.path('carillon.db'));
  user.prepare('select count(*) from campaigns').all([]);
  useCopy(world, files, 'read-only');
  const folder = world.path('read-only');
  for (const file of files) chmodSync(join(folder, file), 0o444);
  chmodSync(folder, 0o555);
  const isSuperuser = process.getuid?.() === 0;
  if (isSuperuser) {
    chmodSync(world.folder, 0o755);
    process.seteuid?.(65_534);
  }
  try {
    const { code, stderr } = await world.run('start', path);
    expect(stderr).toMatch(
      /^The database cannot be used: .*attempt to write a readonly database\. Check .* that you may write to it.*CARILLON_DB/,
    );
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  } finally {
    if (isSuperuser) process.seteuid?.(0);
    chmodSync(folder, 0o755);
    for (const file of files) chmodSync(join(folder, file), 0o644);
    user.close();
  }
  useCopy(world, files, 'writable');
  expect(await world.run('start', path)).toMatchObject({ code: 0 });
});

test('a command that only reads makes no database', async () => {
  const world = await createWorld();
  const { code, stderr } = await world.run('status');
  expect(code).toBe(2);
  expect(stderr).toMatch(/There is no database at .*carillon\.db\. Run this where the campaign was started/);
});

const notPostgres = /DATABASE_URL is no address of PostgreSQL: it must begin with postgres:\/\/ or postgresql:\/\//;

test.each([
  ['DATABASE_URL', 'mysql://carillon:planted@db/carillon', notPostgres],
  ['DATABASE_URL', 'planted', notPostgres],
  ['DATABASE_URL', 'POSTGRES//planted', notPostgres],
  [
    'CARILLON_DB',
    'postgres://carillon:planted@127.0.0.1:1/carillon',
    /is an address, and it must be the path of a SQLite file\. .* DATABASE_URL/,
  ],
  ['DATABASE_URL', 'postgres://u:planted@h1,h2/db?target_session_attrs=standby', /=standby, a server that may only be read\. Carillon/],
  ['DATABASE_URL', 'postgres:///db?host=h1,h2&password=planted', /names several hosts in its query\. Write them before the database/],
  ['DATABASE_URL', 'postgres://u:planted@h1,,h2/db', /has hosts that cannot be read\. Several stand with commas between them/],
])('who reads, starts or works refuses what is no address of a database, without its value: %s=%s', async (name, value, says) => {
  const { run, write } = commandFolder({ [name]: value });
  write('list.csv', 'phone\n+12125550101\n');
  const commands = [
    ['status'],
    ['start', write('campaign.yaml', minimalCampaign)],
    ['worker'],
    ...(name === 'CARILLON_DB' ? [['doctor']] : []),
  ];
  for (const args of commands) {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
    expect(stderr).not.toContain('planted');
  }
});

test('two campaigns with different shared_words on one agent are refused, until one has ended', async () => {
  const world = await createWorld();
  const first = await world.run('start', world.writeCampaign({ id: 'first' }));
  expect(first.code).toBe(0);
  const path = world.writeCampaign({ id: 'second', yaml: ['shared_words: unresolved'] });
  const { code, stderr } = await world.run('start', path);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /campaign second says unresolved, and campaign first, which has not ended, says wait .* write wait, wait for the end of first, or use another agent/,
  );
  expect((await world.run('status')).stdout).not.toContain('second');
  expect(await world.run('start', world.writeCampaign({ id: 'third' }))).toMatchObject({ code: 0 });
});

test('a start that Temporal refuses leaves no campaign behind that is called running', async () => {
  const [one, other] = [await createWorld(), await createWorld()];
  expect(await one.run('start', one.writeCampaign({ id: 'taken' }))).toMatchObject({ code: 0 });
  expect(await other.run('start', other.writeCampaign({ id: 'taken' }))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/campaign taken in another database.*another id/s),
  });
  expect(await other.run('status')).toMatchObject({ code: 0, stdout: '' });
});

test('start --no-check does not ask the service, not even whether it is there', async () => {
  const world = await createWorld({}, { SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: '' });
  expect(await world.run('start', '--no-check', world.writeCampaign({}))).toMatchObject({ code: 0 });
});

test('the SQLite file of another program is left as it is, by whoever comes upon it', async () => {
  const { run, path, write } = commandFolder();
  const other = openSqliteFile(path('carillon.db'), { journal: 'delete' });
  other.prepare('create table orders (id integer)').run([]);
  other.close();
  const before = readFileSync(path('carillon.db'));
  write('list.csv', 'phone\n+12125550101\n');
  const campaign = write('campaign.yaml', minimalCampaign);
  for (const [args, ends] of [
    [['status'], 1],
    [['start', '--no-check', campaign], 1],
    [['start', campaign], 1],
    [['worker'], 1],
    [['check', campaign], 0],
  ] as const) {
    const { code, stdout, stderr } = await run(...args);
    expect(`${stdout}${stderr}`.replace(/\s+/g, ' ')).toMatch(/it is the database of another program \(its tables: orders\)/);
    expect(code).toBe(ends);
    expect(readFileSync(path('carillon.db')).equals(before)).toBe(true);
  }
});

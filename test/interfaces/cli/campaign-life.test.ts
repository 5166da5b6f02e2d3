import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { readConfig } from '../../../src/shared/config.ts';
import { processInput } from '../../../src/interfaces/cli/terminal/person-input.ts';
import { withControl } from '../../../src/operations/control/control.ts';
import { steer } from '../../../src/operations/control/steer.ts';
import { createWorld, numberAt, until, useSharedWorld, type CampaignWorld } from './campaign-world.ts';
import { program } from '../../support/worker-process.ts';

const workingWorld = useSharedWorld();

async function statusOf(world: CampaignWorld): Promise<Record<string, unknown>> {
  return JSON.parse((await world.run('status', world.id, '--json')).stdout) as Record<string, unknown>;
}

const neverAnswered = ['retry: { max_attempts: 2, no_answer: 5m, busy: 5m, voicemail: never, unreached: 5m, failed: 5m }'];

test('a campaign goes from its file to a results file with one line per row', async () => {
  const world = workingWorld();
  const lines = [...Array.from({ length: 8 }, (_, i) => `${numberAt(i)},Row${i + 1}`), 'no number,Bad', `${numberAt(0)},Twice`];
  const path = world.writeCampaign({ lines, yaml: neverAnswered });
  const run = await world.run('run', path);
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).toMatch(/10 rows imported: 8 to be called, 2 rejected/);
  expect(run.stdout).toMatch(/completed\n/);
  expect(run.stdout).toMatch(/rejected +2 +20\.0 %/);
  expect(run.stdout + run.stderr).not.toMatch(/\+1212|Row\d/);

  const out = world.path('out.csv');
  expect(await world.run('results', world.id, '--output', out, '--transcripts', world.path('talks'))).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/10 rows written to .*out\.csv\.\n.*transcripts? written/),
  });
  const rows = parse<Record<string, string>>(world.read('out.csv'), { columns: true });
  expect(rows.map((row) => row['name'])).toEqual(lines.map((line) => line.split(',')[1]));
  expect(rows.map((row) => row['reason']).slice(8)).toEqual(['invalid_phone', 'duplicate_phone']);
  expect(rows.slice(0, 8).every((row) => ['completed', 'exhausted', 'opted_out'].includes(row['outcome'] ?? ''))).toBe(true);
  const talks = readdirSync(world.path('talks'));
  expect(talks).toHaveLength(world.sandbox.calls().filter((call) => call.conversationId !== null).length);
  const answered = rows.findIndex((row) => row['disposition'] === 'answered');
  expect(world.read(`talks/${answered + 1}-${rows[answered]?.['conversation_id']}.txt`)).toMatch(
    new RegExp(`agent: Hello Row${answered + 1}, a reminder.*\\n.*user: `),
  );
  expect((await world.run('results', world.id, '--output', '-', '--json')).stdout.trim().split('\n')).toHaveLength(10);

  const again = await world.run('start', path);
  expect(again).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/has ended \(completed\).*carillon results autumn-/),
  });
  expect(await world.run('pause', world.id)).toMatchObject({ code: 2, stderr: expect.stringContaining('has ended') });
});

test('starting twice attaches; a changed list under the same id is refused', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({ rows: 3 });
  const first = await world.run('start', path, '--json');
  expect(JSON.parse(first.stdout)).toMatchObject({ result: 'started', imported: true, rowsTotal: 3, round: 1 });
  expect(first.stderr).toBe('');
  const second = await world.run('start', path);
  expect(second).toMatchObject({ code: 0, stdout: `Campaign ${world.id} is already running, round 1.\n` });
  expect(second.stderr).toMatch(/No worker is running for this database/);
  expect(second.stderr).toContain(world.path('carillon.db'));

  writeFileSync(world.path('list.csv'), `${world.read('list.csv')}${numberAt(20)},Late\n`);
  expect(await world.run('start', path)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/another campaign file or list.*new id/s),
  });
  expect(await statusOf(world)).toMatchObject({ total: 3 });
});

test('a campaign whose workflow was never begun, or was ended by hand, is started by the same command', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({ rows: 2 });
  const { connectTemporal } = await import('../../../src/temporal/connection.ts');
  const { client, connection } = await connectTemporal(readConfig(world.env));
  await world.run('start', path);
  await client.workflow.getHandle(`campaign/${world.id}/1`).terminate();
  await connection.close();
  expect(await world.run('start', path)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('has been started, round 1'),
  });
});

test('pause, resume and cancel return when the change is committed', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ rows: 30, yaml: ['pacing: { max_concurrent_calls: 2, batch_size: 2 }'] });
  await world.run('start', path);
  expect(await world.run('pause', world.id)).toMatchObject({ code: 0, stdout: expect.stringContaining('is paused') });
  expect(await statusOf(world)).toMatchObject({ state: 'paused', stateReason: 'paused by a person' });
  expect((await world.run('status', world.id)).stdout).toMatch(
    /Waiting +paused by a person, since .* \(\d+ s ago\), until carillon resume autumn-\d+ \(or carillon cancel .*\)\n/,
  );
  expect(await world.run('pause', world.id)).toMatchObject({ code: 0 });
  expect(await world.run('resume', world.id)).toMatchObject({ code: 0 });
  expect(await statusOf(world)).toMatchObject({ state: 'running' });
  expect(await world.run('cancel', world.id, '--yes')).toMatchObject({ code: 0 });

  const watched = await world.run('run', path, '--json');
  expect(watched.code).toBe(1);
  const end = JSON.parse(watched.stdout) as { outcomes: Record<string, number>; total: number };
  expect(end).toMatchObject({ state: 'cancelled', open: 0, done: 30 });
  expect(end.outcomes['cancelled']).toBeGreaterThan(0);
  const { stdout } = await world.run('status');
  expect(stdout.split('\n').find((line) => line.startsWith(`${world.id} `))).toMatch(
    /^autumn-\d+ +cancelled +30 of 30 done, 0 calls open$/,
  );
});

test('without a worker a wish says so and changes nothing that is known, and status says that none is there', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({}));
  const resume = { campaignId: world.id, wish: 'resume', limitMs: 300 } as const;
  await expect(withControl(world.terminal(), (control) => steer(control, resume))).rejects.toMatchObject({
    isBadInput: false,
    message: expect.stringMatching(/No worker answered.*not known.*carillon worker.*repeat this command/s),
  });
  expect(await statusOf(world)).toMatchObject({
    state: 'running',
    workflow: { unknown: expect.stringContaining('worker') },
    temporal: { unreachable: null, workers: 0, runs: true },
  });
  expect((await world.run('status', world.id)).stdout).toMatch(
    /\nWaiting +no worker is running for this database, since .*, until carillon worker is started\n[^]*\nWorkflow +0 workers on this database\n/,
  );
});

test('cancel and drain ask before they end a campaign: a no, or nobody there to ask, leaves it alone; pause asks nobody', async () => {
  const world = workingWorld();
  const lines = Array.from({ length: 6 }, (_, index) => `${numberAt(40 + index)},Row${index + 1}`);
  const yaml = ['pacing: { max_concurrent_calls: 1, batch_size: 1, starts_per_minute: 1 }'];
  await world.run('start', world.writeCampaign({ lines, yaml }));
  const { plainCommand } = await import('../../../src/interfaces/cli/steer/steer.ts');
  const sayNo = { ...processInput(), isInteractive: true, confirm: () => Promise.resolve(false) };
  for (const wish of ['cancel', 'drain'] as const) {
    const io = { ...world.terminal(), input: sayNo };
    await plainCommand(`${wish}Campaign`)(io).parseAsync([world.id], { from: 'user' });
    expect(io).toMatchObject({ exitCode: 1 });
    expect(io.written().stderr).toBe('Nothing was changed.\n');
  }
  for (const name of ['cancel', 'drain'])
    expect(await world.run(name, world.id)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/Not a terminal, cannot ask for confirmation\. Nothing was changed; run again with --yes\.\n$/),
    });
  expect(await statusOf(world)).toMatchObject({ state: 'running' });
  expect(await world.run('pause', world.id)).toMatchObject({ code: 0 });
});

test('a watcher is told when no worker is there, and Ctrl-C leaves a campaign that goes on', async () => {
  const world = await createWorld();
  const watching = world.begin('run', world.writeCampaign({}));
  await until(() =>
    /No worker is running for this database[^]*of 6 done|of 6 done[^]*No worker is running/.test(watching.io.written().stdout),
  );
  watching.interrupt();
  const { code, stderr } = await watching.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(/You left; campaign autumn-\d+ continues.*carillon status autumn-/s);
  expect(await statusOf(world)).toMatchObject({ state: 'running' });
});

test('a campaign that is not there is named with those that are', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ id: 'spring-7' }));
  for (const args of [['pause'], ['resume'], ['cancel'], ['results'], ['status'], ['resolve', '--give-up']]) {
    const [name = '', ...flags] = args;
    expect(await world.run(name, 'sprin-7', ...flags)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'The database has no campaign "sprin-7". Did you mean spring-7? It has 1 campaign: spring-7.\n',
    });
  }
});

test('a second worker on a SQLite file is refused while the first one runs', async () => {
  expect(await workingWorld().run('worker')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/Another worker is already running on/),
  });
});

/** Its reader closes before any output; returns the exit code. */
async function runUnread(world: CampaignWorld, ...args: string[]): Promise<number | null> {
  const env = { PATH: process.env['PATH'], HOME: world.folder, ...world.env };
  const child = spawn(process.execPath, [program, ...args], { cwd: world.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  child.stderr.destroy();
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

test('a reader that goes away stops what a command prints, and nothing that it does', async () => {
  const world = workingWorld();
  const { id } = world;
  const path = world.writeCampaign({ rows: 4, yaml: ['starts_at: 2027-06-01T00:00:00Z'] });
  writeFileSync(path, world.read('campaign.yaml').replace('phone: phone,', 'phone: phone, id: name,'));
  writeFileSync(world.path('more.csv'), `phone,name\n${numberAt(61)},Row9\n`);
  const state = async () => String((await statusOf(world))['state']);
  const steps: [args: string[], code: number, shows: () => Promise<string>, what: string | RegExp][] = [
    [['start', 'nosuch.yaml'], 2, async () => '', ''],
    [['start', path], 0, state, 'scheduled'],
    [['update', id, 'more.csv', '--add', '--yes'], 0, async () => (await world.run('status', id)).stdout, /Rows +5/],
    [['pause', id], 0, state, 'paused'],
    [['results', id, '-o', '-'], 0, state, 'paused'],
    // These two stream, and end with their reader.
    [['events', id, '--follow'], 0, state, 'paused'],
    [['run', path], 0, state, 'paused'],
  ];
  for (const [args, code, shows, what] of steps) {
    expect([args[0], await runUnread(world, ...args)]).toEqual([args[0], code]);
    expect(await shows(), args.join(' ')).toMatch(what);
  }
  const env = { ...world.env, CARILLON_DB: world.path('dev.db') };
  expect(await runUnread({ ...world, env }, 'dev', '--port', '0', '--temporal-port', '0', '--no-open')).toBe(0);
});

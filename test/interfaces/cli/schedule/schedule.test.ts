import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../../src/shared/config.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { connectTemporal } from '../../../../src/temporal/connection.ts';
import type { ScheduleView } from '../../../../src/operations/control/schedules/view.ts';
import { patient } from '../../../support/campaign-run.ts';
import { patienceMs, until } from '../../../support/until.ts';
import { createWorld, numberAt, proven, useSharedWorld, type CampaignWorld } from '../campaign-world.ts';

const workingWorld = useSharedWorld(patient);

/** Each check is a command, which takes time. */
const often = { everyMs: 400 };

/** Never fires during a test. */
const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'America/New_York'];

async function viewOf(world: CampaignWorld): Promise<ScheduleView> {
  const { stdout, stderr } = await world.run('schedule', 'describe', world.id, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout) as ScheduleView;
}

async function untilEnd(world: CampaignWorld, campaignId: string): Promise<ScheduleView['last']> {
  const hasEnded = async () => {
    // On a busy machine a late server is queried again.
    const late = await world.run('schedule', 'describe', world.id, '--json');
    if (late.stderr.startsWith('Temporal stopped answering')) return undefined;
    expect(late.stderr).toBe('');
    const { last } = JSON.parse(late.stdout) as ScheduleView;
    return last?.campaignId === campaignId && /completed|failed/.test(last.result) ? last : undefined;
  };
  return until(`${campaignId} has ended`, hasEnded, often);
}

/** Triggers a run once the last one is over for Temporal; returns the campaign's id. */
async function trigger(world: CampaignWorld): Promise<string> {
  // Temporal names a run by its second: two within one would be the same.
  const isOver = ({ isRunning, last }: ScheduleView) => !isRunning && (last === null || Date.now() - Date.parse(last.scheduledAt) > 1_000);
  await until('the firing before is over', async () => isOver(await viewOf(world)), often);
  const { stdout, code, stderr } = await world.run('schedule', 'trigger', world.id, '--json');
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return (JSON.parse(stdout) as { campaignId: string }).campaignId;
}

function rows(count: number, from = 0): string {
  return `phone,name\n${Array.from({ length: count }, (_, i) => `${numberAt(from + i)},Row${i + 1}`).join('\n')}\n`;
}

async function clientOf(world: CampaignWorld) {
  const { client, connection } = await connectTemporal(readConfig(world.env));
  onTestFinished(() => connection.close());
  return client;
}

test('a schedule is created, listed, paused, resumed and deleted', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({});
  const created = await world.run('schedule', 'create', path, ...yearly, '--list', 'lists/{{ date }}.csv');
  expect(created).toMatchObject({ code: 0 });
  expect(created.stdout).toMatch(
    /created: 0 9 1 1 \* \(America\/New_York\)\.\n.*reads lists\/\{\{ date \}\}\.csv.*\nNext runs: \w{3} \d{4}-01-01 09:00, /,
  );
  expect(created.stderr).toMatch(/No worker is running for this database/);

  expect(await viewOf(world)).toMatchObject({
    state: 'active',
    when: '0 9 1 1 *',
    timeZone: 'America/New_York',
    catchUpSeconds: 600,
    file: path,
    list: 'lists/{{ date }}.csv',
    fired: 0,
    last: null,
  });
  expect(await world.run('schedule', 'create', path, ...yearly)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/already has a schedule carillon\/carillon\/autumn-\d+\. Delete it first/),
  });

  expect(await world.run('schedule', 'pause', world.id, '--note', 'no list this week')).toMatchObject({ code: 0 });
  expect(await viewOf(world)).toMatchObject({ state: 'paused', note: 'no list this week', nextAt: [] });
  // A second pause, unaware of the first, keeps the first one's note.
  expect(await world.run('schedule', 'pause', world.id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('was paused already (no list this week): it starts no runs'),
  });
  expect(await viewOf(world)).toMatchObject({ state: 'paused', note: 'no list this week' });
  expect(await world.run('schedule', 'pause', world.id, '--note', 'holidays')).toMatchObject({
    stdout: expect.stringContaining('was paused already, with a new note instead of (no list this week)'),
  });
  expect((await world.run('schedule', 'list')).stdout).toMatch(/autumn-\d+ +paused +0 9 1 1 \* .*none yet/);
  expect(await world.run('schedule', 'resume', world.id)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is active again; it was paused (holidays)'),
  });
  expect(await viewOf(world)).toMatchObject({ state: 'active', note: 'resumed by a person' });
  expect((await world.run('schedule', 'resume', world.id)).stdout).toContain('was not paused');

  expect(await world.run('schedule', 'delete', world.id)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('run again with --yes'),
  });
  expect(await world.run('schedule', 'delete', world.id, '--yes')).toMatchObject({ code: 0 });
  expect(JSON.parse((await world.run('schedule', 'list', '--json')).stdout)).toEqual({ schedules: [] });
  expect(await world.run('schedule', 'pause', world.id)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no schedule of "autumn-\d+".*It has none/),
  });
  // A deleted one can be made again, and says what clock changes do to its runs.
  const early = ['--cron', '30 2 * * *', '--timezone', 'America/New_York'];
  expect((await world.run('schedule', 'create', path, ...early)).stdout).toMatch(
    /\nOn \d{4}-03-\d\d there is no 02:30: no run\.\nNo clock change touches Every day at 3:30 \(30 3 \* \* \*\)\.\n--keep-skipped starts/,
  );
  expect((await world.run('schedule', 'describe', world.id)).stdout).toMatch(/\nClocks {4}On \d{4}-03-\d\d there is no 02:30: no run/);
  await world.run('schedule', 'delete', world.id, '--yes');
  expect((await world.run('schedule', 'create', path, ...early, '--keep-skipped')).stdout).toMatch(
    /\nOn \d{4}-03-\d\d there is no 02:30: the run takes place at 03:00\.\n/,
  );
});

test('each firing dials a list of its own, whatever the file says later; one whose list cannot be used says why, and keeps no number', async () => {
  const world = workingWorld();
  mkdirSync(world.path('lists'));
  const path = world.writeCampaign({ yaml: ['retry: { max_attempts: 1 }'] });
  const list = ['--list', 'lists/{{ year }}.csv'];
  expect(await world.run('schedule', 'create', path, ...yearly, ...list)).toMatchObject({ code: 0 });
  writeFileSync(path, 'id: [this is no campaign file any more\n');
  expect(await untilEnd(world, await trigger(world))).toMatchObject({
    result: 'failed',
    reason: expect.stringMatching(/^There is no list lists\/\d+\.csv\.$/),
  });
  expect((await world.run('schedule', 'list')).stdout).toMatch(/failed: There is no list lists\/\d+\.csv\.\n/);

  // A run's time is in its zone, where the year begins hours later.
  const years = [new Date().getUTCFullYear() - 1, new Date().getUTCFullYear(), new Date().getUTCFullYear() + 1];
  const writeLists = (text: string) => years.forEach((year) => writeFileSync(world.path(`lists/${year}.csv`), text));
  writeLists('phone,name\nno number,A\n2125550100x,B\n');
  expect((await untilEnd(world, await trigger(world)))?.reason).toMatch(/^list: none of the 2 rows taken from .* \(invalid_phone 2\)/);
  const client = await clientOf(world);
  const state = await client.schedule.getHandle(`carillon/carillon/${world.id}`).describe();
  const workflowId = state.info.recentActions[1]?.action.workflow.workflowId ?? '';
  const history = JSON.stringify(await client.workflow.getHandle(workflowId).fetchHistory());
  const readable = [...history.matchAll(/"data":"([^"]+)"/g)].map(([, data]) => Buffer.from(data ?? '', 'base64'));
  // Encoded payloads and ids are random: they may contain any text by chance.
  const kept = history.replaceAll(/"data":"[^"]+"/g, '') + readable.join('\n');
  expect(kept).toContain('fireSchedule');
  expect(kept).toContain('invalid_phone 2');
  expect(kept).not.toMatch(/\bno number\b|2125550100/);

  const fired: [string, number][] = [];
  for (const [from, count] of [
    [0, 5],
    [40, 3],
  ] as const) {
    writeLists(rows(count, from));
    const id = await trigger(world);
    expect(id).toMatch(new RegExp(`^${world.id}-\\d{4}-\\d\\d-\\d\\dt\\d{4,6}b?$`));
    expect(await untilEnd(world, id)).toMatchObject({ result: 'completed' });
    expect(await world.run('verify', id)).toMatchObject(proven);
    fired.push([id, count]);
  }
  expect((await viewOf(world)).fired).toBe(4);
  const { campaigns: status } = JSON.parse((await world.run('status', '--json')).stdout) as {
    campaigns: { campaignId: string; total: number }[];
  };
  const own = status.filter(({ campaignId }) => campaignId.startsWith(`${world.id}-`));
  expect(own.map(({ campaignId, total }) => [campaignId, total])).toEqual(fired);
});

test('a firing is skipped while the campaign of the one before still runs', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ rows: 4 });
  await world.run('schedule', 'create', path, ...yearly);
  const gate = world.sandbox.gates.set('batch_work_done', 1);
  const id = await trigger(world);
  expect(await world.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/campaign autumn-\S+ is running\. A run now would be skipped/),
  });
  // Automatic runs are skipped too: Temporal itself must trigger.
  const client = await clientOf(world);
  const handle = client.schedule.getHandle((await viewOf(world)).scheduleId);
  await handle.trigger('SKIP');
  await until('it is skipped', async () => (await viewOf(world)).skipped === 1, often);
  expect(await viewOf(world)).toMatchObject({ fired: 1, skipped: 1, last: { campaignId: id, result: 'running' } });

  expect(await world.run('schedule', 'delete', world.id, '--yes')).toMatchObject({ code: 0 });
  world.sandbox.gates.release(gate);
  await until('it has ended', async () => (await world.run('status', id)).stdout.includes('completed'), often);
  expect(await world.run('verify', id)).toMatchObject(proven);
});

test('beside a campaign of an earlier firing nothing is fired, also when its workflow is gone', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ rows: 2, yaml: ['retry: { max_attempts: 1 }'] });
  await world.run('schedule', 'create', path, ...yearly);
  const id = await trigger(world);
  await untilEnd(world, id);
  // As after `carillon retry` or a terminated workflow: it runs, without a run under way.
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const setState = (state: 'running' | 'completed') =>
    store.db.updateTable('campaigns').set({ state }).where('campaign_id', '=', id).execute();
  await setState('running');
  await store.db.updateTable('rounds').set({ ended_at: null }).where('campaign_id', '=', id).execute();
  await until('the firing is over', async () => !(await viewOf(world)).isRunning, often);
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`Campaign ${id} of an earlier run is running\\. .*schedule continue ${world.id}; to end it: carillon cancel ${id}`),
    ),
  });

  // The worker skips automatic runs with a reason; then a run remains to continue with.
  await (await clientOf(world)).schedule.getHandle((await viewOf(world)).scheduleId).trigger('SKIP');
  const reason = `Skipped: campaign ${id} of an earlier run is running. If it does not progress, continue it from the schedule.`;
  await until('it is skipped', async () => (await viewOf(world)).last?.reason === reason, often);
  const continued = await world.run('schedule', 'continue', world.id);
  expect(continued.stdout + continued.stderr).toContain(`campaign/${id}/1`);

  await setState('completed');
  await store.close();
  expect(await untilEnd(world, await trigger(world))).toMatchObject({ result: 'completed' });
});

test('a run whose list or file leaves consent open calls nobody, and its schedule is paused until somebody has answered', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({});
  await world.run('schedule', 'create', path, ...yearly, '--list', 'today.csv');
  const asked = async (says: RegExp) => {
    expect(await untilEnd(world, await trigger(world))).toMatchObject({
      result: 'failed',
      reason: expect.stringMatching(says),
    });
    expect(await viewOf(world)).toMatchObject({ state: 'paused', note: expect.stringMatching(says) });
    expect(await world.run('schedule', 'resume', world.id)).toMatchObject({ code: 0 });
  };
  writeFileSync(world.path('today.csv'), `phone,name,OptIn\n${numberAt(0)},Ann,no\n`);
  await asked(/The list has columns that look like consent/);

  // As of an older version, which accepted such a file.
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  await store.db
    .updateTable('schedules')
    .set({ content: `${world.read('campaign.yaml')}basis: consent\n` })
    .where('campaign_id', '=', world.id)
    .execute();
  await store.close();
  writeFileSync(world.path('today.csv'), rows(1));
  await asked(/states basis: consent and names no columns of consent/);
});

test('a list comes from a URL, of which only the host is shown', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ yaml: ['retry: { max_attempts: 1 }'] });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end(rows(2));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/{{ weekday }}.csv?key=planted-secret`;
  const created = await world.run('schedule', 'create', path, ...yearly, '--list', source, '--json');
  expect(created).toMatchObject({ code: 0, stdout: expect.stringContaining('{{ weekday }}.csv?…') });
  expect(await untilEnd(world, await trigger(world))).toMatchObject({ result: 'completed' });
  expect(asked).toEqual([expect.stringMatching(/^\/(mon|tue|wed|thu|fri|sat|sun)\.csv\?key=planted-secret$/)]);
  expect((await world.run('schedule', 'describe', world.id)).stdout).not.toContain('planted-secret');
});

test('a firing that could not begin in time is left out', async () => {
  const world = await createWorld();
  const path = world.writeCampaign({});
  await world.run('schedule', 'create', path, '--cron', '0 9 5 1 *', '--timezone', 'America/New_York');
  const client = await clientOf(world);
  const day = { start: new Date('2026-01-05T00:00:00Z'), end: new Date('2026-01-06T00:00:00Z') };
  await client.schedule.getHandle(`carillon/carillon/${world.id}`).backfill({ ...day, overlap: 'SKIP' });
  const beginning = async () => (await viewOf(world)).last?.result === 'beginning';
  await until('Temporal has begun it', beginning, often);
  expect((await viewOf(world)).last).toMatchObject({
    campaignId: `${world.id}-2026-01-05t0900`,
    scheduledAt: '2026-01-05T14:00:00.000Z',
    reason: expect.stringContaining('no worker has taken it yet'),
  });
  await world.work();
  const ended = await untilEnd(world, `${world.id}-2026-01-05t0900`);
  expect(ended?.reason).toMatch(/could not begin within 600 s \(--catch-up\) of its time/);
  expect((await world.run('status')).stdout).toBe('');
});

test('a schedule of another database is not taken for this one', async () => {
  const [one, other] = [await createWorld(), await createWorld()];
  const path = one.writeCampaign({ id: 'shared-calls' });
  expect(await one.run('schedule', 'create', path, ...yearly)).toMatchObject({ code: 0 });
  expect(await other.run('schedule', 'create', path, ...yearly)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('another id'),
  });
  await other.run('start', other.writeCampaign({}));
  expect(await other.run('schedule', 'pause', 'shared-cals')).toMatchObject({ code: 2 });
  expect(await one.run('schedule', 'pause', 'shared-cals')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean shared-calls?'),
  });
});

const cron = ['--cron', '0 9 * * mon-fri'];
const zone = ['--timezone', 'America/New_York'];

const refusals: { flags: string[]; says: RegExp; yaml?: string[]; id?: string }[] = [
  { flags: [...cron], says: /required option '--timezone/ },
  { flags: [...zone], says: /one of --cron .* and --every/ },
  { flags: [...cron, ...zone, '--every', '1d'], says: /one of --cron .* and --every/ },
  { flags: [...cron, '--timezone', 'EST'], says: /--timezone is "EST", which is no time zone/ },
  {
    flags: [...zone, '--cron', '60 9 * * *'],
    says: /--cron is "60 9 \* \* \*": minute "60": write values from 0 to 59/,
  },
  { flags: [...zone, '--cron', '0 9 * *'], says: /write five fields .*here are 4/ },
  { flags: [...zone, '--cron', '0 9 30 2 *'], says: /no time at which this schedule would start a run/ },
  { flags: [...zone, '--every', '10s'], says: /--every is "10s"; write a duration .* at least 1m/ },
  { flags: [...cron, ...zone, '--catch-up', '1s'], says: /--catch-up is "1s"; write .* from 10s to 7d/ },
  { flags: [...cron, ...zone, '--end-at', '2020-01-01T09:00'], says: /--end-at is .*lies in the past/ },
  { flags: [...cron, ...zone, '--end-at', 'tomorrow'], says: /--end-at is "tomorrow"; write a date and time/ },
  {
    flags: [...cron, ...zone, '--start-at', '2031-01-02T09:00', '--end-at', '2031-01-01T09:00'],
    says: /--end-at is not after --start-at/,
  },
  { flags: [...cron, ...zone, '--list', 'lists/{{ dat }}.csv'], says: /names "dat": did you mean date\?/ },
  { flags: [...cron, ...zone, '--list', 'lists/{{ date.csv'], says: /a brace too many or too few/ },
  { flags: [...cron, ...zone, '--list', 'http://lists.example/a.csv'], says: /begins with http:.*use https/ },
  { flags: [...cron, ...zone, '--list', 'ftp://lists.example/a.csv'], says: /begins with ftp:/ },
  { flags: [...cron, ...zone, '--list', 'https://me:pw@lists.example/a.csv'], says: /holds a user name or password/ },
  { flags: [...cron, ...zone, '--list', ''], says: /is empty/ },
  { flags: [...cron, ...zone], yaml: ['ends_at: "2020-01-01T00:00:00Z"'], says: /ends_at.*has passed/ },
  { flags: [...cron, ...zone], yaml: ['colour: red'], says: /colour/ },
  { flags: [...cron, ...zone], id: 'a'.repeat(45), says: /id: 45 characters are too many .* at most 44/ },
];

test('create with flags, a file or a list that cannot be used ends with code 2 and the reason, and makes no schedule', async () => {
  const world = workingWorld();
  for (const { flags, says, yaml = [], id } of refusals) {
    const path = world.writeCampaign({ yaml, ...(id === undefined ? {} : { id }) });
    const end = await world.run('schedule', 'create', path, ...flags);
    expect.soft(end, flags.join(' ')).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(says) });
  }
  const { schedule } = await clientOf(world);
  for (const id of [world.id, 'a'.repeat(45)]) await expect(schedule.getHandle(`carillon/carillon/${id}`).describe()).rejects.toThrow();
});

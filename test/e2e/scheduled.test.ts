import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import type { ScheduleView } from '../../src/operations/control/schedules/view.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { Firing } from '../../src/rules/events.ts';
import { readAllEvents } from '../../src/ledger/events.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { createWorld, numberAt, proven, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { patient } from '../support/campaign-run.ts';
import { findTokens, textOfWorkflow } from '../support/leak-scan.ts';
import { patienceMs, until, within } from '../support/until.ts';

const rowCount = 8;
const names = Array.from({ length: rowCount }, (_, i) => `Planted${i + 1}`);
const list = `phone,name\n${names.map((name, i) => `${numberAt(i)},${name}`).join('\n')}\n`;

/** Answers with the list once `let go` is called, and says when it is asked. */
async function serveList(): Promise<{ url: string; asked: Promise<void>; letGo: () => void }> {
  let letGo = (): void => {};
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  let noteAsked = (): void => {};
  const asked = new Promise<void>((resolve) => (noteAsked = resolve));
  const http = createServer((_, response) => {
    noteAsked();
    void gone.then(() => response.end(list));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked, letGo };
}

async function describe(world: CampaignWorld): Promise<ScheduleView> {
  return JSON.parse((await world.run('schedule', 'describe', world.id, '--json')).stdout) as ScheduleView;
}

test('a worker that is killed while it fetches the list, and again while it calls, loses nothing and calls nobody twice', async () => {
  const world = await createWorld(
    {},
    {
      CARILLON_HEARTBEAT_TIMEOUT_MS: '6000',
      CARILLON_STICKY_TIMEOUT_MS: '1000',
      CARILLON_SHORT_TIMEOUT_MS: '4000',
      CARILLON_SUBMIT_SLACK_MS: '500',
    },
  );
  const path = world.writeCampaign({
    yaml: ['pacing: { max_concurrent_calls: 8, batch_size: 2 }', 'retry: { max_attempts: 1 }'],
  });
  const served = await serveList();
  const source = `${served.url}/{{ date }}.csv?key=planted-secret`;
  const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'America/New_York', '--catch-up', '10m'];
  expect(await world.run('schedule', 'create', path, ...yearly, '--list', source)).toMatchObject({ code: 0 });

  let worker = await world.work();
  const fired = await world.run('schedule', 'trigger', world.id, '--json');
  const { campaignId, workflowId } = JSON.parse(fired.stdout) as { campaignId: string; workflowId: string };
  await within('the list is asked for', served.asked);
  worker.signal('SIGKILL');
  await worker.ended;
  expect((await world.run('status')).stdout).toBe('');
  served.letGo();

  const gate = world.sandbox.gates.set('batch_work_done', 2);
  worker = await world.work();
  expect(await world.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();
  worker.signal('SIGKILL');
  await worker.ended;
  world.sandbox.gates.release(gate);
  await world.work();

  const { client, connection } = await connectTemporal(readConfig(world.env));
  onTestFinished(() => connection.close());
  const result = await within('the firing ends', client.workflow.getHandle(workflowId).result());
  expect(result).toEqual({ campaignId, total: rowCount, done: rowCount });
  expect((await describe(world)).last).toMatchObject({ campaignId, result: 'completed' });

  const called = world.sandbox.calls().map((call) => call.to);
  expect(called.length).toBe(new Set(called).size);
  expect(called.length).toBe(rowCount);
  expect(await world.run('verify')).toMatchObject(proven);

  // Nothing of the list or of its URL stands in what Temporal keeps, of the firing as of its campaign.
  const tokens = [...names, ...names.map((_, i) => numberAt(i)), 'planted-secret', 'sk_sandbox_ok'];
  for (const id of [workflowId, `campaign/${campaignId}/1`]) {
    const kept = await textOfWorkflow(client, id, ['__temporal_workflow_metadata']);
    expect(kept).toContain(campaignId);
    expect(findTokens(kept, tokens), `in ${id}`).toEqual([]);
  }
  const schedule = JSON.stringify(await client.schedule.getHandle((await describe(world)).scheduleId).describe());
  expect(findTokens(schedule, tokens), 'in the schedule').toEqual([]);
});

test('a firing whose campaign is ended by hand says so, and the next one comes', async () => {
  const world = await createWorld({}, patient);
  const path = world.writeCampaign({ rows: 4, yaml: ['retry: { max_attempts: 1 }'] });
  const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'UTC'];
  await world.run('schedule', 'create', path, ...yearly);
  await world.work();
  const gate = world.sandbox.gates.set('batch_work_done', 1);
  const fired = await world.run('schedule', 'trigger', world.id, '--json');
  const { campaignId, workflowId } = JSON.parse(fired.stdout) as { campaignId: string; workflowId: string };
  expect(await world.sandbox.gates.waitUntilReached(gate, patienceMs)).not.toBeNull();

  const { client, connection } = await connectTemporal(readConfig(world.env));
  onTestFinished(() => connection.close());
  await client.workflow.getHandle(`campaign/${campaignId}/1`).terminate('by hand');
  world.sandbox.gates.release(gate);
  await expect(within('the firing ends', client.workflow.getHandle(workflowId).result())).rejects.toThrow();
  expect((await describe(world)).last).toMatchObject({
    result: 'failed',
    reason: expect.stringMatching(/^The run failed: .*terminated/i),
  });
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  onTestFinished(() => store.close());
  const told = (await readAllEvents(store.db, 0, 1000)).filter(({ type }) => type.startsWith('schedule.'));
  expect(told.map(({ type, data }) => [type, (data as Firing).campaignId])).toEqual([
    ['schedule.fired', campaignId],
    ['schedule.failed', campaignId],
  ]);
  await until('the firing is over', async () => !(await describe(world)).isRunning, { everyMs: 250 });
  // Its people have calls open, or wait: the next firing would call them beside it.
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Campaign ${campaignId} of an earlier run is running.`),
  });
  expect(await world.run('schedule', 'continue', world.id)).toMatchObject({
    code: 0,
    stdout: `Campaign ${campaignId} continues: carillon status ${campaignId}\n`,
  });
  expect((await world.run('schedule', 'continue', world.id)).stdout).toContain('is running already');
  const stateOf = async () => JSON.parse((await world.run('status', campaignId, '--json')).stdout) as { state: string };
  const hasEnded = async () => (await stateOf()).state === 'completed';
  await until('the campaign of the first firing has ended', hasEnded, { everyMs: 250 });
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({ code: 0 });
  expect(await world.run('verify')).toMatchObject(proven);
});

test('a schedule does not stand still for a promise: the next run begins, and nobody calls the number before', async () => {
  const [late, ...others] = [0, 1, 2].map(numberAt);
  // In a week: none of the two runs comes to it.
  const nextWeek = `${new Date(Date.now() + 7 * 24 * 3_600_000).toISOString().slice(0, 10)} 17:00`;
  const asks = { number: late ?? '', mood: 'friendly' as const, answers: { wants_callback: true, callback_at: nextWeek } };
  const please = others.map((number) => ({ number, mood: 'friendly' as const, answers: { wants_callback: false, callback_at: 'never' } }));
  const world = await createWorld({ world: { people: [asks, ...please] } }, patient);
  const path = world.writeCampaign({
    rows: 3,
    yaml: [
      'agent_id: agent_callbacks',
      'retry: { max_attempts: 1 }',
      'results: [{ result: later, collected: wants_callback, equals: [true], then: callback }]',
      'callback: { at: callback_at, words: en }',
    ],
  });
  await world.run('schedule', 'create', path, '--cron', '0 9 1 1 *', '--timezone', 'UTC');
  await world.work();
  const { client, connection } = await connectTemporal(readConfig(world.env));
  onTestFinished(() => connection.close());
  const trigger = async () => JSON.parse((await world.run('schedule', 'trigger', world.id, '--json')).stdout) as Record<string, string>;

  const { campaignId: first = '', workflowId = '' } = await trigger();
  const result = await within('the firing ends', client.workflow.getHandle(workflowId).result());
  expect(result).toEqual({ campaignId: first, total: null, done: null });
  await until('the firing is over', async () => !(await describe(world)).isRunning, { everyMs: 250 });
  expect((await describe(world)).last).toMatchObject({ campaignId: first, result: 'callbacks' });

  const second = await trigger();
  const timesOf = (number: string | undefined) => world.sandbox.calls().filter(({ to }) => to === number).length;
  await until('the second run has called the others', () => others.every((number) => timesOf(number) === 2), { everyMs: 250 });
  expect(timesOf(late)).toBe(1);
  for (const id of [first, second['campaignId'] ?? '']) expect(await world.run('cancel', id, '--yes')).toMatchObject({ code: 0 });
  expect(timesOf(late)).toBe(1);
  expect(await world.run('verify')).toMatchObject(proven);
});

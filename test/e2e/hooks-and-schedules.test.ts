import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { readAllEvents } from '../../src/ledger/events.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import type { ScheduleView } from '../../src/operations/control/schedules/view.ts';
import type { ScheduledRun } from '../../src/rules/events.ts';
import { readConfig } from '../../src/shared/config.ts';
import { campaignWorkflowId, completionNotificationId } from '../../src/rules/ids.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { numberAt, proven, useSharedWorld, type CampaignWorld, type WorkerProcess } from '../interfaces/cli/campaign-world.ts';
import { allowAll, sendJson, startHookServer, type HookCall } from '../shared/hooks/hook-server.ts';
import { findTokens, textOfWorkflow } from '../support/leak-scan.ts';
import { patienceMs, until, within } from '../support/until.ts';

const secrets = ['pq_AskKey83', 'pq_EndKey84', 'pq_HookSecret85-0123456789', 'sk_sandbox_ok'];
const [askKey = '', endKey = '', hookSecret = ''] = secrets;
const rows = 12;
/** Set before the world begins, so that its workers know the addresses of the keys. */
const hook = await startHookServer(allowAll, afterAll);
const newWorld = useSharedWorld(
  {
    SVC_HEADERS_TIMEOUT_MS: '8000',
    CARILLON_HEARTBEAT_TIMEOUT_MS: '6000',
    CARILLON_STICKY_TIMEOUT_MS: '1000',
    CARILLON_SHORT_TIMEOUT_MS: '4000',
    CARILLON_SUBMIT_SLACK_MS: '500',
    CARILLON_HOOK_SECRET: hookSecret,
    CARILLON_HOOK_NETWORKS: '127.0.0.1',
    CARILLON_URL_ASK: `${hook.url}&key=${askKey}`,
    CARILLON_URL_END: `${hook.url}&key=${endKey}`,
    CARILLON_LOG_LEVEL: 'debug',
  },
  {},
  async () => {},
);
let worker: WorkerProcess;

/** All text in a folder's files, including the database's write-ahead log. */
function textOfFolder(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}

const isOf =
  (event: string) =>
  ({ body }: HookCall): boolean =>
    body.event === event;
const [isEnd, isPause] = [isOf('campaign.ended'), isOf('campaign.paused')];
const isRefused = (row: number): boolean => row % 4 === 0;

interface Status {
  state: string;
  stateReason: string | null;
}

const rowCount = 8;
const names = Array.from({ length: rowCount }, (_, i) => `Planted${i + 1}`);
const list = `phone,name\n${names.map((name, i) => `${numberAt(i)},${name}`).join('\n')}\n`;

/** Serves the list once `letGo` is called; `asked` resolves at the request. */
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

test('a worker killed while it fetches the list, and again while it calls, loses nothing; a firing whose campaign is ended by hand says so', async () => {
  const world = newWorld();
  const path = world.writeCampaign({
    yaml: ['pacing: { max_concurrent_calls: 8, batch_size: 2 }', 'retry: { max_attempts: 1 }'],
  });
  const served = await serveList();
  const source = `${served.url}/{{ date }}.csv?key=planted-secret`;
  const yearly = ['--cron', '0 9 1 1 *', '--timezone', 'America/New_York', '--catch-up', '10m'];
  expect(await world.run('schedule', 'create', path, ...yearly, '--list', source)).toMatchObject({ code: 0 });

  worker = await world.work();
  const trigger = async () =>
    JSON.parse((await world.run('schedule', 'trigger', world.id, '--json')).stdout) as { campaignId: string; workflowId: string };
  const { campaignId, workflowId } = await trigger();
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
  worker = await world.work();

  const { client, connection } = await connectTemporal(readConfig(world.env));
  onTestFinished(() => connection.close());
  const result = await within('the firing ends', client.workflow.getHandle(workflowId).result());
  expect(result).toEqual({ campaignId, total: rowCount, done: rowCount });
  expect((await describe(world)).last).toMatchObject({ campaignId, result: 'completed' });

  const called = world.sandbox.calls().map((call) => call.to);
  expect(called.length).toBe(new Set(called).size);
  expect(called.length).toBe(rowCount);
  expect(await world.run('verify')).toMatchObject(proven);

  // Temporal stores nothing of the list or its URL, for the run and its campaign.
  const tokens = [...names, ...names.map((_, i) => numberAt(i)), 'planted-secret', 'sk_sandbox_ok'];
  for (const id of [workflowId, `campaign/${campaignId}/1`]) {
    const kept = await textOfWorkflow(client, id, ['__temporal_workflow_metadata']);
    expect(kept).toContain(campaignId);
    expect(findTokens(kept, tokens), `in ${id}`).toEqual([]);
  }
  const schedule = JSON.stringify(await client.schedule.getHandle((await describe(world)).scheduleId).describe());
  expect(findTokens(schedule, tokens), 'in the schedule').toEqual([]);

  const second = world.sandbox.gates.set('batch_work_done', 1);
  const ended = await trigger();
  expect(await world.sandbox.gates.waitUntilReached(second, patienceMs)).not.toBeNull();

  await client.workflow.getHandle(campaignWorkflowId(ended.campaignId, 1)).terminate('by hand');
  world.sandbox.gates.release(second);
  await expect(within('the firing ends', client.workflow.getHandle(ended.workflowId).result())).rejects.toThrow();
  expect((await describe(world)).last).toMatchObject({
    result: 'failed',
    reason: expect.stringMatching(/^The run failed: .*terminated/i),
  });
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  onTestFinished(() => store.close());
  const told = (await readAllEvents(store.db, 0, 1000)).filter(({ type }) => type.startsWith('schedule.'));
  expect(told.map(({ type, data }) => [type, (data as ScheduledRun).campaignId])).toEqual([
    ['schedule.fired', campaignId],
    ['schedule.fired', ended.campaignId],
    ['schedule.failed', ended.campaignId],
  ]);
  await until('the firing is over', async () => !(await describe(world)).isRunning, { everyMs: 250 });
  // Recipients have calls open or wait: the next run would call them in parallel.
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Campaign ${ended.campaignId} of an earlier run is running.`),
  });
  expect(await world.run('schedule', 'continue', world.id)).toMatchObject({
    code: 0,
    stdout: `Campaign ${ended.campaignId} continues: carillon status ${ended.campaignId}\n`,
  });
  expect((await world.run('schedule', 'continue', world.id)).stdout).toContain('is running already');
  const stateOf = async () => JSON.parse((await world.run('status', ended.campaignId, '--json')).stdout) as { state: string };
  const hasEnded = async () => (await stateOf()).state === 'completed';
  await until('the campaign of the first firing has ended', hasEnded, { everyMs: 250 });
  expect(await world.run('schedule', 'trigger', world.id)).toMatchObject({ code: 0 });
  expect(await world.run('verify')).toMatchObject(proven);
});

test('a hook that is silent pauses the campaign, is told so, refuses people and hears of the end; its keys stand nowhere', async () => {
  hook.answerWith((response, call) => {
    if (isEnd(call)) return sendJson(response, {}, hook.calls.filter(isEnd).length === 1 ? 503 : 200);
    if (isPause(call)) return allowAll(response, call);
    const recipients = (call.body.recipients ?? []).map(({ ref, row }) =>
      isRefused(row) ? { ref, eligible: false, reason: 'no_consent' } : { ref, eligible: true },
    );
    return sendJson(response, { recipients });
  });
  await hook.stop();
  const world = newWorld();
  const { id } = world;
  const said: { code: number; stdout: string; stderr: string }[] = [];
  const say = async (...args: string[]) => {
    const end = await world.run(...args);
    said.push(end);
    expect(end.code, end.stderr).toBe(0);
    return end.stdout;
  };
  const status = async () => JSON.parse((await world.run('status', id, '--json')).stdout) as Status;
  const yaml = [
    'pre_dial: { url: env://CARILLON_URL_ASK }',
    'on_completion: { url: env://CARILLON_URL_END }',
    'on_pause: { url: env://CARILLON_URL_END }',
    'retry: { max_attempts: 1 }',
  ];
  const lines = Array.from({ length: rows }, (_, index) => `${numberAt(20 + index)},Row${index + 1}`);
  await say('start', world.writeCampaign({ lines, yaml }));
  await until('the campaign pauses', async () => (await status()).state === 'paused', { everyMs: 250 });
  const { stateReason } = await status();
  expect(stateReason).toMatch(/^The pre-dial hook has given no usable answer .*ECONNREFUSED/);
  const calledNow = () => world.sandbox.calls().flatMap(({ to }) => (lines.some((line) => line.startsWith(to)) ? [to] : []));
  expect(calledNow()).toEqual([]);
  await hook.startAgain();
  await until('the hook has heard of the pause', () => hook.calls.some(isPause));
  expect(hook.calls.find(isPause)?.body).toMatchObject({ campaign: id, reason: stateReason });
  await say('resume', id);
  await until('the hook has heard of the end', () => hook.calls.filter(isEnd).length > 1);
  expect((await status()).state).toBe('completed');

  await say('results', id, '--output', world.path('results.csv'));
  const results = parse<Record<string, string>>(world.read('results.csv'), { columns: true });
  const called = calledNow();
  const reached = results.flatMap(({ phone = '' }, index) => (called.includes(phone) ? [index + 1] : []));
  expect(reached).toEqual(results.map((_, index) => index + 1).filter((row) => !isRefused(row)));
  const kept = results.filter((_, index) => isRefused(index + 1));
  expect(kept.map(({ outcome, reason }) => [outcome, reason])).toEqual(kept.map(() => ['undialable', 'pre_dial:no_consent']));
  const asked = hook.calls.flatMap(({ body }) => body.recipients ?? []).map(({ phone }) => phone);
  expect(called.filter((number) => !asked.includes(number))).toEqual([]);
  const [first, second, ...more] = hook.calls.filter(isEnd);
  expect([hook.calls.filter(isPause).length, more]).toEqual([1, []]);
  expect(second?.text).toBe(first?.text);
  expect([first, second].map((call) => call?.headers['webhook-id'])).toEqual([`${id}/1`, `${id}/1`]);
  expect(first?.body).toMatchObject({ campaign: id, round: 1, state: 'completed', rows, outcomes: { undialable: rows / 4 } });

  for (const command of [
    ['status', id, '--json'],
    ['events', id, '--json'],
    ['report', id],
  ])
    await say(...command);
  await say('results', id, '--format', 'jsonl', '--output', world.path('results.jsonl'));
  expect(new Set(hook.calls.map(({ path }) => new URL(path, hook.url).searchParams.get('key')))).toEqual(new Set([askKey, endKey]));
  // The worker still has the database open, so its write-ahead log exists.
  expect(existsSync(`${world.env['CARILLON_DB']}-wal`)).toBe(true);
  const files = textOfFolder(dirname(world.env['CARILLON_DB'] ?? ''));
  expect(findTokens(files, ['env://CARILLON_URL_ASK', 'Row1'])).toHaveLength(2);
  expect(findTokens(files, secrets)).toEqual([]);

  const { client, connection } = await connectTemporal(readConfig(world.env));
  const histories = await Promise.all(
    [campaignWorkflowId(id, 1), completionNotificationId(id, 1)].map((each) => textOfWorkflow(client, each)),
  );
  await connection.close();
  for (const history of histories) expect(findTokens(history, [id])).toEqual([id]);
  const people = results.flatMap(({ phone = '', name = '' }) => [phone.slice(1), name]);
  expect(findTokens(`${histories.join('\n')} ${first?.text} ${hook.calls.find(isPause)?.text}`, [...secrets, ...people])).toEqual([]);
  expect(await world.run('verify', id)).toMatchObject(proven);
  worker.signal('SIGTERM');
  said.push(await worker.ended);
  const told = said.map(({ stdout, stderr }) => stdout + stderr).join('\n');
  expect(findTokens(told, [id])).toEqual([id]);
  expect(findTokens(told, secrets)).toEqual([]);
});

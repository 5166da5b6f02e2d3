import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readConfig } from '../../../../src/shared/config.ts';
import { writeAccount } from '../../../../src/ledger/limits/account-pace.ts';
import { listCampaigns } from '../../../../src/ledger/rows/campaigns.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { connectTemporal } from '../../../../src/temporal/connection.ts';
import { createWorld, numberAt, proven, until, useSharedWorld, type CampaignWorld } from '../campaign-world.ts';

const workingWorld = useSharedWorld();

async function jsonOf(world: CampaignWorld, ...args: string[]): Promise<Record<string, unknown>> {
  const end = await world.run(...args, '--json');
  expect(end).toMatchObject({ code: 0 });
  return JSON.parse(end.stdout) as Record<string, unknown>;
}

const slowly = ['pacing: { max_concurrent_calls: 1, batch_size: 1, starts_per_minute: 1 }'];

test('a campaign is made faster while it runs, at once, and the file holds again after a reset', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ rows: 40, yaml: slowly });
  await world.run('start', path);
  await until(() => world.sandbox.calls().length > 0);
  const wish = ['--max-concurrent-calls', '20', '--starts-per-minute', 'none', '--batch-size', '20'];
  expect(await jsonOf(world, 'adjust', world.id, ...wish)).toEqual({
    campaignId: world.id,
    changed: {
      from: { maxConcurrentCalls: 1, startsPerMinute: 1, batchSize: 1 },
      to: { maxConcurrentCalls: 20, startsPerMinute: null, batchSize: 20 },
    },
    told: true,
    limits: { maxConcurrentCalls: 20, startsPerMinute: null, batchSize: 20, priority: 10 },
    file: { maxConcurrentCalls: 1, startsPerMinute: 1, batchSize: 1, priority: 10 },
    terms: expect.objectContaining({ maxAttempts: '3' }),
    fileTerms: expect.objectContaining({ maxAttempts: '3' }),
  });
  expect(await jsonOf(world, 'status', world.id)).toMatchObject({
    pacing: { maxConcurrentCalls: 20, startsPerMinute: null, pace: 1, paceCutAt: null, account: null },
  });
  expect(await world.run('adjust', world.id, ...wish)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Nothing changed.*\n +max_concurrent_calls +20 +\(the file says 1\)\n/),
  });
  expect(await world.run('start', path)).toMatchObject({ code: 0, stdout: expect.stringContaining('already running') });
  const reset = await world.run('adjust', world.id, '--reset');
  expect(reset).toMatchObject({ code: 0, stderr: '' });
  expect(reset.stdout).toMatch(/Changed: concurrent calls from 20 to 1, starts per minute from no limit to 1,/);
  expect(reset.stdout).not.toContain('the file says');
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

test('a campaign that waits for its hours calls at once when they are changed', async () => {
  const world = await createWorld({ speed: 60, epochMs: Date.UTC(2030, 0, 15, 18) });
  const path = world.writeCampaign({ rows: 6 });
  writeFileSync(path, readFileSync(path, 'utf8').replace('hours: any', 'hours: { sun: "10:00-18:00" }'));
  await world.run('start', path);
  await world.work();
  await until(async () => JSON.stringify((await jsonOf(world, 'status', world.id))['fix']).includes('outside_hours'));
  expect(world.sandbox.calls()).toEqual([]);
  const dry = await world.run('adjust', world.id, '--hours', 'any', '--dry-run');
  expect(dry.stdout).toBe('6 of 6 people who wait may be called at this hour, instead of 0.\nNothing was changed.\n');
  expect(world.sandbox.calls()).toEqual([]);
  await world.run('adjust', world.id, '--hours', 'any');
  await until(() => new Set(world.sandbox.calls().map(({ to }) => to)).size === 6);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

test('without Temporal the change is written all the same, and holds from the next look on', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 3, yaml: slowly }));
  world.env['TEMPORAL_ADDRESS'] = '127.0.0.1:9';
  const adjusted = await world.run('adjust', world.id, '--priority', '100');
  expect(adjusted).toMatchObject({ code: 0, stdout: expect.stringContaining('Changed: priority from 10 to 100.') });
  const terms = ['--max-attempts', '1', '--retry-no-answer', '4h, next_day'];
  const dry = await world.run('adjust', world.id, ...terms, '--hours', '00:00-00:01', '--dry-run');
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d of 3 people who wait may .*\nNothing was changed\.\n$/s) });
  const retries = await world.run('adjust', world.id, ...terms);
  expect(retries.stdout).toMatch(/again after no answer from .* to 4h, next_day/);
  expect(retries.stdout).toMatch(/\n +max-attempts +1 +\(the file says 3\)\n/);
  expect(await world.run('adjust', world.id, '--retry-busy', 'soon')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--retry-busy is "soon"; write a duration such as 5m/),
  });
  expect(adjusted.stderr).toMatch(/The change is committed, but campaign .* could not be notified: .*next plan/s);
});

test('the account is shared by its campaigns, and status says who has what', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 6 }));
  const account = await jsonOf(world, 'adjust', '--account');
  expect(account).toMatchObject({ limits: { maxConcurrentCalls: null, keepFree: 0 }, pace: 1 });
  expect(await world.run('adjust', '--account', '--keep-free', '30%')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('add --max-concurrent-calls'),
  });
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  // No worker waits for it: notifying one would take its time.
  await store.db.updateTable('campaigns').set({ state: 'paused' }).execute();
  const set = await world.run('adjust', '--account', '--max-concurrent-calls', '5', '--keep-free', '20%');
  expect(set.stdout).toMatch(
    /^Changed: concurrent calls from no limit to 5, part kept free from 0 % to 20 %\.\n.* together: 5 concurrent calls, of which 20 % are kept free\n$/,
  );
  await store.db.updateTable('campaigns').set({ state: 'running' }).execute();
  await store.db.updateTable('accounts').set({ pace: 500, pace_at: world.sandbox.clock.now() }).execute();
  await store.close();
  const status = await world.run('status', world.id);
  expect(status.stdout).toMatch(
    /\nLines +0 in use, 2 allowed \(max_concurrent_calls 10; pace 50 %, cut \d+ s ago by a 429; share 2 of the account's 2, 2 of them free\)\n/,
  );
  expect(await jsonOf(world, 'status', world.id)).toMatchObject({
    pacing: { allowed: 2, pace: 0.5, account: { lines: 2, free: 2, share: 2 } },
  });
});

test('two campaigns that share one line both come to their ends', async () => {
  const world = workingWorld();
  const ids = [`${world.id}-a`, `${world.id}-b`];
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const limit = (lines: number | null) => store.transaction((tx) => writeAccount(tx, world.sandbox.url, { max_concurrent_calls: lines }));
  await limit(1);
  const numbers = Array.from({ length: 4 }, (_, index) => numberAt(50 + index));
  const lines = numbers.map((number) => `${number},Ana`);
  for (const id of ids) await world.run('start', world.writeCampaign({ id, lines, yaml: ['retry: { max_attempts: 1 }'] }));
  const states = async () => (await listCampaigns(store.db)).flatMap(({ campaignId, state }) => (ids.includes(campaignId) ? [state] : []));
  await until(async () => (await states()).every((state) => state === 'completed'));
  await limit(null);
  await store.close();
  const { stdout } = await world.run('verify', ids[0] ?? '', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  // By the phone network, each call began after the previous one had ended.
  const calls = world.sandbox
    .calls()
    .filter(({ to }) => numbers.includes(to))
    .toSorted((a, b) => a.queuedAt - b.queuedAt);
  expect(calls).toHaveLength(8);
  for (const [index, call] of calls.slice(1).entries()) expect(call.queuedAt).toBeGreaterThanOrEqual(calls[index]?.endedAt ?? Infinity);
});

test('an ended campaign, and a failed one, is refused by whatever would change it, with the way to go on, and without Temporal', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 2 }));
  const setState = async (state: 'completed' | 'failed') => {
    const store = await openStore({ sqlitePath: world.path('carillon.db') });
    await store.db.updateTable('campaigns').set({ state }).execute();
    await store.close();
  };
  await setState('completed');
  expect(await world.run('adjust', world.id, '--priority', '5')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/is completed, so there is no pace to change\. carillon retry/),
  });
  await setState('failed');
  Object.assign(world.env, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  const commands = [
    ['adjust', world.id, '--priority', '5'],
    ['update', world.id, world.path('list.csv')],
    ['withdraw', world.id, '--row', '1'],
    ['retry', world.id, '--outcome', 'exhausted', '--yes'],
    ['pause', world.id],
    ['resume', world.id],
    ['drain', world.id, '--yes'],
    ['cancel', world.id, '--yes'],
  ];
  for (const command of commands) {
    const ended = await world.run(...command);
    expect.soft(ended, command[0]).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/has failed,.* Fix what carillon status .* names; then carillon start with its file/),
    });
    expect.soft(ended.stderr, command[0]).not.toContain('carillon retry');
  }
});

test.each<[string, string[], RegExp]>(
  // prettier-ignore
  [
    ['no campaign', [], /Name a campaign, such as carillon adjust reminders, or .*--account/],
    ['both', ['spring', '--account'], /Both a campaign \(spring\) and --account/],
    ['too few lines', ['spring', '--max-concurrent-calls', '0'], /is "0"; write a whole number from 1 to 100000\./],
    ['no whole number', ['spring', '--batch-size', '2.5'], /--batch-size is "2\.5"; write a whole number from 1 to 1000\./],
    ['a word', ['spring', '--starts-per-minute', 'fast'], /"fast"; write a whole number from 1 to 1000000, or none for no/],
    ['no limit on lines', ['spring', '--max-concurrent-calls', 'none'], /"none"; write a whole number from 1 to 100000\./],
    ['too heavy', ['spring', '--priority', '101'], /--priority is "101"; write a whole number from 1 to 100\./],
    ['a share for a campaign', ['spring', '--keep-free', '30%'], /carillon adjust --account --keep-free 30%/],
    ['all kept free', ['--account', '--keep-free', '100%'], /"100%"; write a share such as 30%, from 0% to 99%/],
    ['a priority of the account', ['--account', '--priority', '5'], /--priority is for a campaign: name one/],
    ['a reset of the account', ['--account', '--reset'], /--reset is for a campaign/],
  ],
)('%s is refused, and nothing is changed', async (_, args, message) => {
  expect(await workingWorld().run('adjust', ...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(message),
  });
});

test('a campaign waits for its own service, and goes with it when a person says that it has moved', async () => {
  const world = await createWorld({}, { CARILLON_LOG_LEVEL: 'warn' });
  const path = world.writeCampaign({ rows: 4, yaml: ['retry: { max_attempts: 1 }'] });
  await world.run('start', path);
  const old = 'https://voice.example/old';
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  await store.db.updateTable('campaigns').set({ account_id: old }).execute();
  const here = world.sandbox.url;
  const says = `Campaign ${world.id} was started against the service at ${old}, and SVC_BASE_URL here is ${here}: nothing is done for it here.`;
  expect(await world.run('start', path)).toMatchObject({ code: 2, stderr: expect.stringContaining(says) });

  const worker = await world.work();
  await until(async () => (await failuresOf(world)).some((message) => message.startsWith(says)));
  expect(world.sandbox.calls()).toEqual([]);

  const move = ['adjust', '--account', '--moved-from'];
  for (const { flags, why } of [
    { flags: ['adjust', world.id, '--moved-from', old], why: '--moved-from is for the whole account' },
    { flags: [...move, 'old', '--yes'], why: '--moved-from is "old"; write the old address in full' },
    { flags: [...move, 'https://me:secret@voice.example', '--yes'], why: 'contains a user name or password' },
    { flags: [...move, old, '--keep-free', '5%'], why: '--moved-from takes no limits' },
    {
      flags: [...move, old],
      why: 'with all its calls and records? If it is a different service, recipients will be called twice',
    },
  ]) {
    const refused = await world.run(...flags);
    expect(refused, flags.join(' ')).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    expect(refused.stderr).not.toContain('secret');
  }
  expect(await world.run(...move, 'https://elsewhere.example', '--yes')).toMatchObject({
    code: 0,
    stdout: 'No campaign of this database belongs to https://elsewhere.example; nothing was changed.\n',
  });
  expect(await world.run(...move, `${old}/`, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`1 campaign moved from ${old}/ to ${here}.`),
  });
  await until(async () => (await listCampaigns(store.db))[0]?.state === 'completed');
  await store.close();
  expect(world.sandbox.calls().map((call) => call.nth)).toEqual([1, 1, 1, 1]);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
  worker.signal('SIGTERM');
  expect((await worker.ended).stderr).toContain(says);
});

async function failuresOf(world: CampaignWorld): Promise<string[]> {
  const { client, connection } = await connectTemporal(readConfig(world.env));
  const { raw } = await client.workflow.getHandle(`campaign/${world.id}/1`).describe();
  await connection.close();
  return (raw.pendingActivities ?? []).map(({ lastFailure }) => lastFailure?.message ?? '');
}

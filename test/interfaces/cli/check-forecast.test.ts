import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { accountScope, addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { createWorld, numberAt, type CampaignWorld } from './campaign-world.ts';

/** Monday, 15:00 UTC: 10:00 in New York. */
const monday = Date.UTC(2026, 0, 5, 15);

/** The sandbox's clock runs at real speed from that Monday on; no Temporal. */
function worldOf(settings: Record<string, string> = {}): Promise<CampaignWorld> {
  return createWorld({ speed: 1, epochMs: monday }, { TEMPORAL_ADDRESS: '127.0.0.1:1', ...settings });
}

interface Report {
  startable: boolean;
  dialable: number;
  exclusions: { reason: string; count: number }[];
  ledger: object;
  service: object;
  forecast: { canFinish: boolean; needs: object | null; earliest: { calls: number } } | null;
}

async function reportOf(world: CampaignWorld, ...flags: string[]): Promise<Report & { code: number }> {
  const { code, stdout } = await world.run('check', world.campaignPath, '--json', ...flags);
  return { code, ...(JSON.parse(stdout) as Report) };
}

test('a campaign that fits is ready, and the report keeps to 80 columns', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 30, yaml: ["ends_at: '2026-01-06T15:00:00Z'", 'retry: { no_answer: 1h }'] });
  const { code, stdout } = await world.run('check', world.campaignPath);
  expect(stdout).toMatch(/can be called +30\n +as soon as it starts +30\n/);
  expect(stdout).toMatch(/earliest +2026-01-05 15:0\d UTC +30 +15\n/);
  expect(stdout).toMatch(/at most +360 /);
  expect(stdout).toContain('caller pn_main: verified');
  expect(stdout).toContain('Ready to start.');
  expect(stdout.split('\n').filter((line) => line.length > 80 && !line.includes(world.folder))).toEqual([]);
  expect(code).toBe(0);
});

test('a window that is likely too short is a warning with both numbers', async () => {
  const world = await worldOf();
  world.writeCampaign({
    rows: 100,
    yaml: ["ends_at: '2026-01-05T15:40:00Z'", 'pacing: { max_concurrent_calls: 2, batch_size: 2 }', 'retry: { max_attempts: 1 }'],
  });
  const { code, stdout } = await world.run('check', world.campaignPath);
  // 50 rounds of half a minute for the best case, about 51 s each for the likely one.
  expect(stdout.replaceAll('\n', ' ')).toMatch(
    /The window is too short: \d+ recipients would likely never be called before 2026-01-05 15:40 UTC\. It needs \d+ min more or 3 concurrent calls \(now 2\)\./,
  );
  expect(stdout).toContain('Ready to start.');
  expect(code).toBe(0);
  expect(await reportOf(world, '--answer-rate', '0')).toMatchObject({ forecast: { needs: null } });
  expect(await reportOf(world, '--answer-rate', '1', '--call-seconds', '600')).toMatchObject({
    forecast: { needs: { missing: 'first_attempts', limitedBy: null } },
  });
});

test('a campaign that cannot call everybody even at best ends with code 1', async () => {
  const world = await worldOf();
  world.writeCampaign({
    rows: 100,
    yaml: ["ends_at: '2026-01-05T15:20:00Z'", 'pacing: { max_concurrent_calls: 1, batch_size: 1 }'],
  });
  const { code, stdout } = await world.run('check', world.campaignPath);
  expect(stdout.replaceAll('\n', ' ')).toMatch(/even at best \d\d recipients would never be called/);
  expect(code).toBe(1);
  const report = await reportOf(world);
  expect(report).toMatchObject({ startable: false, forecast: { canFinish: false } });
  // The best case is possible: one call each half minute, until ten minutes before the end.
  expect(report.forecast?.earliest.calls).toBeLessThan(30);
  expect(stdout).toMatch(new RegExp(`earliest +cut off by ends_at +${String(report.forecast?.earliest.calls)} +1\\d\n`));
});

test('limits per caller number are told as the reason when lines do not help, those of the house too', async () => {
  const world = await worldOf();
  const yaml = ["ends_at: '2026-01-05T23:00:00Z'", 'retry: { max_attempts: 1 }'];
  world.writeCampaign({ rows: 100, yaml: [...yaml, 'caller_limits: { per_hour: 10 }'] });
  const needs = async () => (await world.run('check', world.campaignPath)).stdout.replaceAll('\n', ' ');
  const reason = /20 recipients would likely never be called .* because caller_limits let too few calls begin: name more numbers\./;
  expect(await needs()).toMatch(reason);
  const house = world.path('house.yaml');
  writeFileSync(house, 'caller_limits: { per_hour: 10 }\n');
  expect(await world.run('rules', 'set', house)).toMatchObject({ code: 0 });
  world.writeCampaign({ rows: 100, yaml });
  expect(await needs()).toMatch(reason);
});

test('a campaign that stops at its goal may begin although it cannot come to everybody', async () => {
  const world = await worldOf();
  const yaml = [
    "ends_at: '2026-01-05T15:20:00Z'",
    'pacing: { max_concurrent_calls: 1, batch_size: 1 }',
    'results: [{ result: confirmed, collected: confirmed, equals: true, goal: true }]',
    'stop_at: { goal: 5 }',
  ];
  world.writeCampaign({ rows: 100, yaml });
  expect(await world.run('check', world.campaignPath)).toMatchObject({ code: 0, stdout: expect.stringContaining('Ready to start.') });
});

test('starts per minute are told as the reason when lines do not help', async () => {
  const world = await worldOf();
  world.writeCampaign({
    rows: 100,
    yaml: ["ends_at: '2026-01-05T16:00:00Z'", 'pacing: { starts_per_minute: 1 }', 'retry: { max_attempts: 1 }'],
  });
  const { stdout } = await world.run('check', world.campaignPath);
  expect(stdout.replaceAll('\n', ' ')).toMatch(
    /It needs \d+ min more\. No number of concurrent calls is enough, because pacing\.starts_per_minute/,
  );
});

test('the simulation begins when the campaign does', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 3, yaml: ["starts_at: '2026-01-07T12:00:00Z'"] });
  expect((await world.run('check', world.campaignPath)).stdout).toMatch(
    /If it starts 2026-01-07 12:00 UTC[^]*earliest +2026-01-07 12:00 UTC/,
  );
});

test('the do-not-call list of the database is looked at, and its file is made by nobody who only checks', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 5 });
  const missing = await reportOf(world);
  expect(missing).toMatchObject({ dialable: 5, exclusions: [], ledger: { asked: false } });
  expect(() => readFileSync(world.path('carillon.db'))).toThrow();

  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const entry = { source: 'person', reason: null, expiresAt: null };
  const entries = [
    { ...entry, e164: numberAt(0), scope: accountScope },
    { ...entry, e164: numberAt(1), scope: world.id },
    { ...entry, e164: numberAt(2), scope: 'another-campaign' },
    { ...entry, e164: numberAt(3), scope: accountScope, expiresAt: monday - 1 },
  ];
  await addSuppressions(store, entries, monday - 10);
  await store.close();
  const found = await reportOf(world);
  expect(found).toMatchObject({
    dialable: 3,
    exclusions: [{ reason: 'suppressed', count: 2 }],
    ledger: { asked: true },
    forecast: { earliest: { calls: 3 } },
  });
  expect(await reportOf(world, '--offline')).toMatchObject({ dialable: 5, ledger: { asked: false } });

  world.writeCampaign({ rows: 2 });
  const nobody = await world.run('check', world.campaignPath);
  expect(nobody).toMatchObject({ code: 1, stdout: expect.stringContaining('Nobody would be called') });
});

test('what the account allows to all campaigns together limits the simulation', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 40 });
  await (await openStore({ sqlitePath: world.path('carillon.db') })).close();
  await world.run('adjust', '--account', '--max-concurrent-calls', '2');
  const { stdout } = await world.run('check', world.campaignPath);
  expect(stdout).toMatch(/earliest +2026-01-05 15:10 UTC/);
  expect(stdout).toContain('All campaigns of the account together may use 2 lines.');
});

test('a database that cannot be used is told, and the check goes on', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 5 });
  const other = await worldOf({ CARILLON_DB: world.path('list.csv') });
  other.writeCampaign({ rows: 2 });
  const report = await reportOf(other);
  expect(report).toMatchObject({
    code: 0,
    dialable: 2,
    ledger: { asked: false, reason: expect.stringContaining('list.csv') },
  });
});

test('agent and caller number are asked of the service, and what it would refuse ends with code 1', async () => {
  const world = await worldOf();
  world.writeCampaign({ rows: 2, yaml: ['from_phone_number_id: pn_wrong'] });
  const wrong = await reportOf(world);
  expect(wrong).toMatchObject({
    code: 1,
    startable: false,
    service: {
      asked: true,
      callers: [{ phoneNumberId: 'pn_wrong', fault: 'unknown' }],
      refusal: expect.stringContaining('pn_wrong'),
    },
  });
  expect((await world.run('check', world.campaignPath)).stdout).toContain('Cannot start: the service would refuse its calls.');
  expect(await reportOf(world, '--offline')).toMatchObject({ code: 0, startable: true, service: { asked: false } });

  world.writeCampaign({ rows: 2, yaml: ['from_phone_number_id: [pn_main, pn_wrong]'] });
  expect(await reportOf(world)).toMatchObject({
    code: 1,
    service: {
      callers: [
        { phoneNumberId: 'pn_main', fault: null },
        { phoneNumberId: 'pn_wrong', fault: 'unknown' },
      ],
    },
  });
  world.writeCampaign({ rows: 2, yaml: ['agent_id: agent_wrong'] });
  expect(await reportOf(world)).toMatchObject({
    code: 1,
    service: { refusal: expect.stringContaining('agent_wrong') },
  });
});

test('a service that is not there, or has no key here, is told and refuses nothing', async () => {
  const unreachable = await worldOf({ SVC_BASE_URL: 'http://127.0.0.1:1' });
  unreachable.writeCampaign({ rows: 2 });
  expect(await reportOf(unreachable)).toMatchObject({
    code: 0,
    service: { asked: false, reason: expect.stringContaining('cannot be reached') },
  });
  const keyless = await worldOf({ SVC_API_KEY: '' });
  keyless.writeCampaign({ rows: 2 });
  expect(await reportOf(keyless)).toMatchObject({
    code: 0,
    service: { asked: false, reason: 'SVC_API_KEY is not set' },
  });
});

test.each([
  ['--call-seconds', '0'],
  ['--call-seconds', '1.5'],
  ['--answer-rate', '1.1'],
  ['--answer-rate', '-1'],
  ['--answer-rate', 'half'],
])('%s %s is no value', async (flag, value) => {
  const world = await worldOf();
  world.writeCampaign({ rows: 1 });
  expect(await world.run('check', world.campaignPath, `${flag}=${value}`)).toMatchObject({ code: 2, stdout: '' });
});

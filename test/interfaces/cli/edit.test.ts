import { writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { createWorld, numberAt, proven, until, type CampaignWorld } from './campaign-world.ts';

/** At the sandbox's speed, minutes of real time: never within a test. */
const muchLater = 'retry: { max_attempts: 3, busy: 7d, no_answer: 7d, unreached: 7d, failed: 7d, voicemail: 7d }';
const busy = '+12125550101';

function writeList(world: CampaignWorld, name: string, rows: readonly string[]): string {
  writeFileSync(world.path(name), `id,phone,name\n${rows.join('\n')}\n`);
  return world.path(name);
}

async function start(world: CampaignWorld, rows: readonly string[]): Promise<void> {
  const path = world.writeCampaign({ yaml: [muchLater] });
  writeList(world, 'list.csv', rows);
  writeFileSync(path, world.read('campaign.yaml').replace('phone: phone,', 'phone: phone, id: id,'));
  expect(await world.run('start', path)).toMatchObject({ code: 0 });
}

async function statusOf(world: CampaignWorld): Promise<Record<string, unknown>> {
  return JSON.parse((await world.run('status', world.id, '--json')).stdout) as Record<string, unknown>;
}

async function resultsOf(world: CampaignWorld): Promise<Record<string, string>[]> {
  const { stdout } = await world.run('results', world.id, '--output', '-');
  return parse<Record<string, string>>(stdout, { columns: true });
}

test('a campaign that waits for days calls a row that is added at once, and ends when the others are withdrawn', async () => {
  const world = await createWorld();
  await world.work();
  await start(world, [`a,${busy},Row1`, `b,no number,Row2`, `c,${numberAt(3)},Row3`]);
  await until(async () => world.sandbox.calls().length === 2 && (await statusOf(world))['open'] === 0);

  const list = writeList(world, 'more.csv', [`a,${busy},Row1`, `b,${numberAt(4)},Row2`, `d,${numberAt(5)},Row4`, 'e,oops,Row5']);
  const dry = await world.run('update', world.id, list, '--dry-run');
  expect(dry.stdout).toMatch(/4 rows of .*more\.csv read, nothing was changed\. It would be\n {2}accepted +1 /);
  expect(await statusOf(world)).toMatchObject({ total: 3 });

  const report = world.path('report.csv');
  const updated = await world.run('update', world.id, list, '--report', report);
  expect(updated).toMatchObject({ code: 1, stderr: '' });
  expect(updated.stdout).toMatch(/accepted +1 .*\n +corrected +1 .*\n +unchanged +1 .*\n +failed +1 /);
  expect(updated.stdout).toMatch(/4 +5 +e +invalid_phone +/);
  expect(updated.stdout).toContain('were left alone');
  const lines = parse<Record<string, string>>(world.read('report.csv'), { columns: true });
  expect(lines.map(({ row, line, id, result, code, campaign_row }) => [row, line, id, result, code, campaign_row])).toEqual([
    ['1', '2', 'a', 'unchanged', '', '1'],
    ['2', '3', 'b', 'corrected', '', '2'],
    ['3', '4', 'd', 'accepted', '', '4'],
    ['4', '5', 'e', 'failed', 'invalid_phone', ''],
  ]);
  await until(async () => world.sandbox.calls().length === 4 && (await statusOf(world))['open'] === 0);

  const waiting = (await resultsOf(world)).filter((row) => row['outcome'] === 'in_progress').map((row) => row['id']);
  expect(waiting).toContain('a');
  const asked = await world.run('withdraw', world.id, '--id', waiting.join(','));
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('run again with --yes') });
  const withdrawn = await world.run('withdraw', world.id, '--id', waiting.join(','), '--yes', '--reason', 'moved');
  expect(withdrawn).toMatchObject({ code: 0, stderr: '' });
  await until(async () => (await statusOf(world))['state'] === 'completed');
  const results = await resultsOf(world);
  expect(results.map((row) => row['id'])).toEqual(['a', 'b', 'c', 'd']);
  expect(results[0]).toMatchObject({ outcome: 'cancelled', reason: 'withdrawn', attempts: '1', disposition: 'busy' });
  expect(await world.run('verify', world.id)).toMatchObject(proven);

  const late = await world.run('update', world.id, list);
  expect(late).toMatchObject({ code: 2, stderr: expect.stringMatching(/has ended \(completed\).*carillon retry/) });
  // Retrying cancelled rows does not restore withdrawn ones.
  const retry = await world.run('retry', world.id, '--outcome', 'cancelled', '--yes');
  expect(retry.stdout).toContain('nothing was started');
});

test('rows are changed while Temporal is out of reach, and that the campaign was not told is said', async () => {
  const world = await createWorld();
  await start(world, [`a,${numberAt(0)},Row1`, `b,${numberAt(1)},Row2`, `c,${numberAt(2)},Row3`]);
  const list = writeList(world, 'more.csv', [`a,${numberAt(0)},Anna`, `d,${numberAt(5)},Row4`]);
  Object.assign(world.env, { TEMPORAL_ADDRESS: '127.0.0.1:9' });
  const updated = await world.run('update', world.id, list, '--withdraw-missing', '--yes', '--json');
  expect(updated).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/could not be notified: .*carillon resume/s),
  });
  expect(JSON.parse(updated.stdout)).toEqual({
    campaign: world.id,
    list,
    dryRun: false,
    rows: 2,
    accepted: 1,
    corrected: 1,
    unchanged: 0,
    failed: 0,
    mayStillBeCalled: 0,
    failures: [],
    missing: { missing: 2, withdrawn: 2, callOpen: 0, withdrawing: 0 },
  });
  expect(await statusOf(world)).toMatchObject({ total: 4, waiting: 2, outcomes: { cancelled: 2 } });
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

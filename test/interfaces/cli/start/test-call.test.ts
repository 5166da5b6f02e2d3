import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { accountScope, addSuppressions } from '../../../../src/ledger/rows/suppressions.ts';
import { beginProven } from '../../../ledger/scenario.ts';
import { buildRows } from '../../../support/campaign-rules.ts';
import { obeyed, poison } from '../../../support/terminal-poison.ts';
import { createWorld, numberAt, proven, until, useSharedWorld, type CampaignWorld } from '../campaign-world.ts';

const workingWorld = useSharedWorld();

const mine = '+12125550190';
/** Monday, 15:00 UTC: 10:00 in New York. */
const monday = Date.UTC(2026, 0, 5, 15);

function called(world: CampaignWorld): string[] {
  return world.sandbox.calls().map((call) => call.to);
}

function edit(world: CampaignWorld, ...changes: (readonly [string, string])[]): string {
  let text = readFileSync(world.campaignPath, 'utf8');
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replace(from, to);
  }
  writeFileSync(world.campaignPath, text);
  return world.campaignPath;
}

/** Real speed, so that calling hours do not pass during a test. */
async function slowWorld(): Promise<CampaignWorld> {
  const world = await createWorld({ speed: 1, epochMs: monday });
  world.writeCampaign({ lines: ['no number,Bad', `${numberAt(0)},Ana`] });
  return world;
}

async function expectNothingDone(world: CampaignWorld): Promise<void> {
  expect(called(world)).toEqual([]);
  const { stdout, stderr } = await world.run('status', '--json');
  if (stderr.includes('There is no database')) return;
  expect(JSON.parse(stdout)).toEqual({ campaigns: [] });
}

test('a test call goes the way of the campaign, to the given number, with the words of the first good row', async () => {
  const world = workingWorld();
  const path = world.writeCampaign({ lines: ['no number,Bad', `${numberAt(0)},Ana`, `${numberAt(1)},Ben`] });
  const end = await world.run('test-call', path, '--to', mine, '--yes');
  expect(end).toMatchObject({ code: 0, stdout: expect.stringContaining(`Test call     ${world.id}-test-1`) });
  expect(end.stderr).toContain('Hello Ana, a reminder.');
  expect(called(world)).toEqual([mine]);
  expect(end.stdout + end.stderr).not.toMatch(/\+1212/);
  expect(await world.run('verify', `${world.id}-test-1`)).toMatchObject(proven);
  expect(await world.run('status', world.id)).toMatchObject({ code: 2 });
});

test('the row is chosen by its number, the call is never repeated, and its end is one JSON object', async () => {
  // Always busy: the campaign would call again.
  const busy = '+12125550101';
  const world = workingWorld();
  const path = world.writeCampaign({ rows: 3, yaml: ['retry: { max_attempts: 5, busy: 1m }'] });
  const end = await world.run('test-call', path, '--to', busy, '--row', '3', '--yes', '--json');
  expect(end.stderr).toContain('Hello Row3, a reminder.');
  expect(JSON.parse(end.stdout)).toMatchObject({
    campaignId: `${world.id}-test-1`,
    row: 3,
    disposition: 'busy',
    outcome: 'exhausted',
  });
  expect(end.code).toBe(0);
  expect(called(world).filter((number) => number !== mine)).toEqual([busy]);
});

test('without a yes nobody is called', async () => {
  const world = await slowWorld();
  expect(await world.run('test-call', world.campaignPath, '--to', mine)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/The agent will say:\n {2}Hello Ana.*Not a terminal.*--yes/s),
  });
  await expectNothingDone(world);
});

test.each(['account', 'campaign'])('a number on the do-not-call list of the %s is refused', async (whose) => {
  const world = await slowWorld();
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const scope = whose === 'account' ? accountScope : world.id;
  await addSuppressions(store, [{ e164: mine, scope, source: 'person', reason: null, expiresAt: null }], monday);
  await store.close();
  expect(await world.run('test-call', world.campaignPath, '--to', mine, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/on the do-not-call list.*Nobody was called\./),
  });
  await expectNothingDone(world);
});

test('a number that was called too often lately is refused', async () => {
  const world = await slowWorld();
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const spring = await beginProven(store, { rows: buildRows([mine], () => 'Ana'), now: monday });
  await spring.dial(1, monday);
  await store.close();
  const path = edit(world, ['hours: any', 'hours: any\ncaps: [{ calls: 1, within: 24h }]']);
  expect(await world.run('test-call', path, '--to', mine, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/cannot be called before 2026-01-06 15:\d\d UTC: a frequency cap is used up until then\./),
  });
  expect(called(world)).toEqual([]);
});

test('outside the hours of the number the call is refused, unless it is a phone of one’s own', async () => {
  const world = await slowWorld();
  const path = edit(world, ['hours: any', 'hours: { mon: "11:00-12:00", tue: "09:00-17:00" }']);
  expect(await world.run('test-call', path, '--to', mine, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /cannot be called before 2026-01-05 16:00 UTC: calling hours open then\..*--any-hour.*Nobody was called\./,
    ),
  });
  // In Los Angeles it is still earlier.
  expect((await world.run('test-call', path, '--to', '+13105550190', '--yes')).stderr).toContain('2026-01-05 19:00');
  // An international toll-free number may be anywhere.
  expect((await world.run('test-call', path, '--to', '+80012345678', '--yes')).stderr).toContain('its time zone is not known');
  const asked = await world.run('test-call', path, '--to', mine, '--any-hour');
  expect(asked.stderr).toMatch(/hours and law are left out \(--any-hour\).*run again with --yes/s);
  await expectNothingDone(world);
});

test.each([
  [['--to', '555'], /--to cannot be used: .*\+12125550123/],
  [['--to', mine, '--row', '1'], /list\.csv: row 1 is rejected \(invalid_phone/],
  [['--to', mine, '--row', '9'], /list\.csv: it has no row 9; its last is row 2/],
  [['--to', mine, '--row', 'x'], /Write the number of a data row/],
  [[], /required option '--to <number>'/],
])('bad input %j is refused with exit code 2', async (flags, says) => {
  const world = await slowWorld();
  const { code, stderr } = await world.run('test-call', world.campaignPath, ...flags);
  expect(stderr).toMatch(says);
  expect(code).toBe(2);
  await expectNothingDone(world);
});

test('a caller number that the service does not know is refused before anything is imported', async () => {
  const world = await slowWorld();
  const path = edit(world, ['from_phone_number_id: pn_main', 'from_phone_number_id: pn_wrong']);
  expect(await world.run('test-call', path, '--to', mine, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/pn_wrong.*Nothing was imported/s),
  });
  await expectNothingDone(world);
});

test('whoever leaves before the end is told how to look at it and end it', async () => {
  const world = await createWorld();
  const watching = world.begin('test-call', world.writeCampaign({}), '--to', mine, '--yes');
  await until(() => watching.io.written().stderr.includes('No worker is running for this database'));
  watching.interrupt();
  const { code, stderr } = await watching.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`still in progress.*carillon cancel ${world.id}-test-1`, 's'));
  expect(called(world)).toEqual([]);
});

// Last: their faults change the shared service for good.
test('a transcript with escapes and bidi characters reaches the terminal harmless', async () => {
  const transcript = [
    { speaker: 'agent', text: 'Hello Ana, a reminder.' },
    { speaker: 'user', text: `heard${poison}` },
  ];
  const said = { type: 'unknown_field', field: 'transcript', value: transcript } as const;
  const collected = { type: 'unknown_field', field: 'collected_data', value: { [`name${poison}`]: poison } } as const;
  const world = workingWorld();
  world.sandbox.addFaults([said, collected].map((effect) => ({ operation: 'get_conversation', every: 1, effect })));
  const path = world.writeCampaign({ lines: [`${numberAt(0)},Ana`] });
  const { code, stdout, stderr } = await world.run('test-call', path, '--to', mine, '--yes');
  expect(stdout).toContain('user: heard');
  expect(stdout).toMatch(/^Collected +name/m);
  expect(code).toBe(0);
  expect(stdout).not.toMatch(obeyed);
  expect(stderr).not.toMatch(obeyed);

  const campaignId = `${world.id}-test-1`;
  const lines = await world.run('results', campaignId, '--format', 'jsonl', '--output', '-');
  expect(JSON.parse(lines.stdout)).toMatchObject({ collected: { [`name${poison}`]: poison } });
  expect(lines.stdout).not.toMatch(obeyed);
});

test('a test call that the service refuses is not waited for, and says what is wrong', async () => {
  const world = workingWorld();
  world.sandbox.addFaults({ operation: 14, effect: { type: 'error', status: 402 } });
  const before = called(world);
  const end = await world.run('test-call', world.writeCampaign({}), '--to', mine, '--yes');
  expect(end).toMatchObject({ code: 1, stdout: '' });
  expect(end.stderr).toMatch(new RegExp(`paused: .*402.*carillon cancel ${world.id}-test-1`, 's'));
  expect(called(world)).toEqual(before);
});

import { writeFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import { buildRows, minuteMs } from '../../../support/campaign-rules.ts';
import { answered, beginProven, noon, numbers } from '../../../ledger/scenario.ts';
import { createWorld, numberAt, proven, until, type CampaignWorld } from '../campaign-world.ts';

async function statusOf(world: CampaignWorld): Promise<Record<string, unknown>> {
  return JSON.parse((await world.run('status', world.id, '--json')).stdout) as Record<string, unknown>;
}

type Line = Record<'row' | 'attempt' | 'conversation' | 'spoke' | 'first_words' | 'decision', string>;

function readLines(world: CampaignWorld, name: string): Line[] {
  return parse(world.read(name), { columns: true });
}

/** Like a spreadsheet of another country. */
function save(world: CampaignWorld, name: string, lines: readonly Line[]): void {
  const rows = [Object.keys(lines[0] ?? {}), ...lines.map((line) => Object.values(line))];
  const quoted = rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';'));
  writeFileSync(world.path(name), `${quoted.join('\r\n')}\r\n`);
}

test('three people who answer one opening line are decided about in a file, and who was not theirs is dialled', async () => {
  const outcomeMix = { answered: 100, no_answer: 0, voicemail: 0, busy: 0, failed: 0 };
  const world = await createWorld({ dialect: 'spec', outcomeMix });
  const path = world.writeCampaign({
    lines: [0, 1, 2].map((index) => `${numberAt(index)},Ana`),
    yaml: ['shared_words: unresolved'],
  });
  await world.work();
  expect(await world.run('start', path)).toMatchObject({ code: 0 });
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(await statusOf(world)).toMatchObject({
    outcomes: { unresolved: 3 },
    doubt: { unresolved: { records_not_told_apart: 3 } },
  });
  expect(world.sandbox.calls()).toHaveLength(3);
  const shown = await world.run('status', world.id);
  expect(shown.stdout).toMatch(/^Apart +3 rows ended because calls cannot be told apart \(decide: .*--candidates FILE/m);
  expect(shown.stdout).toMatch(/3 {2}a record may belong to their call, or to another one/);
  expect((await world.run('report', world.id)).stdout).toMatch(/unresolved because.*\n.*to another one +3/);

  const file = world.path('doubt.csv');
  expect(await world.run('resolve', world.id, '--candidates', file)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^3 rows in doubt and 3 records that may be theirs written to /),
  });
  const lines = readLines(world, 'doubt.csv');
  expect(lines).toHaveLength(9);
  expect(lines[0]).toMatchObject({
    row: '1',
    spoke: 'agent and callee',
    first_words: 'Hello Ana, a reminder.',
    decision: '',
  });
  const results = await world.run('results', world.id, '--format', 'jsonl', '--output', '-');
  expect(JSON.parse(results.stdout.split('\n')[0] ?? '')).toMatchObject({
    outcome: 'unresolved',
    candidates: lines.slice(0, 3).map(({ conversation }) => conversation),
  });
  expect(await world.run('resolve', world.id, '--candidates', file)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/exists, and its column decision is empty: nothing was changed/),
  });
  // No bulk redial: the operator has not read the records.
  expect(await world.run('resolve', world.id, '--redial', '--yes')).toMatchObject({
    stdout: expect.stringMatching(/3 rows .* are left.*--candidates/),
  });

  const say = (decide: (line: Line, index: number) => string) =>
    save(
      world,
      'doubt.csv',
      lines.map((line, index) => ({ ...line, decision: decide(line, index) })),
    );
  say((_line, index) => ['their', '', ''][index] ?? (index === 4 ? 'theirs' : ''));
  expect(await world.run('resolve', world.id, '--candidates', file)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/doubt\.csv: line 2, decision "their": write theirs, not_theirs, redial or give_up/),
  });
  // Row 2 has the second record, and row 3 the same one.
  say((_line, index) => (index === 4 || index === 7 ? 'theirs' : ''));
  expect(await world.run('resolve', world.id, '--candidates', file)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/line 9, decision "theirs": line 6 gives the record to another call.*\nNothing was changed/),
  });
  expect(await statusOf(world)).toMatchObject({ outcomes: { unresolved: 3 } });

  // The sandbox knows the owners: rows 1 and 2 keep theirs, and row 3 is redialled.
  const owner = new Map(world.sandbox.calls().map((call) => [call.conversationId, call.to]));
  const isTheirs = ({ row, conversation }: Line) => owner.get(conversation) === numberAt(Number(row) - 1);
  say((line) => (line.row === '3' ? 'Redial' : isTheirs(line) ? 'theirs' : 'not_theirs'));
  const decided = await world.run('resolve', world.id, '--candidates', file, '--yes');
  expect(decided).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2 records ascribed, .*1 row to be dialled again\. Round 2 has been started/),
  });
  await until(async () => (await statusOf(world))['state'] === 'completed' && world.sandbox.calls().length === 4);
  await until(async () => (await statusOf(world))['state'] === 'completed');
  expect(await statusOf(world)).toMatchObject({ outcomes: { completed: 3 }, round: 2 });
  expect(await world.run('resolve', world.id, '--candidates', file, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/1 row not in doubt any more or decided before, left alone/),
  });
  expect(world.sandbox.calls()).toHaveLength(4);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

test('one row is decided about by flags, and what cannot be is refused', async () => {
  const world = await createWorld();
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const rules = { sharedWords: 'unresolved' as const };
  const spring = await beginProven(store, { rows: buildRows(numbers(3), () => 'Guest'), rules });
  await spring.dial(1);
  const talk = (id: string) => {
    const record = { ...answered(id, '', noon + 5_000), calleeNumber: null, callResult: null };
    return { ...record, openingLine: 'Hello Guest' };
  };
  await spring.sweep(noon + minuteMs, [talk('conv_a'), talk('conv_b')]);
  for (let now = noon + 2 * minuteMs; now <= noon + 30 * minuteMs; now += 2 * minuteMs) await spring.sweep(now);
  await store.close();
  const decide = (...flags: string[]) => world.run('resolve', 'spring', ...flags);

  expect(await decide('--row', '1', '--conversation', 'conv_a')).toMatchObject({
    code: 0,
    stdout: '1 record ascribed.\n',
  });
  expect(await decide('--row', '1', '--conversation', 'conv_a')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Row 1 of campaign spring is not in doubt/),
  });
  expect(await decide('--row', '2', '--conversation', 'conv_a')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--row 2, conversation "conv_a": .*is the record of call spring\/1\/1\n.*Nothing was changed/),
  });
  const dismissed = await decide('--row', '2', '--not', 'conv_b');
  expect(dismissed).toMatchObject({ code: 0, stdout: '1 record of others put aside.\n' });
  expect(await decide('--row', '3', '--give-up')).toMatchObject({ code: 0, stdout: '1 row given up.\n' });
  // Its service is not the configured one.
  expect(await decide('--row', '2', '--redial', '--yes')).toMatchObject({ code: 2 });
  expect(await decide('--row', '2', '--redial', '--give-up')).toMatchObject({ code: 2 });
  expect(await decide('--row', 'two', '--give-up')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--row two: a row/),
  });
  expect(await decide('--not', 'conv_b')).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --row/) });
  expect(await decide('--row', '2')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/With --row say one thing/),
  });
  writeFileSync(world.path('list.csv'), 'phone,name\n+12125550101,Ana\n');
  expect(await decide('--candidates', world.path('list.csv'))).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no columns row, attempt, conversation, decision/),
  });
});

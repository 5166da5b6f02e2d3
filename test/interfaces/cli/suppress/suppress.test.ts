import { expect, test } from 'vitest';
import { commandFolder } from '../terminal.ts';

function createFolder() {
  const { run, ...folder } = commandFolder();
  return { ...folder, run: (...args: string[]) => run('suppress', ...args) };
}

test('a number is added, told, listed and removed', async () => {
  const { run } = createFolder();
  expect(await run('add', '2125550100', '+12125550101', '--region', 'US', '--reason', 'asked by letter')).toMatchObject({
    code: 0,
    stdout: '2 numbers added to the do-not-call list.\n',
  });
  expect((await run('add', '+12125550100')).stdout).toBe('0 numbers added to the do-not-call list; 1 stood there already.\n');
  const checked = await run('check', '+12125550100', '+12125550102');
  expect(checked.stdout).toMatch(/^\+12125550102 may be called\.\n/);
  expect(checked.stdout).toMatch(/\+12125550100 +account +for ever .* person +asked by letter/);
  expect(JSON.parse((await run('check', '+12125550100', '--json')).stdout)).toMatchObject({
    numbers: [{ e164: '+12125550100', suppressed: true, entries: [{ scope: 'account', reason: 'asked by letter' }] }],
  });
  expect(await run('remove', '+12125550100')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Not a terminal'),
  });
  expect((await run('remove', '+12125550100', '--yes')).stdout).toBe('1 entry removed.\n');
  const left = (await run('list', '--json')).stdout.trim().split('\n');
  expect(left.map((line) => (JSON.parse(line) as { e164: string }).e164)).toEqual(['+12125550101']);
});

test('an entry with a last day holds to the end of that day everywhere on earth', async () => {
  const { run } = createFolder();
  await run('add', '+12125550100', '--expires', '2026-01-16');
  expect((await run('check', '+12125550100')).stdout).toContain('until 2026-01-17T12:00Z');
  // The 14th has just ended on the last clock of the earth, and the 15th has begun there.
  expect(await run('add', '+12125550101', '--expires', '2026-01-13')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--expires is 2026-01-13, which has passed'),
  });
  expect(await run('add', '+12125550101', '--expires', '2026-01-14')).toMatchObject({ code: 2 });
  expect(await run('add', '+12125550101', '--expires', '2026-01-15')).toMatchObject({ code: 0 });
  for (const none of ['2026-02-30', '2026-1-20', ' 2026-01-20'])
    expect(await run('add', '+12125550102', '--expires', none)).toMatchObject({ code: 2 });
  expect(await run('add', '+12125550101', '--expires', 'soon')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('write a duration such as 90d'),
  });
});

test('a file is imported with its good lines, bad ones are named, and a second time changes nothing', async () => {
  const { run, write, path } = createFolder();
  write('list.csv', 'id,phone\n1,212-555-0100\n2,oops\n3,+1 212 555 0101\n4,2125550100\n');
  const file = path('list.csv');
  const imported = await run('import', file, '--column', 'phone', '--region', 'US');
  expect(imported.stdout).toBe(
    '2 numbers added, 0 stood there already, 1 line repeats a number of the file. 1 line is no number and protects nobody: fix and import the file again.\n',
  );
  expect(imported).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${file}:3: letters are not read as digits`),
  });
  const again = await run('import', file, '--column', 'phone', '--region', 'US', '--json');
  expect(JSON.parse(again.stdout)).toEqual({ rows: 4, added: 0, known: 2, repeated: 1, bad: 1 });
});

test('a file may have a single column without a header, and a column that is not there is named', async () => {
  const { run, write, path } = createFolder();
  write('bare.txt', '+12125550100\n+12125550101\n');
  expect((await run('import', path('bare.txt'))).stdout).toBe('2 numbers added, 0 stood there already.\n');
  write('list.csv', 'id;Phone\n1;+12125550100\n');
  expect(await run('import', path('list.csv'), '--column', 'phon', '--delimiter', ';')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/there is no column "phon"\. Did you mean "Phone"\?/),
  });
});

test('what cannot be used is refused and nothing is written', async () => {
  const { run } = createFolder();
  expect(await run('add', '+12125550100', '12')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Number 2 of 2'),
  });
  expect(await run('add', '+12125550100', '--campaign', 'nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has no campaign "nowhere"'),
  });
  expect(await run('list')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('The do-not-call list is empty.'),
  });
  expect(await createFolder().run('list')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('There is no database'),
  });
});

import { expect, test } from 'vitest';
import { commandFolder } from '../terminal.ts';

function createDatabase() {
  const clock = { now: Date.parse('2026-01-15T12:00:00Z') };
  return { run: commandFolder({}, { now: () => clock.now }).run, clock };
}

test('consent is taken back for a purpose, and only one that is newer lifts it', async () => {
  const { run, clock } = createDatabase();
  expect(await run('consent', 'revoke', '+12125550100', '--purpose', 'recall', '--reason', 'by mail')).toMatchObject({
    code: 0,
    stdout: '1 number: consent to calls for recall is taken back.\n',
  });
  expect((await run('suppress', 'check', '+12125550100')).stdout).toMatch(/purpose:recall +for ever .* by mail/);
  const renew = (given: string) => run('consent', 'renew', '+12125550100', '--purpose', 'recall', '--given', given);
  expect(await renew('2020-01-01T10:00:00Z')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/was taken back at 20.*after the one/),
  });
  expect(await renew('2999-01-01T10:00:00Z')).toMatchObject({ code: 2, stderr: expect.stringContaining('is not given yet') });
  expect(await renew('yesterday')).toMatchObject({ code: 2, stderr: expect.stringContaining('--given') });
  clock.now += 60_000;
  expect(await renew('2026-01-15T12:00:30Z')).toMatchObject({ code: 0, stdout: '1 number may be called for recall again.\n' });
  expect((await run('suppress', 'check', '+12125550100')).stdout).toContain('may be called');
});

test('what names nobody, or no purpose, is told', async () => {
  const { run } = createDatabase();
  expect(await run('consent', 'revoke')).toMatchObject({ code: 2, stderr: expect.stringContaining('Write the numbers, or --person') });
  expect(await run('consent', 'revoke', '--person', '4711')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('No list has anybody under the id "4711"'),
  });
  expect(await run('consent', 'revoke', '+12125550100', '--purpose', 'New offers')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('write a word of small letters'),
  });
  expect(await run('consent', 'renew', '+12125550100', '--given', '2026-11-27T10:00:00Z')).toMatchObject({ code: 2 });
  // Without a purpose no call is allowed.
  expect(await run('consent', 'revoke', '+12125550100', '--json')).toMatchObject({ code: 0 });
  expect((await run('suppress', 'check', '+12125550100')).stdout).toMatch(/account +for ever/);
});

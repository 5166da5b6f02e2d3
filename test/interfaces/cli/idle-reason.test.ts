import { expect, test } from 'vitest';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { createLedger } from './campaign-ledger.ts';

test('status says in one line that nothing moves because Temporal is not reached', async () => {
  const ledger = await createLedger();
  const { code, stdout } = await ledger.run('status', 'spring');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\nWaiting +Temporal at 127\.0\.0\.1:1 cannot be used: it cannot be reached, [^.]*, since 2030-01-15 12:01 UTC, until it is back\n/,
  );
  const { temporal, standstill, why } = JSON.parse((await ledger.run('status', 'spring', '--json')).stdout) as Record<string, unknown>;
  expect(why).toMatch(/^Temporal at 127\.0\.0\.1:1 cannot be used: .*, until it is back$/);
  expect(temporal).toMatchObject({ unreachable: expect.stringContaining('127.0.0.1:1'), workers: null });
  expect(standstill).toMatchObject({ reason: 'collecting', sinceAt: '2030-01-15T12:00:00.000Z' });
});

test('pause works with the database alone, and says so', async () => {
  const ledger = await createLedger();
  expect(await ledger.run('pause', 'spring')).toEqual({
    code: 0,
    stdout: 'Campaign spring is paused. Resume it: carillon resume spring\n',
    stderr: expect.stringMatching(/The pause is committed, .*carillon status/),
  });
  await ledger.change(async (store) => expect(await findCampaign(store.db, 'spring')).toMatchObject({ state: 'paused' }));
  expect((await ledger.run('status', 'spring')).stdout).toMatch(
    /\nWaiting +paused by a person, since .*, until carillon resume spring \(or carillon cancel spring\)\n/,
  );
});

test('pause --let-queued says that it changes nothing where nothing can be taken back', async () => {
  const ledger = await createLedger();
  expect(await ledger.run('pause', 'spring', '--let-queued')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /spring is paused\. .*SVC_API=contract none can be taken back, so --let-queued changes nothing\. Resume it/,
    ),
  });
});

test('with --json the answer to a wish is JSON, and so is what failed', async () => {
  const ledger = await createLedger();
  const paused = await ledger.run('pause', 'spring', '--json');
  expect(JSON.parse(paused.stdout)).toEqual({
    campaignId: 'spring',
    state: 'paused',
    stateReason: 'paused by a person',
    round: 1,
  });
  const unknown = await ledger.run('pause', 'sprang', '--json');
  expect(unknown.code).toBe(2);
  expect(JSON.parse(unknown.stdout)).toEqual({
    error: { code: 'unknown_campaign', message: unknown.stderr.trimEnd(), exitCode: 2 },
  });
  const wrong = await ledger.run('status', '--json', '--jason');
  expect(JSON.parse(wrong.stdout)).toMatchObject({
    error: { message: expect.stringMatching(/^unknown option '--jason'/), exitCode: 2 },
  });
  const unreached = await ledger.run('resume', 'spring', '--json');
  expect(JSON.parse(unreached.stdout)).toMatchObject({ error: { exitCode: 1 } });
});

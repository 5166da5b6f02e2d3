import { expect, test } from 'vitest';
import { readAllEvents } from '../../../src/ledger/events.ts';
import { findToken } from '../../../src/ledger/console/tokens.ts';
import { accountScope } from '../../../src/ledger/rows/suppressions.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { createLedger, type Ledger } from './campaign-ledger.ts';
import { commandFolder, type CommandEnd } from './terminal.ts';

const number = '+12125550100';

interface Acted {
  campaignId: string;
  name: string;
  action: string;
}

async function readActs(env: { CARILLON_DB: string }): Promise<Acted[]> {
  const store = await openStore({ sqlitePath: env.CARILLON_DB });
  const events = await readAllEvents(store.db, 0, 1000, ['operator.acted']);
  await store.close();
  return events.map(({ campaignId, data }) => ({ campaignId, ...(data as Omit<Acted, 'campaignId'>) }));
}

const byCommand = (campaignId: string, action: string): Acted => ({ campaignId, name: 'the command line', action });
const answerOf = ({ stdout }: CommandEnd): Record<string, unknown> => JSON.parse(stdout) as Record<string, unknown>;

const stateOf = async ({ run }: Ledger) => answerOf(await run('status', 'spring', '--json'))['state'];
const setGoing = ({ change }: Ledger) =>
  change((store) => store.transaction((tx) => tx.updateTable('campaigns').set({ state: 'running' }).execute()));

test('each command that changes something stands in the log once, under a name of its own', async () => {
  const { env, run, write } = await createLedger();
  const gone = write('gone.csv', 'phone\n+12125550199\n');
  const changes: readonly (readonly [command: string, log: string, action: string])[] = [
    ['pause spring', 'spring', 'pause'],
    ['adjust spring --max-attempts 3', 'spring', 'adjust'],
    ['adjust --account --max-concurrent-calls 7', 'account', 'adjust_account'],
    ['withdraw spring --row 3 --yes', 'spring', 'withdraw'],
    [`suppress add ${number} --campaign spring`, 'spring', 'suppressions_added'],
    [`suppress remove ${number} --campaign spring --yes`, 'spring', 'suppressions_removed'],
    [`suppress import ${gone}`, 'account', 'suppressions_imported'],
    [`consent revoke ${number} --purpose marketing`, 'account', 'suppressions_added'],
    ['rules lift --yes', 'account', 'house_rules'],
    ['token create crm --role read', 'account', 'token_created'],
  ];
  for (const [command] of changes) expect(await run(...command.split(' ')), command).toMatchObject({ code: 0 });
  expect(await readActs(env)).toEqual(changes.map(([, log, action]) => byCommand(log, action)));
});

test('what only looks, or is refused, stands in no log', async () => {
  const { env, run } = await createLedger();
  for (const command of ['adjust spring', 'adjust spring --max-attempts 3 --dry-run', 'withdraw spring --row 3 --dry-run', 'suppress list'])
    expect(await run(...command.split(' ')), command).toMatchObject({ code: 0 });
  for (const command of ['pause autumn', 'callback set spring --row 2 --at soon', 'token revoke 4f7c2f0e9a1b --yes'])
    expect(await run(...command.split(' ')), command).toMatchObject({ code: 2 });
  expect(await readActs(env)).toEqual([]);
});

test('the same key pauses once, and without a key each pause is one', async () => {
  const ledger = await createLedger();
  const { run, env } = ledger;
  const first = await run('pause', 'spring', '--json', '--key', 'k1');
  expect(await stateOf(ledger)).toBe('paused');
  await setGoing(ledger);
  expect(await run('pause', 'spring', '--json', '--key', 'k1')).toEqual(first);
  expect(await stateOf(ledger)).toBe('running');
  expect(await readActs(env)).toHaveLength(1);
  for (const acts of [2, 3]) {
    expect(await run('pause', 'spring')).toMatchObject({ code: 0 });
    expect(await stateOf(ledger)).toBe('paused');
    expect(await readActs(env)).toEqual(Array.from({ length: acts }, () => byCommand('spring', 'pause')));
    await setGoing(ledger);
  }
  const kept = async () => {
    let answers = 0;
    await ledger.change(async ({ db }) => void (answers = (await db.selectFrom('answers').selectAll().execute()).length));
    return answers;
  };
  expect(await kept()).toBe(1);
  expect(await run('pause', 'spring', '--let-queued', '--json', '--key', 'k1')).toMatchObject({
    code: 2,
    stderr: '--key was used before with another --let-queued. Choose a new one.\n',
    stdout: expect.stringContaining('"code":"key_reused"') as string,
  });
});

test('a token that is made twice under one key is one, whose text is shown once', async () => {
  const { run, env } = commandFolder();
  const args = ['token', 'create', 'crm', '--role', 'read', '--key', 'k1', '--json'];
  const made = answerOf(await run(...args));
  const store = await openStore({ sqlitePath: env.CARILLON_DB });
  expect(await findToken(store, String(made['token']), Date.now())).toMatchObject({ name: 'crm' });
  await store.close();
  const again = await run(...args);
  expect(answerOf(again)).toEqual({ ...made, token: null });
  expect(again.stderr).toBe('');
  expect(await readActs(env)).toEqual([byCommand(accountScope, 'token_created')]);
});

test('a term that counts from now is the same change under the same key', async () => {
  let now = Date.parse('2026-01-15T12:00:00Z');
  const { run, env } = commandFolder({}, { now: () => (now += 1000) });
  const args = ['suppress', 'add', number, '--expires', '90d', '--key', 'k1', '--json'];
  for (const _ of [1, 2]) expect(answerOf(await run(...args))).toEqual({ added: 1, known: 0 });
  expect(await run(...args.slice(0, -1))).toMatchObject({ code: 0, stdout: '1 number added to the do-not-call list.\n' });
  expect(await readActs(env)).toHaveLength(1);
});

test('more numbers than a request of the API may have are added by one command', async () => {
  const { run, env } = commandFolder();
  const numbers = Array.from({ length: 1001 }, (_, index) => `+1212555${String(1000 + index)}`);
  expect(answerOf(await run('suppress', 'add', ...numbers, '--json'))).toEqual({ added: 1001, known: 0 });
  expect(answerOf(await run('suppress', 'remove', ...numbers, '--yes', '--json'))).toEqual({ removed: 1001, unknown: 0 });
  expect(await readActs(env)).toEqual(['suppressions_added', 'suppressions_removed'].map((action) => byCommand(accountScope, action)));
});

test('a field that an operation does not take is refused by its flag', async () => {
  const { run } = await createLedger();
  const long = 'x'.repeat(1001);
  expect(await run('suppress', 'add', number, '--reason', long)).toMatchObject({
    code: 2,
    stderr: '--reason cannot be used: write at most 1,000 characters.\n',
  });
  expect(await run('pause', 'spring', '--key', '')).toMatchObject({
    code: 2,
    stderr: '--key cannot be used: write at least 1 character.\n',
  });
  // Such a change may differ when it is repeated.
  for (const args of [
    ['withdraw', 'spring', '--file', 'ids.csv'],
    ['resolve', 'spring', '--row', '1', '--redial'],
  ])
    expect(await run(...args, '--yes', '--key', 'k1')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--key does not go with/) });
});

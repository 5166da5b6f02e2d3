import { expect, onTestFinished, test } from 'vitest';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EventEmitter, once } from 'node:events';
import { readConfig } from '../../../src/shared/config.ts';
import { createControl, openTemporal, withControl, type Control } from '../../../src/operations/control/control.ts';
import { startWay } from '../../world/way.ts';
import { sharedTemporal } from '../../support/temporal-for-tests.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { readCampaignFile } from '../../../src/campaign/file/file.ts';
import { checkCampaign, refuseUnstartable } from '../../../src/operations/control/check/check.ts';
import { checkedLedger } from '../../../src/operations/control/check/ledger.ts';
import { addToDoNotCall, checkDoNotCall } from '../../../src/operations/control/suppress.ts';
import { usualAssumptions } from '../../../src/campaign/preflight/campaign-forecast.ts';
import type { CheckedRow } from '../../../src/campaign/preflight/preflight.ts';
import { withLedgerAlone } from './ledger-control.ts';
import { adjustSharedLimits, readSharedLimits } from '../../../src/operations/control/adjust.ts';
import { noon as now, beginProven } from '../../ledger/scenario.ts';
import { readBeforeSteering, pause, steer } from '../../../src/operations/control/steer.ts';
import { createWorld } from '../../interfaces/cli/campaign-world.ts';
import { applyUpdate, findMissing, openUpdate, withdrawMissing, type ListUpdate } from '../../../src/operations/control/update.ts';
import { UpdateCounts } from '../../../src/operations/control/update-rows.ts';
import { withdraw } from '../../../src/operations/control/rows.ts';
import { idRules, listRows, numberOf } from '../../ledger/edit-world.ts';
import { ReadCache } from '../../../src/operations/control/read-cache.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('Temporal is connected at first use and once for all, and anew when the connection was lost', async () => {
  const { address, namespace } = await sharedTemporal();
  const proxy = await startWay(Number(address.split(':')[1]));
  onTestFinished(() => proxy.close());
  const env = { TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}`, TEMPORAL_NAMESPACE: namespace };
  const config = readConfig(env);
  let connections = 0;
  const connect = (limitMs?: number) => {
    connections += 1;
    return openTemporal(env, config, limitMs);
  };
  const control = createControl({ config, store: await openCleanStore('sqlite'), now: Date.now, connect });
  onTestFinished(() => control.close());
  expect(connections).toBe(0);

  const [first, second] = await Promise.all([control.temporal(), control.temporal()]);
  expect(second).toBe(first);
  connections = 0;
  expect(await control.temporal()).toBe(first);
  expect(connections).toBe(0);

  await proxy.refuse();
  await expect(control.temporal(500)).rejects.toMatchObject({ name: 'TemporalUnreachableError' });
  await proxy.heal();
  const anew = await control.temporal();
  expect(anew).not.toBe(first);
  expect(await control.temporal()).toBe(anew);
});

function starter(): string {
  const folder = temporaryFolder();
  cpSync(fileURLToPath(new URL('../../../examples/starter', import.meta.url)), folder, { recursive: true });
  return join(folder, 'campaign.yaml');
}

test('a check looks at a database that is open, leaves it open, and hands on every row with its verdict', () =>
  withLedgerAlone(async (control) => {
    const file = await readCampaignFile(starter());
    const look = { config: control.config, now: control.now(), file, assumptions: usualAssumptions };
    const seen: CheckedRow[] = [];
    const takeRows = async (rows: AsyncIterable<CheckedRow[]>): Promise<void> => {
      for await (const part of rows) seen.push(...part);
    };
    const alone = await checkCampaign({ ...look, openLedger: null, takeRows });
    refuseUnstartable(alone);
    expect(alone.report).toMatchObject({ rows: 5, ledger: { asked: false }, service: { asked: false } });
    const [first] = seen;
    expect(seen.map(({ excluded }) => excluded)).toEqual([null, null, null, null, null]);

    const number = first?.row.e164 ?? '';
    await addToDoNotCall(control, [number], { expiresAt: null, source: 'person' });
    const checked = await checkCampaign({ ...look, openLedger: (campaign) => checkedLedger(control, campaign) });
    expect(checked.report).toMatchObject({
      ledger: { asked: true },
      dialable: alone.report.dialable - 1,
      exclusions: [{ reason: 'suppressed', count: 1 }],
    });
    expect(await checkDoNotCall(control, [number])).toMatchObject({ numbers: [{ suppressed: true }] });
  }));

test('a share to keep free is refused where the account has no limit, and taken with one', () =>
  withLedgerAlone(async (control) => {
    await expect(adjustSharedLimits(control, { keepFree: 300 })).rejects.toMatchObject({
      name: 'NoLimitToShareError',
      isBadInput: true,
    });
    expect(await readSharedLimits(control)).toMatchObject({ maxConcurrentCalls: null, keepFree: 0 });
    const { changed, notice, limits } = await adjustSharedLimits(control, { maxConcurrentCalls: 30, keepFree: 300 });
    expect(changed.to).toEqual({ maxConcurrentCalls: 30, keepFree: 300 });
    expect({ notice, limits }).toMatchObject({ notice: null, limits: { maxConcurrentCalls: 30 } });
  }));

test('an entry of the do-not-call list that would be over already is refused, and nothing is added', () =>
  withLedgerAlone(async (control) => {
    const numbers = ['+12125550100'];
    await expect(addToDoNotCall(control, numbers, { expiresAt: now, source: 'person' })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('2030-01-15T12:00:00.000Z would be over'),
    });
    expect(await checkDoNotCall(control, numbers)).toMatchObject({ numbers: [{ suppressed: false, entries: [] }] });
    expect(await addToDoNotCall(control, numbers, { expiresAt: now + 1, source: 'person' })).toEqual({ added: 1, known: 0 });
    expect(await checkDoNotCall(control, numbers)).toMatchObject({ now, numbers: [{ suppressed: true }] });
  }));

test('a resume that was wished on sight of an earlier pause does not undo a later one', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 3, yaml: ['starts_at: 2099-01-01T00:00:00Z'] }));
  await world.work();
  const within = <Result>(work: (control: Control) => Promise<Result>) => withControl(world.terminal(), work);
  const wish = { campaignId: world.id, wish: 'resume' } as const;

  const told: string[] = [];
  const { campaign, notice } = await within((control) =>
    pause(control, { campaignId: world.id, onCommitted: ({ state }) => void told.push(state) }),
  );
  expect({ state: campaign.state, notice, told }).toEqual({
    state: 'paused',
    notice: null,
    told: ['paused'],
  });
  const { pausesSeen } = await within((control) => readBeforeSteering(control, world.id, 'resume'));
  await within((control) => steer(control, { ...wish, pausesSeen }));
  await within((control) => pause(control, { campaignId: world.id }));

  await expect(within((control) => steer(control, { ...wish, pausesSeen }))).rejects.toMatchObject({
    name: 'CampaignMessageError',
    message: `Campaign ${world.id} is PAUSED; nothing was changed.`,
  });
  await within((control) => steer(control, wish));
  expect(await within((control) => readBeforeSteering(control, world.id, 'cancel'))).toMatchObject({
    campaign: { state: 'scheduled' },
  });
  // A decision about an earlier round ends no later one, here or at its workflow.
  const before = { campaignId: world.id, round: 0 };
  const refused = {
    name: 'WrongStateError',
    message: expect.stringMatching(/is in round 1 now\. .* round 0, and nothing/),
  };
  await expect(within((control) => pause(control, before))).rejects.toMatchObject(refused);
  await expect(within((control) => steer(control, { ...before, wish: 'cancel' }))).rejects.toMatchObject(refused);
  expect(await within((control) => readBeforeSteering(control, world.id, 'cancel'))).toMatchObject({
    campaign: { state: 'scheduled' },
  });
  await within((control) => steer(control, { ...before, round: 1, wish: 'cancel' }));
});

const mode = { dryRun: false, add: false, restore: false };

async function openList(control: Control, lines: readonly string[]): Promise<ListUpdate> {
  const path = join(temporaryFolder(), 'list.csv');
  writeFileSync(path, `phone,name,id\n${lines.join('\n')}\n`);
  await beginProven(control.store, { rows: listRows(3), rules: idRules });
  return openUpdate(control, { campaignId: 'spring', path });
}

async function apply(control: Control, update: ListUpdate): Promise<UpdateCounts> {
  const counts = new UpdateCounts();
  for await (const rows of applyUpdate(control, update, mode)) counts.add(rows);
  return counts;
}

test('a list is applied and counted, and the rows that it does not have are withdrawn', () =>
  withLedgerAlone(async (control) => {
    const update = await openList(control, [`${numberOf(0)},Guest id0,id0`, `${numberOf(7)},New,id7`, 'no number,Bad,id1']);
    const counts = await apply(control, update);
    expect(counts.summary()).toMatchObject({ rows: 3, accepted: 1, failed: 1, mayStillBeCalled: 1 });
    const missing = await findMissing(control, update);
    expect(missing).toEqual([3]);
    expect(await withdrawMissing(control, update, { missing, dryRun: true })).toEqual({ withdrawn: 1, withdrawing: 0, callOpen: 0 });
    expect(await withdrawMissing(control, update, { missing, dryRun: false })).toEqual({ withdrawn: 1, withdrawing: 0, callOpen: 0 });
    expect(await findMissing(control, update)).toEqual([]);
  }));

test('nobody is withdrawn for want of a row in a list that was read in part, or that has rows without an id', () =>
  withLedgerAlone(async (control) => {
    const update = await openList(control, [`${numberOf(0)},Guest id0,id0`, `${numberOf(1)},Guest id1,`]);
    await expect(findMissing(control, update)).rejects.toThrow('read to its end');
    await apply(control, update);
    const missing = await findMissing(control, update);
    expect(missing).toEqual([2, 3]);
    await expect(withdrawMissing(control, update, { missing, dryRun: false })).rejects.toMatchObject({
      name: 'UnreadableIdsError',
      message: expect.stringContaining('1 row of the list has no readable id'),
    });
    expect(await findMissing(control, update)).toEqual([2, 3]);
  }));

test('rows are named by number where the campaign has no ids, and a change that is not told is committed all the same', () =>
  withLedgerAlone(async (control) => {
    await beginProven(control.store, { rows: listRows(2) });
    const input = { campaignId: 'spring', note: null, dryRun: false };
    await expect(withdraw(control, { ...input, named: { ids: ['id0'] } })).rejects.toMatchObject({
      name: 'EditRefusedError',
      remedy: { kind: 'name_rows' },
    });
    const { results, notice } = await withdraw(control, { ...input, named: { rows: [2, 9] } });
    expect(results.map(({ key, result }) => [key, result])).toEqual([
      [2, 'withdrawn'],
      [9, 'not_found'],
    ]);
    expect(notice).toContain('127.0.0.1:1');
  }));

test('a reading that takes too long is not waited for, and is there for a later look', async () => {
  const cache = new ReadCache();
  const database = new EventEmitter();
  let made = 0;
  const look = (withinMs: number) =>
    cache.readWithin(withinMs, 'key', async () => {
      made += 1;
      return once(database, 'answer');
    });
  expect(await look(1)).toBeNull();
  database.emit('answer', 'read');
  expect(await look(60_000)).toEqual(['read']);
  expect(made).toBe(1);
});

test('a reading that fails after nobody waits for it any more fails nothing else, and is begun anew', async () => {
  const cache = new ReadCache();
  const database = new EventEmitter();
  const answer = once(database, 'answer');
  expect(await cache.readWithin(1, 'key', () => answer)).toBeNull();
  database.emit('error', new Error('the database is away'));
  await expect(answer).rejects.toThrow('the database is away');
  expect(await cache.readWithin(60_000, 'key', async () => ['read'])).toEqual(['read']);
});

test('what keeps the process busy begins when somebody has been answered, and once however many ask', async () => {
  const cache = new ReadCache();
  let made = 0;
  const look = async () => cache.readWithin(0, 'key', async () => (made += 1));
  expect(await Promise.all([look(), look()])).toEqual([null, null]);
  expect(made).toBe(0);
  await cache.beginLater();
  expect(made).toBe(1);
  expect(await look()).toBe(1);
});

test('what was costly to read is given out once more, and read anew when somebody has been answered', async () => {
  let at = 0;
  const cache = new ReadCache(() => at);
  let made = 0;
  const look = async () =>
    cache.read('key', async () => {
      at += 100;
      return (made += 1);
    });
  expect(await look()).toBe(1);
  at += 60_000;
  expect([await look(), await look(), made]).toEqual([1, 1, 1]);
  await cache.beginLater();
  expect([await look(), made]).toEqual([2, 2]);
});

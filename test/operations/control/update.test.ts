import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Control } from '../../../src/operations/control/control.ts';
import { applyUpdate, findMissing, openUpdate, withdrawMissing, type ListUpdate } from '../../../src/operations/control/update.ts';
import { UpdateCounts } from '../../../src/operations/control/update-rows.ts';
import { withdraw } from '../../../src/operations/control/rows.ts';
import { idRules, listRows, numberOf } from '../../ledger/edit-world.ts';
import { beginProven } from '../../ledger/scenario.ts';
import { withLedgerAlone } from './ledger-control.ts';

const mode = { dryRun: false, add: false, restore: false };

/** Opens a list of these lines for a campaign of the rows id0, id1 and id2. */
async function openList(control: Control, lines: readonly string[]): Promise<ListUpdate> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-update-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'list.csv');
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
    expect(await withdrawMissing(control, update, { missing, dryRun: true })).toEqual({ withdrawn: 1, callOpen: 0 });
    expect(await withdrawMissing(control, update, { missing, dryRun: false })).toEqual({ withdrawn: 1, callOpen: 0 });
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
    expect(notice).toMatchObject({ told: false, campaignId: 'spring', why: expect.stringContaining('127.0.0.1:1') });
  }));

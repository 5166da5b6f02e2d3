import { expect, test } from 'vitest';
import { adjustSharedLimits, readSharedLimits } from '../../../src/operations/control/adjust.ts';
import { addToDoNotCall, checkDoNotCall } from '../../../src/operations/control/suppress.ts';
import { noon as now } from '../../ledger/scenario.ts';
import { withLedgerAlone } from './ledger-control.ts';

test('a share to keep free is refused where the account has no limit, and taken with one', () =>
  withLedgerAlone(async (control) => {
    await expect(adjustSharedLimits(control, { keepFree: 300 })).rejects.toMatchObject({
      name: 'NoLimitToShareError',
      isBadInput: true,
    });
    expect(await readSharedLimits(control)).toMatchObject({ maxConcurrentCalls: null, keepFree: 0 });
    const { changed, notice, limits } = await adjustSharedLimits(control, { maxConcurrentCalls: 30, keepFree: 300 });
    expect(changed.to).toEqual({ maxConcurrentCalls: 30, keepFree: 300 });
    expect({ notice, limits }).toMatchObject({ notice: { told: true }, limits: { maxConcurrentCalls: 30 } });
  }));

test('an entry of the do-not-call list that would be over already is refused, and nothing is added', () =>
  withLedgerAlone(async (control) => {
    const numbers = ['+12125550100'];
    await expect(addToDoNotCall(control, numbers, { expiresAt: now })).rejects.toMatchObject({
      name: 'UsageError',
      message: expect.stringContaining('2030-01-15T12:00:00.000Z would be over'),
    });
    expect(await checkDoNotCall(control, numbers)).toMatchObject({ numbers: [{ suppressed: false, entries: [] }] });
    expect(await addToDoNotCall(control, numbers, { expiresAt: now + 1 })).toEqual({ added: 1, known: 0 });
    expect(await checkDoNotCall(control, numbers)).toMatchObject({ now, numbers: [{ suppressed: true }] });
  }));

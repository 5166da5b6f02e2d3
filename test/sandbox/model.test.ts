import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { operationNames } from '../../src/sandbox/core/operations.ts';
import { seedFactor } from '../support/depth.ts';
import { startTestSandbox } from './harness.ts';
import { anyCommand } from './model/commands.ts';
import { ModelledCaller } from './model/modelled-caller.ts';

test.each(['spec', 'extended'] as const)(
  'whatever is asked in whatever order, the %s dialect answers as described and its state is that of the contract',
  async (dialect) => {
    // So many lines that every call is dialled, with its record, at once.
    const sandbox = await startTestSandbox({ dialect, seedData: false, concurrency: 10_000, rateLimit: { requestsPerSecond: null } });
    const caller = new ModelledCaller(sandbox, dialect);
    await fc.assert(
      fc.asyncProperty(fc.commands(anyCommand, { maxCommands: 22, size: 'max' }), async (commands) => {
        await caller.startOver();
        await fc.asyncModelRun(() => ({ model: {}, real: caller }), commands);
        await caller.readEverything();
      }),
      { seed: 14, numRuns: 45 * seedFactor },
    );
    expect([...caller.asked].sort()).toEqual([...operationNames].sort());
  },
);

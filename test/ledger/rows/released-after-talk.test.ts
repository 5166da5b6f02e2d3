import { expect, test } from 'vitest';
import type { AttemptResult, Disposition } from '../../../src/rules/disposition.ts';
import { endCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { violations } from '../edit-world.ts';
import { beginProven, noon, numbers, type Scenario } from '../scenario.ts';
import { dialects } from '../test-stores.ts';

async function settle(scenario: Scenario, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result: AttemptResult = { disposition, detail: null, counted: true };
  await scenario.store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

const talks = dialects.flatMap((dialect) => (['answered', 'opted_out'] as const).map((disposition) => [dialect, disposition] as const));

test.for(talks)(
  'who was reached by a call before has that outcome when a later one is given back: %s, %s',
  async ([dialect, disposition]) => {
    const scenario = await beginProven(await openCleanStore(dialect), {
      rows: buildRows(numbers(1), (index) => `Guest ${index}`),
    });
    const { store } = scenario;
    await scenario.dial(1);
    await settle(scenario, 'spring/1/1', 'unreached', noon + minuteMs);
    const again = await scenario.lookAgain(noon + hourMs);
    expect(await scenario.plan(2, again)).toMatchObject({ kind: 'batch' });
    expect(await scenario.post(2, again)).toMatchObject({ kind: 'post' });
    expect(await scenario.post(2, again)).toEqual({ kind: 'verdict', state: 'unknown' });
    // The record of the first call comes while nobody knows of the second.
    await settle(scenario, 'spring/1/1', disposition, again + minuteMs);
    expect(await scenario.recipients()).toMatchObject([{ state: 'open', outcome: null }]);
    await scenario.verdict(2, 'not_sent', { now: again + 2 * minuteMs });
    const outcome = disposition === 'answered' ? 'completed' : 'opted_out';
    expect(await scenario.recipients()).toMatchObject([{ state: 'done', outcome, reason: 'reached_by_earlier_attempt' }]);
    await endCampaign(store, { campaignId: 'spring', now: again + 3 * minuteMs }, { why: 'cancelled' });
    expect(await scenario.plan(3, again + 3 * minuteMs)).toEqual({ kind: 'done' });
    expect(await closeRound(store, { campaignId: 'spring', now: again + 3 * minuteMs }, 1)).toBe(true);
    expect(await scenario.recipients()).toMatchObject([{ state: 'done', outcome }]);
    expect(await violations(store)).toEqual([]);
  },
);

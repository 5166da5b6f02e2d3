import { expect, test } from 'vitest';
import { countOutstanding } from '../../../src/ledger/limits/counters.ts';
import { closeRound, findRound } from '../../../src/ledger/campaign/rounds.ts';
import { answered, beginCampaign, noon } from '../scenario.ts';
import { dialects, openTestStore } from '../test-stores.ts';

test.each(dialects)(
  'a batch whose records were all read before its answer was lost is accepted, not unknown (%s)',
  async (dialect) => {
    const store = await openTestStore(dialect);
    const scenario = await beginCampaign(store);
    await scenario.plan(1);
    const step = await scenario.post(1);
    if (step.kind !== 'post') throw new Error('not posted');
    const records = step.calls.map((call, index) => answered(`conv_${index}`, call.e164, noon + 5_000));
    await scenario.sweep(noon + 60_000, records);
    await scenario.verdict(1, 'unknown', { now: noon + 70_000 });

    expect(await scenario.batch(1)).toMatchObject({ state: 'confirmed', accepted_by: 'evidence' });
    const round = await store.db.selectFrom('rounds').select('unknown_streak').executeTakeFirstOrThrow();
    expect(round.unknown_streak).toBe(0);

    // Nothing is left over that would keep the campaign from ending.
    await scenario.sweep(noon + 3_600_000, records);
    expect(await countOutstanding(store.db, 'spring')).toEqual({ open: 0, unread: 0, undecided: 0 });
    expect((await scenario.attempts()).every((attempt) => attempt.state === 'settled')).toBe(true);
    expect(await closeRound(store, { campaignId: 'spring', now: noon + 3_600_000 }, 1)).toBe(true);
    expect((await findRound(store.db, 'spring', 1))?.endedAt).toBe(noon + 3_600_000);
  },
);

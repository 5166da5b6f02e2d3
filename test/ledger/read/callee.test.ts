import { expect, test } from 'vitest';
import { readCallee } from '../../../src/ledger/read/callee.ts';
import { readCampaignView } from '../../../src/ledger/read/campaign-view.ts';
import { addSuppressions } from '../../../src/ledger/rows/suppressions.ts';
import { buildRows, hourMs, minuteMs } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../clean-store.ts';
import { answered, beginCampaign, beginProven, noon, numbers } from '../scenario.ts';
import { bothDialects } from '../test-stores.ts';

const [one = '', two = ''] = numbers(2);

test.for(bothDialects)('of a number it is told what was decided, by which rule, and what comes next: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const zoned = buildRows(numbers(2), (index) => `Guest ${index}`).map((row) => ({
    ...row,
    zones: ['Europe/London'],
  }));
  const allDay = [{ from: 9 * 60, to: 13 * 60 }];
  const hours = { mon: allDay, tue: allDay, wed: allDay };
  const scenario = await beginProven(store, { rows: zoned, rules: { calendar: { hours, closedOn: [] } } });
  const { db } = store;
  expect(await readCallee(db, '+12125550199', noon)).toBeNull();
  expect((await readCallee(db, one, noon))?.rows[0]?.verdict).toEqual({ verdict: 'dial' });
  await scenario.dial(1);
  const busy = { callResult: 'busy', userTurns: 0, agentTurns: 0, collected: null } as const;
  await scenario.sweep(noon + minuteMs, [{ ...answered('conv_1', one, noon + 5_000), ...busy }, answered('conv_2', two, noon + 5_000)]);
  await beginCampaign(store, { campaignId: 'summer', rows: buildRows([one], () => 'Guest'), now: noon + minuteMs });

  const callee = await readCallee(db, one, noon + 2 * minuteMs);
  expect(callee?.rows.map(({ campaign, calls }) => [campaign.campaignId, calls.length])).toEqual([
    ['summer', 0],
    ['spring', 1],
  ]);
  const [, spring] = callee?.rows ?? [];
  expect(spring?.calls[0]).toMatchObject({ attempt: { disposition: 'busy' }, facts: { conversationId: 'conv_1' } });
  // The delay of the retry ends within the hours.
  expect(spring?.verdict).toMatchObject({ verdict: 'wait', until: spring?.recipient.due_at });
  expect(callee?.events.map(({ type }) => type)).toEqual(['attempt.planned', 'attempt.posted', 'attempt.matched', 'attempt.settled']);
  const late = await readCallee(db, one, noon + 2 * hourMs);
  expect(late?.rows[1]?.verdict).toMatchObject({ verdict: 'wait', reason: 'outside_hours' });

  const entry = { e164: one, scope: 'account', source: 'person', reason: 'asked by letter', expiresAt: null };
  await addSuppressions(store, [entry], noon + 3 * minuteMs);
  const stopped = await readCallee(db, one, noon + 4 * minuteMs);
  expect(stopped?.suppressions).toMatchObject([{ scope: 'account', reason: 'asked by letter' }]);
  expect(stopped?.rows[1]?.verdict).toMatchObject({ verdict: 'final', outcome: 'suppressed' });
});

test.for(bothDialects)('a view tells what only a person can set right: %s', async (dialect) => {
  const scenario = await beginProven(await openCleanStore(dialect));
  const { db } = scenario.store;
  const needs = async () => (await readCampaignView(db, await scenario.campaign(), noon)).needs;
  expect(await needs()).toEqual([]);
  await db
    .updateTable('campaigns')
    .set({ state: 'paused', state_reason: '20 of the 20 calls failed' })
    .where('campaign_id', '=', 'spring')
    .execute();
  expect(await needs()).toEqual([{ kind: 'paused', reason: '20 of the 20 calls failed' }]);
});

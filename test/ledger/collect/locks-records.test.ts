import { sql } from 'kysely';
import { expect } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { storeRead } from '../../../src/ledger/doubt/conversations.ts';
import { storeListed } from '../../../src/ledger/collect/listed-records.ts';
import { matchRecords } from '../../../src/ledger/collect/matching.ts';
import { settleRead } from '../../../src/ledger/collect/record-results.ts';
import { lockCampaignsOf } from '../../../src/ledger/locks.ts';
import { conversationRecord } from '../../rules/conversation-record.ts';
import { buildRows, buildRules, minuteMs } from '../../support/campaign-rules.ts';
import { until } from '../../support/until.ts';
import { agentId, answered, beginProven, noon, numbers } from '../scenario.ts';
import { countWaiting, gate, hold, openTwo } from '../two-processes.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test } from '../ledger-test.ts';

const [first = ''] = numbers(1);
const { timing } = buildRules();
const listing = { oursSince: 0, listens: false, offsetMs: 0 };
const reading = { analysisWaitMs: 900_000, ringLimitMs: 60_000, optOut: [], offsetMs: 0 };

async function placeCall(store: Store) {
  const scenario = await beginProven(store, { rows: buildRows([first], () => 'Guest') });
  const [attemptId = ''] = await scenario.dial(1);
  const record = answered('conversation_1', first, noon + 5_000);
  const facts = conversationRecord({ agentId, ...record });
  const going: ConversationFacts = {
    ...facts,
    status: 'in-progress',
    endedAt: null,
    durationMs: null,
    callResult: null,
  };
  await store.transaction((tx) => storeListed(tx, [going], { agentId, ...listing, now: noon + minuteMs }));
  return { scenario, attemptId, facts };
}

function read(store: Store, facts: ConversationFacts, beforeCommit?: () => Promise<void>): Promise<void> {
  return store.transaction(async (tx) => {
    await settleRead(tx, facts.conversationId, {
      clock: () => noon + 2 * minuteMs,
      write: (now) => storeRead(tx, facts.conversationId, { facts, ...reading, now }),
    });
    await beforeCommit?.();
  });
}

function match(store: Store, beforeCommit?: () => Promise<void>): Promise<void> {
  return store.transaction(async (tx) => {
    await lockCampaignsOf(tx, agentId);
    await matchRecords(tx, agentId, {
      clock: { offsetMs: 0, uncertaintyMs: 500 },
      since: 0,
      timing,
      now: noon + 2 * minuteMs,
    });
    await beforeCommit?.();
  });
}

const settledAsAnswered = [{ state: 'settled', disposition: 'answered' }];

test.postgres('a record that is read to its end between the look and the claim of a sweep is settled', async () => {
  const [sweeper, reader] = await openTwo();
  const { scenario, facts } = await placeCall(sweeper);
  const [stored, release] = [gate(), gate()];
  const done = read(reader, facts, () => {
    stored.open();
    return release.passed;
  });
  await stored.passed;
  const matched = match(sweeper);
  await until('the claim waits for the read', async () => (await countWaiting(reader)) === 1);
  release.open();
  await Promise.all([done, matched]);
  expect(await scenario.attempts()).toMatchObject(settledAsAnswered);
  const counted = await sweeper.db.selectFrom('aggregates').select('count').where('kind', '=', 'collected').execute();
  expect(counted).toEqual([{ count: 1 }]);
});

test.postgres('a record that gets its owner while it is read to its end is settled under the lock of its campaign', async () => {
  const [sweeper, reader] = await openTwo();
  const { scenario, facts } = await placeCall(sweeper);
  const [claimed, release] = [gate(), gate()];
  const matched = match(sweeper, () => {
    claimed.open();
    return release.passed;
  });
  await claimed.passed;
  const campaign = hold(reader, sql`select 1 from campaigns for update`);
  const done = read(reader, facts);
  await until('the read waits for the claim', async () => (await countWaiting(sweeper)) === 2);
  release.open();
  await matched;
  const giveBack = await campaign;
  await until('the read waits for the campaign', async () => (await countWaiting(sweeper)) === 1);
  expect(await scenario.attempts()).toMatchObject([{ state: 'open' }]);
  // It has let go of the record: campaigns are locked first.
  await sweeper.transaction((tx) => sql`select 1 from conversations for update nowait`.execute(tx));
  await giveBack();
  await done;
  expect(await scenario.attempts()).toMatchObject(settledAsAnswered);
});

test.postgres('of two reads of a record at once neither loses what only the other one told', async () => {
  const [slow, fast] = await openTwo();
  const { facts } = await placeCall(fast);
  const [stored, release] = [gate(), gate()];
  const early = read(fast, { ...facts, batchId: 'batch_1' }, () => {
    stored.open();
    return release.passed;
  });
  await stored.passed;
  const late = read(slow, facts);
  await until('the slow one waits', async () => (await countWaiting(fast)) === 1);
  release.open();
  await Promise.all([early, late]);
  const record = await fast.db.selectFrom('conversations').select(['reads', 'facts']).executeTakeFirstOrThrow();
  expect(record.reads).toBe(2);
  expect((JSON.parse(record.facts) as ConversationFacts).batchId).toBe('batch_1');
});

test.postgres('of two reads of a record the slower one does not take back that it is final', async () => {
  const [slow, fast] = await openTwo();
  const { scenario, attemptId, facts } = await placeCall(fast);
  await match(fast);
  const campaign = await hold(fast, sql`select 1 from campaigns for update`);
  const late = read(slow, { ...facts, status: 'in-progress', endedAt: null, durationMs: null });
  await until('the slow one waits', async () => (await countWaiting(fast)) === 1);
  const early = read(fast, facts);
  await until('the fast one waits', async () => (await countWaiting(fast)) === 2);
  await campaign();
  await Promise.all([late, early]);
  await read(slow, { ...facts, status: 'in-progress', endedAt: null, durationMs: null });
  const record = fast.db.selectFrom('conversations').select(['attempt_id', 'final']);
  expect(await record.execute()).toEqual([{ attempt_id: attemptId, final: 1 }]);
  expect(await scenario.attempts()).toMatchObject(settledAsAnswered);
});

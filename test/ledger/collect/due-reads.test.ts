import { expect } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { listDueReads, storeRead } from '../../../src/ledger/doubt/conversations.ts';
import { pauseBetweenLooks, readAgentRecords } from '../../../src/ledger/doubt/agent-records.ts';
import { storeListed } from '../../../src/ledger/collect/listed-records.ts';
import { conversationRecord } from '../../rules/conversation-record.ts';
import { minuteMs } from '../../support/campaign-rules.ts';
import { agentId, answered, begin, noon, numbers } from '../scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test, openLedger } from '../ledger-test.ts';

const [first = ''] = numbers(1);
const pacing = { batchSize: 1, refillThreshold: 1, maxConcurrentCalls: 2 };
const whole = conversationRecord({ agentId, ...answered('conversation_1', first, noon + 5_000) });
const going: ConversationFacts = { ...whole, status: 'in-progress', endedAt: null, durationMs: null, callResult: null };
/** Over, and not yet analysed. */
const over: ConversationFacts = { ...whole, status: 'processing' };

async function list(store: Store, facts: ConversationFacts, now: number): Promise<string[]> {
  const { isShared } = await readAgentRecords(store.db, agentId);
  await store.transaction((tx) => storeListed(tx, [facts], { agentId, oursSince: 0, listens: false, isShared, offsetMs: 0, now }));
  return listDueReads(store.db, agentId, { now, undecidedSince: null, limit: 10 });
}

async function read(store: Store, facts: ConversationFacts, now: number): Promise<void> {
  const reading = { analysisWaitMs: 15 * minuteMs, ringLimitMs: minuteMs, optOut: [], offsetMs: 0 };
  await store.transaction((tx) => storeRead(tx, facts.conversationId, { facts, ...reading, now }));
}

test.from(openLedger)('a record of the one campaign of its agent is read when it is complete', async (store) => {
  await (await begin(store, 'spring', pacing, 2)).dial(1);
  expect(await list(store, going, noon + 10_000)).toEqual([]);
  expect(await list(store, over, noon + 40_000)).toEqual([]);
  expect(await list(store, whole, noon + 48_000)).toEqual(['conversation_1']);
});

test('while several campaigns wait for records, they look twice as often, and one that shows the end of its call is read at once', async (dialect) => {
  const store = await openLedger(dialect);
  const spring = await begin(store, 'spring', pacing, 2);
  const { timing } = (await spring.campaign()).rules;
  await spring.dial(1);
  expect(await pauseBetweenLooks(store.db, { agentId, timing })).toBe(timing.pollMs);
  await (await begin(store, 'summer', pacing, 2, 2)).dial(1);
  expect(await pauseBetweenLooks(store.db, { agentId, timing })).toBe(timing.pollMs / 2);
  expect(await list(store, going, noon + 10_000)).toEqual([]);
  expect(await list(store, over, noon + 40_000)).toEqual(['conversation_1']);
  await read(store, over, noon + 40_000);
  expect(await list(store, over, noon + 44_000)).toEqual([]);
  expect(await list(store, whole, noon + 48_000)).toEqual(['conversation_1']);
});

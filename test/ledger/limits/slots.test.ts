import { beforeEach, expect } from 'vitest';
import { countOnLine, countOpen } from '../../../src/ledger/limits/counters.ts';
import { readOvertaken } from '../../../src/ledger/doubt/conversations.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test } from '../ledger-test.ts';
import { openTestStore } from '../test-stores.ts';

const posted = 1_000_000;
let store: Store;
let made = 0;

beforeEach(async () => {
  store = await openTestStore('sqlite');
});

async function addAttempt(campaignId: string, conversationId: string | null = null): Promise<string> {
  const name = `${campaignId}/${(made += 1)}`;
  await store.db
    .insertInto('attempts')
    .values({
      attempt_id: name,
      recipient_id: name,
      campaign_id: campaignId,
      batch_id: `${campaignId}/1/1`,
      position: made,
      number: 1,
      agent_id: 'agent',
      e164: `+1212555${String(100 + made).padStart(4, '0')}`,
      state: 'open',
      reference: null,
      opening_line: null,
      planned_at: posted,
      posted_at: posted,
      settled_at: null,
      disposition: null,
      detail: null,
      counted: 0,
      reason: null,
      conversation_id: conversationId,
      evidence: null,
    })
    .execute();
  return name;
}

async function addRecord(record: { over: boolean; attemptId?: string; startedAt?: number }): Promise<string> {
  const id = `conv-${(made += 1)}`;
  await store.db
    .insertInto('conversations')
    .values({
      conversation_id: id,
      agent_id: 'agent',
      attempt_id: record.attemptId ?? null,
      first_seen_at: posted,
      started_at: record.startedAt ?? posted,
      facts: '{}',
      finished: 0,
      finished_at: record.over ? posted + 60_000 : null,
      final: 0,
      gone: 0,
      reads: 0,
      unchanged_reads: 0,
      unchanged_since: null,
      next_read_at: posted + 600_000,
    })
    .execute();
  return id;
}

const onLine = (now = posted + 60_000) => countOnLine(store.db, { campaignId: 'a', agentId: 'agent', now });

test.sqlite('a call that its unread record shows to be over holds no slot although its attempt is open', async () => {
  for (const over of [true, false, false]) {
    await addAttempt('a');
    await addRecord({ over });
  }
  expect(await countOpen(store.db, 'a')).toBe(3);
  expect(await onLine()).toBe(2);
  // What another worker saw a moment later does not count yet: the log would tell of too many calls.
  expect(await onLine(posted + 59_999)).toBe(3);
});

test.sqlite('a call that its own record shows to be over holds no slot while its results are awaited', async () => {
  const conversation = await addRecord({ over: true, attemptId: 'a/1' });
  await addAttempt('a', conversation);
  await addAttempt('a');
  await store.db
    .updateTable('conversations')
    .set({ attempt_id: `a/${made - 1}` })
    .execute();
  expect(await onLine()).toBe(1);
  expect(await onLine(posted + 59_999)).toBe(2);
});

test.sqlite('unread records free no slot when there are more of them than calls without one', async () => {
  await addAttempt('a');
  await addRecord({ over: true });
  await addRecord({ over: true });
  expect(await onLine()).toBe(1);
});

test.sqlite('unread records free no slot while another campaign of the agent waits for its own', async () => {
  await addAttempt('a');
  await addAttempt('b');
  await addRecord({ over: true });
  expect(await onLine()).toBe(1);
});

test.sqlite('a record from before the campaign dialled frees no slot', async () => {
  await addAttempt('a');
  await addRecord({ over: true, startedAt: posted - 60_000 });
  expect(await onLine()).toBe(1);
});

test.sqlite('a record below the part of the list that was read is read by itself within a minute', async () => {
  const below = await addRecord({ over: false, startedAt: posted - 60_000 });
  const listed = await addRecord({ over: false, startedAt: posted });
  await store.transaction((tx) => readOvertaken(tx, 'agent', { oldestListed: posted, now: posted }));
  const rows = await store.db.selectFrom('conversations').select(['conversation_id', 'next_read_at']).execute();
  expect(new Map(rows.map((row) => [row.conversation_id, row.next_read_at - posted]))).toEqual(
    new Map([
      [below, 60_000],
      [listed, 600_000],
    ]),
  );
});

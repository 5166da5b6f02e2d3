import { beforeEach, expect } from 'vitest';
import { countOnLine, countOpen } from '../../../src/ledger/limits/counters.ts';
import { readOvertaken } from '../../../src/ledger/doubt/conversations.ts';
import type { Store } from '../../../src/ledger/tx.ts';
import { test } from '../ledger-test.ts';
import { openCleanStore } from '../clean-store.ts';
import { agentId, noon, insertAttempt, insertRecord } from '../scenario.ts';

let store: Store;
let made = 0;

beforeEach(async () => {
  store = await openCleanStore('sqlite');
});

async function addAttempt(campaignId: string, conversationId: string | null = null): Promise<void> {
  const name = `${campaignId}/${(made += 1)}`;
  const e164 = `+1212555${String(100 + made).padStart(4, '0')}`;
  await insertAttempt(store, { attempt_id: name, campaign_id: campaignId, e164, conversation_id: conversationId });
}

async function addRecord(record: { over: boolean; attemptId?: string; startedAt?: number }): Promise<string> {
  const id = `conv-${(made += 1)}`;
  const { over, attemptId, startedAt = noon } = record;
  const owner = attemptId === undefined ? {} : { attempt_id: attemptId };
  await insertRecord(store, id, { ...owner, started_at: startedAt, finished_at: over ? noon + 60_000 : null });
  return id;
}

const onLine = (now = noon + 60_000) => countOnLine(store.db, { campaignId: 'a', agentId, now });

test.sqlite('a call that its unread record shows to be over holds no slot although its attempt is open', async () => {
  for (const over of [true, false, false]) {
    await addAttempt('a');
    await addRecord({ over });
  }
  expect(await countOpen(store.db, 'a')).toBe(3);
  expect(await onLine()).toBe(2);
  // What another worker saw a moment later does not count yet: the log would show too many calls.
  expect(await onLine(noon + 59_999)).toBe(3);
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
  expect(await onLine(noon + 59_999)).toBe(2);
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
  await addRecord({ over: true, startedAt: noon - 60_000 });
  expect(await onLine()).toBe(1);
});

test.sqlite('a record below the part of the list that was read is read by itself within a minute', async () => {
  const below = await addRecord({ over: false, startedAt: noon - 60_000 });
  const listed = await addRecord({ over: false, startedAt: noon });
  await store.transaction((tx) => readOvertaken(tx, agentId, { oldestListed: noon, now: noon }));
  const rows = await store.db.selectFrom('conversations').select(['conversation_id', 'next_read_at']).execute();
  expect(new Map(rows.map((row) => [row.conversation_id, row.next_read_at - noon]))).toEqual(
    new Map([
      [below, 60_000],
      [listed, 3_600_000],
    ]),
  );
});

import { expect, test } from 'vitest';
import { isFull } from '../support/depth.ts';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from './harness.ts';

const list = '/v1/convai/conversations';
const numbers = plainNumbers(isFull ? 300 : 120);
const batches = Array.from({ length: numbers.length / 10 }, (_, index) => numbers.slice(index * 10, index * 10 + 10));
const half = batches.length / 2;

/** All ids in the order in which they came. */
async function walk(sandbox: TestSandbox, pageSize: number, agentId?: string): Promise<string[]> {
  const filter = agentId === undefined ? '' : `&agent_id=${agentId}`;
  const ids: string[] = [];
  for (let cursor = ''; ;) {
    const { status, body } = await sandbox.get(`${list}?page_size=${pageSize}${filter}${cursor}`);
    expect(status).toBe(200);
    ids.push(...body.conversations.map((entry: Json) => entry.conversation_id));
    if (!body.has_more) return ids;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

/** Walks while something else goes on, at least once. */
async function walksDuring(sandbox: TestSandbox, pageSizes: number[], work: Promise<unknown>): Promise<string[][]> {
  const done = new AbortController();
  const end = work.finally(() => done.abort());
  const walks: string[][] = [];
  const readers = pageSizes.map(async (pageSize) => {
    do walks.push(await walk(sandbox, pageSize));
    while (!done.signal.aborted);
  });
  await Promise.all([end, ...readers]);
  return walks;
}

test.each(['newest_first', 'oldest_first'] as const)(
  'of hundreds of calls in requests of ten at once each has its record, and none twice, whoever pages meanwhile (%s)',
  async (listOrder) => {
    const sandbox = await startTestSandbox({ listOrder, concurrency: 40, rateLimit: { requestsPerSecond: null } });
    const answers: Json[] = [];
    const place = Promise.all(batches.map(async (batch) => answers.push((await sandbox.batch(batch)).body)));
    const walks = await walksDuring(sandbox, [1, 3, 7, 30, 100], place);
    expect(new Set(answers.map(({ batch_id: id }) => id)).size).toBe(batches.length);
    expect(answers.map(({ calls_initiated: count }) => count)).toEqual(answers.map(() => 10));
    // Lines become free as time goes on, so that records are made while pages are read.
    for (let hour = 0; hour < 10; hour += 1) {
      const under = [walk(sandbox, 9), walk(sandbox, 4)];
      sandbox.clock.advance(180_000);
      walks.push(...(await Promise.all(under)));
    }
    for (const ids of walks) expect(new Set(ids).size).toBe(ids.length);
    sandbox.clock.advance(3_600_000);
    const ids = await walk(sandbox, 7);
    expect(new Set(ids).size).toBe(numbers.length);
    expect(ids).toHaveLength(numbers.length);
    const calls = sandbox.calls();
    expect(calls.map(({ to }) => to).sort()).toEqual(numbers.toSorted());
    expect(new Set(calls.map(({ conversationId }) => conversationId))).toEqual(new Set(ids));
    const called = await Promise.all(ids.map(async (id) => await sandbox.read(`${list}/${id}`)));
    expect(new Set(called.map(({ metadata }) => metadata.phone_call.external_number))).toEqual(new Set(numbers));
    expect(await walk(sandbox, 100, 'agent_reminders')).toEqual(ids);
  },
);

test('records that are deleted while pages are read are missing in no other place', async () => {
  const sandbox = await startTestSandbox({ concurrency: 1_000, rateLimit: { requestsPerSecond: null } });
  await Promise.all(batches.slice(0, half).map((batch) => sandbox.batch(batch)));
  const before = await walk(sandbox, 100);
  const gone = new Set(before.filter((_, index) => index % 3 === 0));
  const work = Promise.all([
    ...[...gone].map(async (id) => {
      const answers = await Promise.all([1, 2].map(() => sandbox.delete(`${list}/${id}`)));
      // Of two that delete one record at once, one does.
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 404]));
    }),
    ...batches.slice(half).map((batch) => sandbox.batch(batch)),
  ]);
  const walks = await walksDuring(sandbox, [2, 5, 11, 50], work);
  const kept = before.filter((id) => !gone.has(id));
  for (const ids of walks) {
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => kept.includes(id))).toEqual(kept);
  }
  const after = await walk(sandbox, 13);
  expect(after).toHaveLength(numbers.length - gone.size);
  expect(after.filter((id) => gone.has(id))).toEqual([]);
  for (const id of gone) expect((await sandbox.get(`${list}/${id}`)).status).toBe(404);
});

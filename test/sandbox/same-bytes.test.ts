import { createHash } from 'node:crypto';
import { fetch } from 'undici';
import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { plainNumbers, startTestSandbox, type Json } from './harness.ts';

const numbers = [...plainNumbers(12), '+12125550100', '+12125550103', '+12125550107', '+12125550108', '+12125550111'];
const day = 24 * 3_600_000;

interface Run {
  /** Of everything that was answered, in order. */
  answers: string;
  /** Per number and dial: the bytes of its transcript, its recording and its ids. */
  calls: Record<string, { transcript: string; recording: string; conversationId: string; callId: string }>;
}

async function run(order: readonly string[], batchSize: number, options: SandboxOptions = {}): Promise<Run> {
  const sandbox = await startTestSandbox({ seed: 'bytes', concurrency: 50, ...options });
  // The only parts of answers that differ from run to run: where it listens, and signatures made with a key of the process.
  const plain = (text: string): string => text.replaceAll(sandbox.url, 'http://sandbox').replaceAll(/(signature=)[^"&]+/g, '$1signature');
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await sandbox.request(method, path, body);
    answers.push(plain(JSON.stringify([answer.status, answer.body])));
    return answer.body;
  };
  await ask('POST', '/v1/convai/agents', { name: 'Own' });
  for (let start = 0; start < order.length; start += batchSize)
    await ask('POST', '/v1/convai/phone-numbers/batch-calls', {
      agent_id: 'agent_survey',
      from_phone_number_id: 'pn_main',
      calls: order.slice(start, start + batchSize).map((to) => ({ to_phone_number: to, variables: { name: 'Robin' } })),
    });
  await ask('GET', '/v1/convai/conversations?page_size=100');
  sandbox.clock.advance(day);
  await ask('GET', '/v1/convai/conversations?page_size=100');
  const calls: Run['calls'] = {};
  for (const { to, nth, callId, conversationId } of sandbox.calls()) {
    const record = await ask('GET', `/v1/convai/conversations/${conversationId}`);
    calls[`${to} ${nth}`] = {
      transcript: JSON.stringify(
        record.transcript.map(({ timestamp, ...turn }: Json) => ({
          ...turn,
          at: Date.parse(timestamp) - Date.parse(record.transcript[0].timestamp),
        })),
      ),
      recording: record.audio === null ? 'none' : await digest(record.audio),
      conversationId: conversationId ?? '',
      callId,
    };
  }
  await ask('GET', '/v1/convai/agents');
  await sandbox.close();
  return { answers: answers.join('\n'), calls };
}

async function digest(url: string): Promise<string> {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([response.status, bytes.toString('latin1', 0, 4)]).toEqual([200, 'RIFF']);
  return createHash('sha256').update(bytes).digest('hex');
}

test('two runs of one seed answer the same bytes: ids, records, transcripts and recordings', async () => {
  const [one, two] = [await run(numbers, 20), await run(numbers, 20)];
  expect(two.answers).toBe(one.answers);
  expect(two.calls).toEqual(one.calls);
  const recordings = Object.values(one.calls).map(({ recording }) => recording);
  expect(new Set(recordings.filter((each) => each !== 'none')).size).toBeGreaterThan(5);
  const other = await run(numbers, 20, { seed: 'other' });
  expect(Object.values(other.calls)).not.toEqual(Object.values(one.calls));
  expect(Object.values(other.calls).map(({ callId }) => callId)).not.toEqual(Object.values(one.calls).map(({ callId }) => callId));
});

test('in another order, in other batches and on other lines each call has the same ids, words and sounds', async () => {
  const twice = [...numbers, ...numbers.slice(0, 4)];
  const one = await run(twice, 30);
  expect(Object.keys(one.calls)).toHaveLength(twice.length);
  for (const [order, batchSize, concurrency] of [
    [twice.toReversed(), 30, 50],
    [twice, 1, 3],
    [[...twice.slice(9), ...twice.slice(0, 9)], 4, 1],
  ] as const)
    expect((await run(order, batchSize, { concurrency })).calls).toEqual(one.calls);
});

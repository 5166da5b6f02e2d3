import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { fetch } from 'undici';
import { expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { seedFactor } from '../support/depth.ts';
import { plainNumbers, startTestSandbox, type Json } from './harness.ts';

const world = {
  people: [
    { number: '+12125550142', name: 'Ada Example', mood: 'friendly', persona: 'talkative' },
    { number: '+12125550143', mood: 'hostile', interrupts: 0.5 },
    { starts_with: '+1204', persona: 'confused', hangs_up: { after_turns: 3 } },
  ],
  population: [
    { weight: 2, mood: 'friendly' },
    { weight: 1, mood: 'impatient', reach: { busy: 0.3, voicemail: 0.2 } },
    { weight: 1, language: 'fr', opts_out: true },
  ],
};
const magic = ['00', '03', '07', '08', '11', '42', '43'].map((ending) => `+121255501${ending}`);
const numbers = [...plainNumbers(12), ...plainNumbers(220).slice(210, 214), ...magic];
const day = 24 * 3_600_000;

interface Run {
  /** Of everything that was answered, in order. */
  answers: string;
  /** Per number and dial: its record with times from pick-up, its recording's bytes, and its ids. */
  calls: Record<string, Json>;
}

async function run(order: readonly string[], batches: readonly number[], options: SandboxOptions = {}): Promise<Run> {
  const sandbox = await startTestSandbox({ seed: 'bytes', concurrency: 50, world: structuredClone(world) as never, ...options });
  // What differs from run to run: where it listens, and signatures with a process's key.
  const plain = (text: string): string => text.replaceAll(sandbox.url, 'http://sandbox').replaceAll(/(signature=)[^"&]+/g, '$1signature');
  const answers: string[] = [];
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await sandbox.request(method, path, body);
    answers.push(plain(JSON.stringify([answer.status, answer.body])));
    return answer.body;
  };
  await ask('POST', '/v1/convai/agents', { name: 'Own' });
  const queue = [...order];
  for (let nth = 0; queue.length > 0; nth += 1)
    await ask('POST', '/v1/convai/phone-numbers/batch-calls', {
      agent_id: 'agent_survey',
      from_phone_number_id: 'pn_main',
      calls: queue.splice(0, batches[nth % batches.length]).map((to) => ({ to_phone_number: to, variables: { name: 'Robin' } })),
    });
  await ask('GET', '/v1/convai/conversations?page_size=100');
  sandbox.clock.advance(day);
  await ask('GET', '/v1/convai/conversations?page_size=100');
  const calls: Run['calls'] = {};
  for (const { to, nth, callId, conversationId, result } of sandbox.calls()) {
    const record = await ask('GET', `/v1/convai/conversations/${conversationId}`);
    const recording = record.audio === null ? 'none' : await digest(record.audio);
    calls[`${to} ${nth}`] = { ...essence(record), recording, conversationId, callId, result };
  }
  await ask('GET', '/v1/convai/agents');
  await sandbox.close();
  return { answers: answers.join('\n'), calls };
}

/** All of a record but the names of batch and queue. */
function essence({ transcript, metadata, ...record }: Json): Json {
  const { batch_call: batch, ...facts } = metadata;
  for (const key of Object.keys(facts)) if (/time|wait/.test(key)) delete facts[key];
  const said = transcript.map(({ timestamp, ...turn }: Json) => ({
    ...turn,
    at: Date.parse(timestamp) - Date.parse(transcript[0].timestamp),
  }));
  return { ...record, audio: record.audio !== null, metadata: { ...facts, ofBatch: batch !== undefined }, transcript: said };
}

async function digest(url: string): Promise<string> {
  const response = await fetch(url);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect([response.status, bytes.toString('latin1', 0, 4)]).toEqual([200, 'RIFF']);
  return createHash('sha256').update(bytes).digest('hex');
}

test('two runs of one seed answer the same bytes: ids, records, transcripts and recordings; another seed others', async () => {
  const [one, two, other] = [await run(numbers, [20]), await run(numbers, [20]), await run(numbers, [20], { seed: 'other' })];
  expect(two.answers).toBe(one.answers);
  expect(two.calls).toEqual(one.calls);
  const recordings = Object.values(one.calls).map(({ recording }) => recording);
  expect(new Set(recordings.filter((each) => each !== 'none')).size).toBeGreaterThan(5);
  for (const field of ['callId', 'transcript'])
    expect(Object.values(other.calls).map((call) => call[field])).not.toEqual(Object.values(one.calls).map((call) => call[field]));
});

test('in any order, in any batches and on any number of lines each call has the same ids, words and sounds', async () => {
  const twice = [...numbers, ...numbers.slice(0, 4)];
  const one = await run(twice, [30]);
  expect(Object.keys(one.calls)).toHaveLength(twice.length);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(twice, { minLength: twice.length }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      async (order, batches, concurrency) => {
        const { calls } = await run(order, batches, { concurrency });
        expect(calls).toEqual(one.calls);
      },
    ),
    { seed: 4, numRuns: 2 * seedFactor },
  );
});

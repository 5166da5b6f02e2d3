import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { seedFactor } from '../support/depth.ts';
import { plainNumbers, startTestSandbox, type Json, type TestSandbox } from './harness.ts';

const day = 24 * 3_600_000;
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
} as const;
const numbers = [...plainNumbers(24), ...plainNumbers(220).slice(210, 216), '+12125550142', '+12125550143', '+12125550107'];

/** Everything that a record says, with its times counted from pick-up and without what names batch and queue. */
function essence(record: Json, truth: { answeredAt: number }): Json {
  const since = (instant: string): number => Date.parse(instant) - truth.answeredAt;
  const { batch_call: batch, ...metadata } = record.metadata;
  for (const key of Object.keys(metadata)) if (/time|wait/.test(key)) delete metadata[key];
  return {
    ...record,
    audio: record.audio === null ? null : 'an address',
    metadata: { ...metadata, ofBatch: batch !== undefined },
    transcript: record.transcript.map(({ timestamp, ...turn }: Json) => ({ ...turn, at: since(timestamp) })),
  };
}

/** What was said to each number at each of its dials. */
async function talksOf(sandbox: TestSandbox): Promise<Record<string, Json>> {
  const talks: Record<string, Json> = {};
  for (const call of sandbox.calls()) {
    const { body: record } = await sandbox.get(`/v1/convai/conversations/${call.conversationId}`);
    const answeredAt = Date.parse(record.transcript[0]?.timestamp ?? record.metadata.start_time);
    talks[`${call.to} ${call.nth}`] = { ...essence(record, { answeredAt }), callId: call.callId, result: call.result };
  }
  return talks;
}

async function run(plan: { order: string[]; batches: number[]; concurrency: number; seed?: string }) {
  const { order, batches, concurrency, seed = 'one' } = plan;
  const sandbox = await startTestSandbox({ seed, concurrency, world: structuredClone(world) as never });
  const queue = [...order];
  for (let index = 0; queue.length > 0; index += 1) await sandbox.batch(queue.splice(0, batches[index % batches.length]));
  sandbox.clock.advance(day);
  await sandbox.batch(order.slice(0, 5));
  sandbox.clock.advance(day);
  const talks = await talksOf(sandbox);
  await sandbox.close();
  return talks;
}

test('the same seed and world give the same talk to a number’s nth dial, whatever the order, batching and lines', async () => {
  const twice = [...numbers, ...numbers.slice(0, 8)];
  const reference = await run({ order: twice, batches: [100], concurrency: 100 });
  expect(Object.keys(reference).length).toBeGreaterThanOrEqual(twice.length);
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(twice, { minLength: twice.length }),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 40 }),
      async (order, batches, concurrency) => {
        const talks = await run({ order, batches, concurrency });
        for (const [key, talk] of Object.entries(talks)) if (reference[key] !== undefined) expect(talk).toEqual(reference[key]);
        expect(Object.keys(talks).filter((key) => reference[key] !== undefined).length).toBeGreaterThan(numbers.length);
      },
    ),
    { seed: 4, numRuns: 2 * seedFactor },
  );
});

test('another seed gives other talks', async () => {
  const plan = { order: numbers, batches: [50], concurrency: 50 };
  const [one, same, other] = [await run(plan), await run(plan), await run({ ...plan, seed: 'two' })];
  expect(same).toEqual(one);
  const words = (talks: Record<string, Json>): string => JSON.stringify(Object.values(talks).map(({ transcript }) => transcript));
  expect(words(other)).not.toEqual(words(one));
});

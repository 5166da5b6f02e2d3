import { expect, test } from 'vitest';
import type { WorldInput } from '../../src/sandbox/core/world/schema.ts';
import { Drive } from './drive.ts';
import type { Mix } from './mix.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';

const firstNames = ['Ada', 'Ben', 'Cora', 'Dora', 'Emil', 'Fay', 'Gus', 'Hope', 'Ida', 'Jon', 'Kim', 'Lou'];
const line = 'Hello {{ name }}, this is the clinic about your visit.';

/** Distinct numbers of people who answer; every so many asks never to be called again. */
function peopleWhoAnswer(count: number, optOutEvery = Infinity): string[] {
  return Array.from({ length: count }, (_, index) => {
    const ending = optOutEvery !== Infinity && index % optOutEvery === 0 ? '0108' : '0100';
    return `+1${201 + index}555${ending}`;
  });
}

function campaign(campaignId: string, numbers: string[], nameOf: (index: number) => string, firstMessage = line) {
  return { campaignId, rules: buildRules({ firstMessage }), rows: buildRows(numbers, nameOf) };
}

/** Campaigns against the service as the contract has it: records name neither number nor batch. */
function specMix(campaigns: Mix['campaigns'], world: WorldInput = {}, more: Partial<Mix> = {}): Mix {
  return { seed: 'seen', sandbox: { dialect: 'spec', world }, campaigns, ...more };
}

function post(path: string, body: unknown) {
  const headers = { 'content-type': 'application/json' };
  return ({ url }: { url: string }) => fetch(`${url}/_sandbox/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Who was dialled more than once by us, as the service knows it; everybody here answers. */
async function calledTwice(mix: Mix): Promise<string[]> {
  const { calls, faults } = await new Drive(mix).run();
  expect(faults.filter((fault) => !fault.startsWith('conduct'))).toEqual([]);
  const ours = calls.filter(({ batchId }) => batchId !== null).map(({ to }) => to);
  expect(ours.length).toBeGreaterThan(0);
  return [...new Set(ours.filter((to, index) => ours.indexOf(to) !== index))];
}

test('sixty people with twelve first names who answer, or ask never to be called again, are called once', async () => {
  const numbers = peopleWhoAnswer(60, 6);
  const people = campaign('namesakes', numbers, (index) => firstNames[index % 12] ?? '');
  expect(await calledTwice(specMix([people]))).toEqual([]);
});

test('two people with one opening line are called once', async () => {
  const numbers = ['+12125550108', '+13125550100'];
  expect(await calledTwice(specMix([campaign('one-line', numbers, () => 'Ada')]))).toEqual([]);
});

test.for(['absent', 'empty'] as const)('people whose talks are recorded without words (transcript %s) are called once', async (form) => {
  const records = { withheld: 1, withheld_form: form };
  const people = campaign('withheld', peopleWhoAnswer(4), (index) => firstNames[index] ?? '');
  expect(await calledTwice(specMix([people], { records }))).toEqual([]);
});

test('people are called once although one letter of each first line is recorded wrongly', async () => {
  const people = campaign('altered', peopleWhoAnswer(6), (index) => firstNames[index] ?? '');
  expect(await calledTwice(specMix([people], { records: { altered: 1 } }))).toEqual([]);
});

test('somebody who answered us and then a colleague who uses the same agent and words is called once', async () => {
  const [first = '', ...others] = peopleWhoAnswer(4);
  const words = line.replace('{{ name }}', 'Ada');
  const order = { phone_number_id: 'pn_main', to: first, first_message: words, result: 'answered' };
  const colleague = { afterMs: 1_000, happen: post('outbound', order) };
  const people = campaign('colleague', [first, ...others], (index) => firstNames[index] ?? '');
  expect(await calledTwice(specMix([people], {}, { events: [colleague] }))).toEqual([]);
});

test('four people are called once although the clock of the worker is set back by 8 s after the request', async () => {
  const people = campaign('set-back', peopleWhoAnswer(4), (index) => firstNames[index] ?? '');
  const workers = [(passedMs: number) => (passedMs > 1_500 ? 0 : 8_000)];
  expect(await calledTwice(specMix([people], {}, { workers }))).toEqual([]);
});

test('ten people are called once although the clock of the service was 28 minutes behind when it dialled', async () => {
  const people = campaign('stale-clock', peopleWhoAnswer(10), (index) => firstNames[index] ?? '');
  const step = (afterMs: number, minutes: number) => ({
    afterMs,
    happen: post('clock/step', { ms: minutes * 60_000 }),
  });
  const events = [step(500, -28), step(15_000, 28)];
  expect(await calledTwice(specMix([people], {}, { events }))).toEqual([]);
});

test.for([
  [400, 0],
  [400, 30],
  [422, 0],
  [422, 30],
] as const)(
  'nobody of a batch that was queued although the answer was %i, and is listed %i s later, is called twice',
  async ([status, seconds]) => {
    const faults = [{ operation: 'batch_calls' as const, nth: 1, effect: { type: 'error' as const, status, when: 'after' as const } }];
    const people = campaign('refused', peopleWhoAnswer(8), (index) => `${firstNames[index]} Example`);
    const records = { listed_late: { from_seconds: seconds, to_seconds: seconds } };
    expect(await calledTwice(specMix([people], { records }, { faults }))).toEqual([]);
  },
);

test.for([400, 422])(
  'nobody of a batch whose talks are recorded without words is called twice although the answer was %i',
  async (status) => {
    const faults = [{ operation: 'batch_calls' as const, nth: 1, effect: { type: 'error' as const, status, when: 'after' as const } }];
    const people = campaign('refused', peopleWhoAnswer(4), (index) => `${firstNames[index]} Example`);
    expect(await calledTwice(specMix([people], { records: { withheld: 1 } }, { faults }))).toEqual([]);
  },
);

test.for([0, 1])(
  'a batch that was queued although the answer was 429 is not sent again after a second (transcripts withheld: %i)',
  async (withheld) => {
    const effect = { type: 'rate_limited' as const, when: 'after' as const, seconds: 1 };
    const faults = [{ operation: 'batch_calls' as const, nth: 1, effect }];
    const people = campaign('limited', peopleWhoAnswer(4), (index) => firstNames[index] ?? '');
    expect(await calledTwice(specMix([people], { records: { withheld } }, { faults }))).toEqual([]);
  },
);

test('a call that was placed although the answer was 429, and is listed while the campaign is paused, is not repeated', async () => {
  const numbers = peopleWhoAnswer(8);
  const faults = [
    {
      operation: 'batch_calls' as const,
      nth: 1,
      effect: { type: 'rate_limited' as const, when: 'after' as const, seconds: 120 },
    },
  ];
  const records = { listed_late: { from_seconds: 60, to_seconds: 60 } };
  const mix = specMix(
    [
      campaign('limited', numbers.slice(0, 3), (index) => firstNames[index] ?? ''),
      // Its sweeps go on while the other one is paused.
      campaign('other', numbers.slice(3), (index) => firstNames[index + 3] ?? ''),
    ],
    { records },
    { faults, events: [{ tick: 3, happen: (_, hands) => hands.change(0, 'pause') }] },
  );
  expect(await calledTwice(mix)).toEqual([]);
});

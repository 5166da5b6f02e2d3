import { expect, test } from 'vitest';
import type { WorldInput } from '../../src/sandbox/core/world/schema.ts';
import type { FaultRuleInput } from '../../src/sandbox/faults/rule.ts';
import { buildRows, buildRules } from '../support/campaign-rules.ts';
import { Drive } from './drive.ts';
import { control } from './inputs/around.ts';
import type { Mix } from './mix.ts';
import { numberOf } from './population.ts';

/** Whom a service called twice once, whose records name neither number nor batch, as the contract has it. */
interface Case {
  what: string;
  /** Everybody answers; every so many ask never to be called again. */
  people: number;
  optOutEvery?: number;
  names?: number;
  records?: WorldInput['records'];
  /** What becomes of the first request. */
  first?: FaultRuleInput['effect'];
  more?: Partial<Mix>;
}

const firstNames = ['Ada', 'Ben', 'Cora', 'Dora', 'Emil', 'Fay', 'Gus', 'Hope', 'Ida', 'Jon', 'Kim', 'Lou'];
const line = 'Hello {{ name }}, this is the clinic about your visit.';
const colleague = { phone_number_id: 'pn_main', to: numberOf(201, 'answers'), first_message: line.replace('{{ name }}', 'Ada') };
const clock = (afterMs: number, minutes: number) => ({ afterMs, happen: control('clock/step', { ms: minutes * 60_000 }) });
const refused = (status: number) => ({ type: 'error', status, when: 'after' }) as const;
const limited = (seconds: number) => ({ type: 'rate_limited', when: 'after', seconds }) as const;
const wordless = { withheld: 1 };

const cases: readonly Case[] = [
  { what: 'sixty people with twelve first names who answer, or ask never to be called again', people: 60, optOutEvery: 6 },
  { what: 'two people with one opening line', people: 2, optOutEvery: 2, names: 1 },
  ...(['absent', 'empty'] as const).map((form) => {
    return { what: `talks that are recorded without words (${form})`, people: 4, records: { ...wordless, withheld_form: form } };
  }),
  { what: 'one letter of each first line is recorded wrongly', people: 6, records: { altered: 1 } },
  {
    what: 'a colleague who uses the same agent and words talks with somebody after us',
    people: 4,
    more: { events: [{ afterMs: 1_000, happen: control('outbound', { ...colleague, result: 'answered' }) }] },
  },
  {
    what: 'the clock of the worker is set back by 8 s after the request',
    people: 4,
    more: { workers: [(passedMs) => (passedMs > 1_500 ? 0 : 8_000)] },
  },
  {
    what: 'the clock of the service was 28 minutes behind when it dialled',
    people: 10,
    more: { events: [clock(500, -28), clock(15_000, 28)] },
  },
  ...[400, 422].flatMap((status): Case[] => [
    ...[0, 30].map((late): Case => {
      const records = { listed_late: { from_seconds: late, to_seconds: late } };
      return { what: `a batch that was queued although the answer was ${status}, and is listed ${late} s later`, people: 8, records, first: refused(status) }; // prettier-ignore
    }),
    { what: `a batch whose talks are recorded without words although the answer was ${status}`, people: 4, records: wordless, first: refused(status) },
  ]), // prettier-ignore
  ...[0, 1].map((withheld): Case => {
    const what = `a batch that was refused for its rate, and queued, is not sent again after a second (transcripts withheld: ${withheld})`;
    return { what, people: 4, records: { withheld }, first: limited(1) };
  }),
];

const campaign = (campaignId: string, numbers: readonly string[], names = 12, from = 0) => ({
  campaignId,
  rules: buildRules({ firstMessage: line }),
  rows: buildRows(numbers, (index) => firstNames[(from + index) % names] ?? ''),
});

const numbersOf = (count: number, optOutEvery = Infinity) =>
  Array.from({ length: count }, (_, index) => numberOf(201 + index, index % optOutEvery === 0 && optOutEvery < Infinity ? 'opts_out' : 'answers')); // prettier-ignore

async function calledTwice({ records = {}, first, more }: Omit<Case, 'what' | 'people'>, campaigns: Mix['campaigns']): Promise<string[]> {
  const faults = first === undefined ? [] : [{ operation: 'batch_calls' as const, nth: 1, effect: first }];
  const played = await new Drive({ seed: 'seen', sandbox: { dialect: 'spec', world: { records } }, campaigns, faults, ...more }).run();
  expect(played.faults.filter((fault) => !fault.startsWith('conduct'))).toEqual([]);
  const ours = played.calls.filter(({ batchId }) => batchId !== null).map(({ to }) => to);
  expect(ours.length).toBeGreaterThan(0);
  return [...new Set(ours.filter((to, index) => ours.indexOf(to) !== index))];
}

test.each(cases.map((each) => [each.what, each] as const))('nobody is called twice: %s', async (_, each) => {
  const { people, optOutEvery, names, ...given } = each;
  expect(await calledTwice(given, [campaign('seen', numbersOf(people, optOutEvery), names)])).toEqual([]);
});

test('a call that was placed although the answer was 429, and is listed while the campaign is paused, is not repeated', async () => {
  const numbers = numbersOf(8);
  // The sweeps of the other one go on meanwhile.
  const campaigns = [campaign('limited', numbers.slice(0, 3)), campaign('other', numbers.slice(3), 12, 3)];
  const pause: Mix['events'] = [{ tick: 3, happen: (_, hands) => hands.change(0, 'pause') }];
  const records = { listed_late: { from_seconds: 60, to_seconds: 60 } };
  expect(await calledTwice({ records, first: limited(120), more: { events: pause } }, campaigns)).toEqual([]);
});

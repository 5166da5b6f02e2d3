import { expect, test } from 'vitest';
import type { LegalHours } from '../../src/rules/campaign-rules.ts';
import type { LoggedEvent } from '../../src/verify/log.ts';
import { judgeCall } from '../../src/verify/judge-call.ts';
import { readJudgedRules } from '../../src/verify/judged-rules.ts';
import type { LogRule } from '../../src/verify/log-rules.ts';
import { NumberBook } from '../../src/verify/number-book.ts';
import { buildRules, hourMs } from '../support/campaign-rules.ts';

/** A Tuesday, 10:00 in New York. */
const ten = Date.UTC(2030, 0, 15, 15);
const number = '+13055550100';
const law: LegalHours[] = [
  {
    id: 'us-fl-calls',
    country: 'US',
    region: 'FL',
    hours: null,
    closedOn: [],
    from: null,
    until: null,
    caps: [{ by: 'number', calls: 3, withinMs: 24 * hourMs }],
    source: 'test',
  },
];

/** What the judge says of a call to the number after calls at these times, of whatever campaigns. */
function judge(at: number, place: Record<string, unknown>, calls: readonly number[], rules: object = buildRules({ law })) {
  const numbers = new NumberBook();
  for (const [index, call] of calls.entries())
    numbers.place({
      attemptId: `other/${index}/1`,
      number,
      person: null,
      at: call,
      rangBy: call,
      talked: false,
      counted: true,
    });
  const data = { e164: number, zones: ['America/New_York'], ...place };
  const event: LoggedEvent = {
    seq: 9,
    campaignId: 'spring',
    type: 'attempt.posted',
    attemptId: 'spring/1/1',
    at,
    data,
  };
  const broken: LogRule[] = [];
  const campaign = { rules: readJudgedRules(rules) };
  judgeCall({ campaign, numbers, event, data, violate: (rule) => broken.push(rule) });
  return broken;
}

const three = [ten, ten + hourMs, ten + 2 * hourMs];

test.each<[string, Record<string, unknown>, string[]]>([
  ['the state', { country: 'US', regions: ['FL'] }, ['cap_exceeded']],
  ['a state that is one of several', { country: 'US', regions: ['GA', 'FL'] }, ['cap_exceeded']],
  ['no known state', { country: 'US', regions: null }, ['cap_exceeded']],
  ['another state', { country: 'US', regions: ['GA'] }, []],
  ['another country', { country: 'CA', regions: ['ON'] }, []],
])('a fourth call in 24 hours to somebody in %s is judged by the law there', (_, place, expected) => {
  expect(judge(ten + 24 * hourMs - 1, place, three)).toEqual(expected);
  expect(judge(ten + 24 * hourMs, place, three)).toEqual([]);
  expect(judge(ten + 3 * hourMs, place, three.slice(1))).toEqual([]);
});

test('a campaign with law: off is not held to caps by law', () => {
  const place = { country: 'US', regions: ['FL'] };
  expect(judge(ten + 3 * hourMs, place, three, buildRules())).toEqual([]);
});

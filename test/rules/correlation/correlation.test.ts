import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import {
  type ConversationMatch,
  correlate,
  type CorrelationAttempt,
  type CorrelationClock,
} from '../../../src/rules/correlation/correlation.ts';
import { seedFactor } from '../../support/depth.ts';
import { conversationRecord } from '../conversation-record.ts';

const clock = { offsetMs: 0, uncertaintyMs: 500 };
const toleranceMs = 2_500;
const hourMs = 3_600_000;
const posted = 10 * hourMs;

function attempt(facts: Partial<CorrelationAttempt> = {}): CorrelationAttempt {
  return {
    attemptId: 'a1',
    agentId: 'agent_a',
    e164: '+12125550101',
    postedAt: posted,
    supersededAt: null,
    serviceBatchId: 'batch_1',
    reference: 'ref_1',
    openingLine: 'Hello Ana.',
    open: true,
    conversationId: null,
    rangAt: null,
    template: null,
    possibleFrom: 0,
    possibleUntil: Infinity,
    ...facts,
  };
}

const bob = { attemptId: 'a2', e164: '+12125550102', reference: 'ref_2', openingLine: 'Hello Bob.' };

function record(facts: Partial<ConversationFacts> = {}): ConversationFacts {
  return conversationRecord({ conversationId: 'c1', startedAt: posted + 5_000, ...facts });
}

/** Matches as `attempt=conversation(evidence)`. */
function pairs(attempts: CorrelationAttempt[], records: ConversationFacts[], with_ = clock): string[] {
  return correlate(attempts, records, with_).map((match) => `${match.attemptId}=${match.conversationId}(${match.evidence})`);
}

const number = { calleeNumber: '+12125550101' };
const line = { openingLine: 'Hello Ana.' };

test.each<[string, Partial<ConversationFacts>, string[]]>([
  ['an echoed reference', { references: ['other', 'ref_1'], startedAt: null }, ['a1=c1(reference)']],
  ['batch id and number', { batchId: 'batch_1', ...number, startedAt: null }, ['a1=c1(batch_and_number)']],
  ['the number in the window', number, ['a1=c1(number)']],
  ['the opening line', line, ['a1=c1(opening_line)']],
  ['the opening line with other blanks', { openingLine: '  Hello\n\u00a0Ana. ' }, ['a1=c1(opening_line)']],
  ['a batch id without a number', { batchId: 'batch_1' }, []],
  ['a number without a time', { ...number, startedAt: null }, []],
  ['a line without a time', { ...line, startedAt: null }, []],
  ['another line', { openingLine: 'Hello Bob.' }, []],
  ['an unknown reference beside the number', { references: ['yes'], ...number }, ['a1=c1(number)']],
  ['a start as early as clocks allow', { ...number, startedAt: posted - toleranceMs }, ['a1=c1(number)']],
])('one attempt and %s', (_, facts, expected) => {
  expect(pairs([attempt()], [record(facts)])).toEqual(expected);
});

const template = 'Hello {{ name }} number {{ k }}, this is the clinic.';

function called(name: string, k: number, facts: Partial<CorrelationAttempt> = {}): CorrelationAttempt {
  const openingLine = `Hello ${name} number ${k}, this is the clinic.`;
  const e164 = `+1212555${String(100 + k).padStart(4, '0')}`;
  return attempt({ attemptId: `${name} ${k}`, e164, reference: null, openingLine, template, ...facts });
}

/** What a record shows of the first words, and whose it is among these: Daniel 1, 7, 18 and 19, Jan 7 and Jon 8, and Maria 4. */
test.each<[string, string[]]>([
  ['Hello Daniel number 19,', ['Daniel 19=c1(near_line)']],
  ['hello daniel, number 18 this', ['Daniel 18=c1(near_line)']],
  ['Hello Jan number', ['Jan 7=c1(near_line)']],
  ['Hello Maria num', ['Maria 4=c1(near_line)']],
  // The last word may have been cut.
  ['Hello Daniel number 1', []],
  // Altered as well.
  ['Hello Danixl number 19,', []],
])('%j, cut off there, is of %j', (openingLine, expected) => {
  const people = [...[1, 7, 18, 19].map((k) => called('Daniel', k)), called('Jan', 7), called('Jon', 8), called('Maria', 4)];
  expect(pairs(people, [record({ openingLine })])).toEqual(expected);
});

test("a line that was cut off behind somebody's own words is of nobody else, even where it cannot be theirs", () => {
  const over = called('Daniel', 19, { possibleUntil: posted });
  expect(pairs([over, called('Danixl', 1)], [record({ openingLine: 'Hello Daniel number 19' })])).toEqual([]);
});

test.each<[string, Partial<ConversationFacts>]>([
  ['an inbound call', { direction: 'inbound' }],
  ['another agent', { agentId: 'agent_b' }],
  ['another callee', { calleeNumber: '+12125550102' }],
  ['another batch', { batchId: 'batch_2' }],
  ['the reference of another attempt', { references: ['ref_2'] }],
  ['the references of both', { references: ['ref_1', 'ref_2'] }],
])('%s contradicts every other evidence', (_, contradiction) => {
  const other = attempt({ ...bob, conversationId: 'c0', postedAt: posted + hourMs });
  for (const evidence of [{ references: ['ref_1'] }, { batchId: 'batch_1', ...number }, number, line]) {
    const facts = { ...evidence, ...contradiction };
    const agreed = JSON.stringify(facts) === JSON.stringify(evidence);
    expect(agreed).toBe(false);
    expect(pairs([attempt(), other], [record(facts)])).toEqual([]);
  }
});

test('a start before the POST contradicts number and words, but not what names the attempt, since a clock may be set back', () => {
  const startedAt = posted - toleranceMs - 1;
  for (const evidence of [number, line, { ...number, ...line }])
    expect(pairs([attempt()], [record({ ...evidence, startedAt })])).toEqual([]);
  const other = attempt({ ...bob, reference: 'ref_1', agentId: 'agent_b' });
  expect(pairs([attempt()], [record({ references: ['ref_1'], startedAt })])).toEqual(['a1=c1(reference)']);
  expect(pairs([attempt()], [record({ batchId: 'batch_1', ...number, startedAt })])).toEqual(['a1=c1(batch_and_number)']);
  // A batch that is not the attempt's, or that is not known, names nobody.
  const lost = attempt({ serviceBatchId: null });
  expect(pairs([lost], [record({ batchId: 'batch_1', ...number, startedAt })])).toEqual([]);
  expect(pairs([lost], [record({ ...number, startedAt })])).toEqual([]);
  expect(pairs([attempt(), other], [record({ references: ['ref_1'], startedAt })])).toEqual([]);
});

test('a record that names two attempts is neither’s', () => {
  for (const references of [
    ['ref_1', 'ref_2'],
    ['ref_2', 'ref_1'],
  ])
    expect(pairs([attempt(), attempt(bob)], [record({ references, ...number })])).toEqual([]);
  expect(pairs([attempt(), attempt(bob)], [record({ references: ['ref_1', 'ref_1'] })])).toEqual(['a1=c1(reference)']);
});

test('an attempt without words or reference matches by neither', () => {
  const mute = attempt({ openingLine: null, reference: null });
  expect(pairs([mute], [record({ references: [''] }), record({ conversationId: 'c2', openingLine: '' })])).toEqual([]);
  expect(pairs([attempt({ openingLine: ' ', reference: '' })], [record({ references: [''], openingLine: ' ' })])).toEqual([]);
});

test('the batch of a lost reply may have any id but that of another batch of ours', () => {
  const lost = attempt({ serviceBatchId: null });
  const other = attempt({ ...bob, serviceBatchId: 'batch_2' });
  expect(pairs([lost, other], [record({ ...number, batchId: 'batch_9' })])).toEqual(['a1=c1(number)']);
  expect(pairs([lost, other], [record({ ...number, batchId: 'batch_2' })])).toEqual([]);
});

test('times of the service are corrected by its offset', () => {
  const ahead = { offsetMs: hourMs, uncertaintyMs: 500 };
  expect(pairs([attempt()], [record({ ...number, startedAt: posted + hourMs - toleranceMs })], ahead)).toHaveLength(1);
  expect(pairs([attempt()], [record({ ...number, startedAt: posted + hourMs - toleranceMs - 1 })], ahead)).toEqual([]);
  const sure = { offsetMs: 0, uncertaintyMs: 0 };
  expect(pairs([attempt()], [record({ ...number, startedAt: posted - 2_000 })], sure)).toHaveLength(1);
  expect(pairs([attempt()], [record({ ...number, startedAt: posted - 2_001 })], sure)).toEqual([]);
});

test('a tie is never guessed', () => {
  const two = [record({ ...number, conversationId: 'c1' }), record({ ...number, conversationId: 'c2' })];
  expect(pairs([attempt()], two)).toEqual([]);
  const sameWords = attempt({ ...bob, openingLine: 'Hello Ana.' });
  expect(pairs([attempt(), sameWords], [record(line)])).toEqual([]);
  expect(pairs([attempt()], [record(line), record({ ...line, conversationId: 'c2' })])).toEqual([]);
  const sameReference = attempt({ ...bob, reference: 'ref_1' });
  expect(pairs([attempt(), sameReference], [record({ references: ['ref_1'] })])).toEqual([]);
});

test('another fact decides a tie', () => {
  const both = [record({ ...number, ...line, conversationId: 'c1' }), record({ ...number, conversationId: 'c2' })];
  expect(pairs([attempt()], both)).toEqual(['a1=c1(opening_line)']);
  const oneEarly = [record(line), record({ ...line, conversationId: 'c2', startedAt: posted - hourMs })];
  expect(pairs([attempt()], oneEarly)).toEqual(['a1=c1(opening_line)']);
  const oneReferred = [record(number), record({ ...number, conversationId: 'c2', references: ['ref_1'] })];
  expect(pairs([attempt()], oneReferred)).toEqual(['a1=c2(reference)']);
});

test('of two people with the same words, one who has his conversation does not give the other the next', () => {
  const sameWords = attempt({ ...bob, openingLine: 'Hello Ana.' });
  const next = record({ ...line, conversationId: 'c2' });
  expect(pairs([attempt({ conversationId: 'c1' }), sameWords], [next])).toEqual([]);
  expect(pairs([attempt(), sameWords], [record({ ...line, references: ['ref_1'] }), next])).toEqual(['a1=c1(reference)']);
});

test('a record that may be of several casts doubt on each of them, and on nobody else', () => {
  const sameWords = { openingLine: 'Hello Ana.', agentId: 'agent_b' };
  const three = [
    attempt(),
    attempt({ ...bob, ...sameWords }),
    attempt({ ...bob, ...sameWords, attemptId: 'a3', e164: '+12125550103', reference: 'ref_3' }),
  ];
  const own = record({ ...line, agentId: 'agent_a' });
  const ofTheOthers = record({ ...line, conversationId: 'c2', agentId: 'agent_b' });
  const ofAnybody = record({ ...line, conversationId: 'c3' });
  expect(pairs(three, [own, ofTheOthers])).toEqual(['a1=c1(opening_line)']);
  expect(pairs(three, [own, ofAnybody, ofTheOthers])).toEqual([]);
  expect(pairs(three, [own, ofTheOthers, ofAnybody])).toEqual([]);
});

test('a conversation that is known is not matched again, nor is its attempt', () => {
  const settled = attempt({ conversationId: 'c1', open: false });
  expect(pairs([settled, attempt(bob)], [record({ references: ['ref_2'] })])).toEqual([]);
  expect(pairs([settled], [record({ conversationId: 'c2', references: ['ref_1'] })])).toEqual([]);
});

const first = attempt({ supersededAt: posted + hourMs, open: false });
const second = attempt({ attemptId: 'a2', postedAt: posted + hourMs, serviceBatchId: 'batch_2', reference: 'ref_2' });

test.each([
  ['number', number],
  ['opening_line', line],
])('a busy retry: each record falls to the attempt in whose time it started (%s)', (evidence, fact) => {
  const early = record({ ...fact, conversationId: 'c1' });
  const late = record({ ...fact, conversationId: 'c2', startedAt: second.postedAt + 5_000 });
  expect(pairs([first, second], [late, early])).toEqual([`a1=c1(${evidence})`, `a2=c2(${evidence})`]);
  expect(pairs([first, second], [late])).toEqual([`a2=c2(${evidence})`]);
  expect(pairs([first, second], [early])).toEqual([`a1=c1(${evidence})`]);
});

test('a record that shows the earlier batch or reference is the earlier attempt’s, however late it started', () => {
  const late = { startedAt: second.postedAt + 5_000 };
  expect(pairs([first, second], [record({ ...late, ...number, batchId: 'batch_1' })])).toEqual(['a1=c1(batch_and_number)']);
  expect(pairs([first, second], [record({ ...late, ...line, batchId: 'batch_1' })])).toEqual(['a1=c1(opening_line)']);
  expect(pairs([first, second], [record({ ...late, ...number, references: ['ref_1'] })])).toEqual(['a1=c1(reference)']);
});

test('around the later POST the same words to the same number go to the later attempt', () => {
  const next = second.postedAt;
  for (const fact of [number, line]) {
    for (const startedAt of [next - toleranceMs, next, next + toleranceMs - 1]) {
      expect(pairs([first, second], [record({ ...fact, startedAt })])).toEqual([expect.stringMatching(/^a2=c1/)]);
    }
    expect(pairs([first, second], [record({ ...fact, startedAt: next - toleranceMs - 1 })])).toEqual([expect.stringMatching(/^a1=c1/)]);
  }
});

test('what is left to a later attempt that has its conversation is nobody’s, and casts no doubt', () => {
  const settled = { ...second, conversationId: 'c0' };
  const records = [record(number), record({ ...number, conversationId: 'c2', startedAt: second.postedAt })];
  expect(pairs([first, settled], records)).toEqual(['a1=c1(number)']);
});

test('around the later POST other words need a stronger fact', () => {
  const other = { ...second, openingLine: 'Good news, Ana.' };
  const startedAt = second.postedAt + toleranceMs - 1;
  expect(pairs([first, other], [record({ ...number, startedAt })])).toEqual([]);
  expect(pairs([first, other], [record({ ...number, startedAt: startedAt + 1 })])).toEqual(['a2=c1(number)']);
  expect(pairs([first, other], [record({ ...number, ...line, startedAt })])).toEqual(['a1=c1(opening_line)']);
  expect(pairs([first, other], [record({ ...number, startedAt, references: ['ref_2'] })])).toEqual(['a2=c1(reference)']);
  // One number is one person: an attempt that has its conversation is out of the question.
  expect(pairs([{ ...first, conversationId: 'c0' }, other], [record({ ...number, startedAt })])).toEqual(['a2=c1(number)']);
});

test('what started after the later POST is not the earlier attempt’s unless its batch id says so', () => {
  const startedAt = second.postedAt + toleranceMs;
  for (const serviceBatchId of ['batch_1', null]) {
    const waiting = { ...first, open: true, serviceBatchId };
    expect(pairs([waiting, second], [record({ ...number, startedAt })])).toEqual(['a2=c1(number)']);
    expect(pairs([waiting, second], [record({ ...number, startedAt, batchId: 'batch_9' })])).toEqual([]);
  }
});

test('an attempt that still waits does not leave its record to a later one', () => {
  const startedAt = second.postedAt;
  expect(pairs([{ ...first, open: true }, second], [record({ ...number, startedAt })])).toEqual([]);
});

test('two campaigns to one number on one agent keep their calls apart', () => {
  const other = attempt({ ...second, openingLine: 'Good news, Ana.' });
  const records = [
    record({ conversationId: 'c1', ...number, openingLine: 'Hello Ana.' }),
    record({ conversationId: 'c2', ...number, openingLine: 'Good news, Ana.', startedAt: second.postedAt }),
  ];
  expect(pairs([first, other], records)).toEqual(['a1=c1(opening_line)', 'a2=c2(opening_line)']);
});

test('readings of one record are put together, and contradicting ones say nothing', () => {
  const entry = record({ startedAt: posted + 5_000 });
  const detail = record({ ...number, startedAt: null });
  for (const readings of [
    [entry, detail],
    [detail, entry],
    [entry, detail, entry],
  ]) {
    expect(pairs([attempt()], readings)).toEqual(['a1=c1(number)']);
  }
  const elsewhere = record({ calleeNumber: '+12125550109' });
  for (const readings of [
    [entry, detail, elsewhere],
    [elsewhere, detail, entry],
  ]) {
    expect(pairs([attempt()], readings)).toEqual([]);
  }
  expect(pairs([attempt()], [entry, detail, record({ direction: 'inbound' })])).toEqual([]);
  // What one of them says holds for all.
  const ofAnotherAgent = record({ agentId: 'agent_b' });
  expect(pairs([attempt()], [ofAnotherAgent, entry, detail])).toEqual([]);
  expect(pairs([attempt()], [detail, entry, ofAnotherAgent])).toEqual([]);
});

/** Reads the world in a few sweeps, each knowing what the ones before have matched. */
function sweep(world: World, sweeps: number): ConversationMatch[] {
  const matches: ConversationMatch[] = [];
  for (let i = 1; i <= sweeps; i++) {
    const { attempts, records } = knownAt(world, (world.endsAt * i) / sweeps, matches);
    matches.push(...correlate(attempts, records, world.clock));
  }
  return matches;
}

const showings: WorldOptions[] = [
  { showing: 'patchy', campaigns: 3, rough: true },
  { showing: 'full', campaigns: 3, rough: true },
  { showing: 'batch', campaigns: 3, rough: false },
  { showing: 'number', campaigns: 1, rough: false },
  { showing: 'number', campaigns: 3, rough: false },
  { showing: 'spec', campaigns: 1, rough: false },
  { showing: 'spec', campaigns: 3, rough: false },
];

const runs = { seed: 11, numRuns: 250 * seedFactor };

test.each(showings)('no conversation is matched to a wrong attempt ($showing facts, $campaigns campaigns)', (options) => {
  let matched = 0;
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 40 }), (seed, sweeps) => {
      const world = buildWorld(seed, options);
      const truth = new Map(world.records.map((record) => [record.facts.conversationId, record.attemptId]));
      const matches = sweep(world, sweeps);
      for (const match of matches) expect(match.attemptId).toBe(truth.get(match.conversationId));
      expect(new Set(matches.map((match) => match.attemptId)).size).toBe(matches.length);
      expect(new Set(matches.map((match) => match.conversationId)).size).toBe(matches.length);
      matched += matches.length;
    }),
    runs,
  );
  expect(matched).toBeGreaterThan(runs.numRuns);
});

test.each<[string, WorldOptions, (record: World['records'][number]) => boolean]>([
  ['every record with full facts', { showing: 'full', campaigns: 3, rough: true }, () => true],
  ['every record with batch id and number', { showing: 'batch', campaigns: 3, rough: false }, () => true],
  ['every record with a number, in one campaign', { showing: 'number', campaigns: 1, rough: false }, () => true],
  ['every answered call with words of its own', { showing: 'spec', campaigns: 1, rough: false }, (record) => record.answered],
])('%s is matched', (_, options, expected) => {
  fc.assert(
    fc.property(fc.nat(), fc.integer({ min: 1, max: 40 }), (seed, sweeps) => {
      const world = buildWorld(seed, options);
      const found = new Set(sweep(world, sweeps).map((match) => match.conversationId));
      for (const record of world.records) {
        if (record.attemptId !== null && expected(record)) expect(found).toContain(record.facts.conversationId);
      }
    }),
    runs,
  );
});

test('the order of attempts and records does not matter, and a second look finds nothing new', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.nat(), { minLength: 100, maxLength: 100 }), (seed, keys) => {
      const shuffled = <T>(list: readonly T[]): T[] =>
        list
          .map((item, i) => ({ item, key: keys[i % keys.length] ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item);
      const world = buildWorld(seed, { showing: 'patchy', campaigns: 3, rough: true });
      const { attempts, records } = knownAt(world, world.endsAt, []);
      const matches = correlate(attempts, records, world.clock);
      expect(correlate(shuffled(attempts), shuffled(records), world.clock)).toEqual(matches);
      const again = knownAt(world, world.endsAt, matches);
      expect(correlate(again.attempts, again.records, world.clock)).toEqual([]);
    }),
    runs,
  );
});

/** How often a fact of an attempt is read while `count` attempts find their records among ten times as many. */
function looksAt(kind: string, count: number): number {
  let looks = 0;
  const counting: ProxyHandler<CorrelationAttempt> = { get: (of, key) => ((looks += 1), Reflect.get(of, key) as unknown) };
  const sameLine = kind === 'same line';
  const attempts = Array.from(
    { length: count },
    (_, i) =>
      new Proxy(
        attempt({
          attemptId: `a${i}`,
          e164: `n${i}`,
          reference: `r${i}`,
          openingLine: sameLine ? 'Hello.' : `Hello ${i}.`,
          postedAt: posted + i,
        }),
        counting,
      ),
  );
  const records = Array.from({ length: count * 10 }, (_, i) =>
    record({
      conversationId: `c${i}`,
      startedAt: posted + (i % (count * 2)) - count,
      openingLine: sameLine ? 'Hello.' : `Hello ${i}.`,
      calleeNumber: kind === 'full' || kind === 'number' ? `n${i}` : null,
      references: kind === 'full' ? [`r${i}`] : [],
    }),
  );
  expect(correlate(attempts, records, clock)).toHaveLength(sameLine ? 0 : count);
  return looks;
}

test.each(['full', 'number', 'line', 'same line'])(
  'ten times the attempts and records (%s) are not much more than ten times the work',
  (kind) => {
    expect(looksAt(kind, 1_000) / looksAt(kind, 100)).toBeLessThan(13);
  },
);

const secondMs = 1_000;
const minuteMs = 60_000;
export const agentId = 'agent_a';

/**
 * What records show. `full`: everything. `batch`: no reference. `number`: callee and time. `spec`: time, and the opening line of
 * answered calls. `patchy`: each fact or not.
 */
export type Showing = 'full' | 'batch' | 'number' | 'spec' | 'patchy';

export interface WorldOptions {
  showing: Showing;
  /** At most this many campaigns call the same people with words of their own. */
  campaigns: number;
  /** Whether people may share an opening line, replies may be lost and calls may be dialled after the next POST. */
  rough: boolean;
}

export interface World {
  attempts: CorrelationAttempt[];
  records: { facts: ConversationFacts; visibleAt: number; attemptId: string | null; answered: boolean }[];
  clock: CorrelationClock;
  endsAt: number;
}

/** Seeded chance: whole numbers from `min` to `max`. */
type Draw = (min: number, max: number) => number;

function seededDraw(seed: number): Draw {
  let state = seed >>> 0;
  return (min, max) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return min + (((mixed ^ (mixed >>> 14)) >>> 0) % (max - min + 1));
  };
}

function chance(draw: Draw): boolean {
  return draw(0, 1) === 1;
}

function oneOf<T>(draw: Draw, ...choices: T[]): T {
  return choices[draw(0, choices.length - 1)] as T;
}

/** Campaigns that call a few people several times a day, other calls between, and the truth about each record. */
export function buildWorld(seed: number, options: WorldOptions): World {
  const draw = seededDraw(seed);
  const uncertaintyMs = draw(0, 3_000);
  const clock = { offsetMs: draw(-3_600_000, 3_600_000), uncertaintyMs };
  const world: World = { attempts: [], records: [], clock, endsAt: 0 };
  const people = draw(1, 6);
  const sharedLine = options.rough && chance(draw);
  const rounds = draw(1, 4);
  const lastOf = new Map<string, CorrelationAttempt>();
  let postedAt = 0;

  addOldRecords(draw, world, people);
  for (let round = 0; round < rounds; round++) {
    postedAt += draw(12 * minuteMs, 60 * minuteMs);
    const campaign = draw(1, options.campaigns);
    const replyLost = options.rough && chance(draw);
    const ownLine = !options.rough || draw(0, 3) > 0;
    for (let person = 0; person < people; person++) {
      if (!chance(draw)) continue;
      const e164 = numberOf(person);
      const name = sharedLine && person < 3 ? 'Sam' : `person ${person}`;
      const attempt: CorrelationAttempt = {
        attemptId: `attempt_${world.attempts.length}`,
        agentId,
        e164,
        postedAt,
        supersededAt: null,
        serviceBatchId: replyLost ? null : `batch_${round}`,
        reference: `ref_${world.attempts.length}`,
        openingLine: ownLine ? `Hello ${name}, this is campaign ${campaign}.` : null,
        open: true,
        conversationId: null,
        rangAt: null,
        template: null,
        possibleFrom: 0,
        possibleUntil: Infinity,
      };
      const earlier = lastOf.get(e164);
      if (earlier !== undefined) earlier.supersededAt = postedAt;
      lastOf.set(e164, attempt);
      world.attempts.push(attempt);
      addCall(draw, world, attempt, `batch_${round}`, options);
    }
  }
  addCallsOfOthers(draw, world, people);
  world.endsAt = postedAt + 12 * 60 * minuteMs;
  return world;
}

function numberOf(person: number): string {
  return `+1212555010${person}`;
}

/** The record of the attempt's call, if any. It starts before the next POST, unless it is late. */
function addCall(draw: Draw, world: World, attempt: CorrelationAttempt, batchId: string, options: WorldOptions): void {
  if (draw(0, 3) === 0) return;
  const late = options.rough && draw(0, 5) === 0;
  const atOnce = chance(draw);
  const delayMs = late ? draw(60 * minuteMs, 180 * minuteMs) : draw(0, atOnce ? 1_500 : 8 * minuteMs);
  const answered = chance(draw);
  const whole = conversationRecord({
    conversationId: `conv_${world.records.length}`,
    agentId,
    direction: 'outbound',
    calleeNumber: attempt.e164,
    batchId,
    references: attempt.reference === null ? [] : [attempt.reference],
    startedAt: shownTime(draw, attempt.postedAt + delayMs, world.clock),
    hasTranscript: true,
    openingLine: answered ? ` ${attempt.openingLine?.replace(' ', ' \n') ?? 'Welcome.'} ` : null,
    agentTurns: answered ? 1 : 0,
  });
  // Nothing but a reference or a batch id can tell that a late call belongs to the earlier attempt.
  const facts = late && options.showing === 'patchy' ? whole : show(draw, whole, options.showing);
  const visibleAt = attempt.postedAt + delayMs + draw(0, 20 * minuteMs);
  addReadings(draw, world, facts, visibleAt, attempt.attemptId, answered);
}

/** Calls to the same people with the same words, before the first POST. */
function addOldRecords(draw: Draw, world: World, people: number): void {
  for (let person = 0; person < people; person++) {
    if (!chance(draw)) continue;
    const facts = conversationRecord({
      conversationId: `conv_${world.records.length}`,
      agentId,
      direction: oneOf(draw, 'outbound' as const, null),
      calleeNumber: oneOf(draw, numberOf(person), null),
      startedAt: oneOf(draw, shownTime(draw, -draw(0, 1e9), world.clock), null),
      openingLine: `Hello person ${person}, this is campaign 1.`,
    });
    addReadings(draw, world, facts, 0, null, true);
  }
}

function addCallsOfOthers(draw: Draw, world: World, people: number): void {
  const count = draw(0, 8);
  for (let i = 0; i < count; i++) {
    const at = draw(0, 240 * minuteMs);
    const base = {
      conversationId: `conv_${world.records.length}`,
      agentId,
      startedAt: shownTime(draw, at, world.clock),
      openingLine: oneOf(draw, 'Welcome.', 'Hello, how can I help?', null),
    };
    const someone = numberOf(draw(0, people - 1));
    const line = oneOf(draw, 'Welcome.', 'Hello person 0, this is campaign 1.');
    const facts = oneOf(
      draw,
      // A callee calls back.
      { ...base, direction: 'inbound' as const, calleeNumber: someone, openingLine: line },
      // A call of which the record says nothing more.
      { ...base },
      // Another system calls other people with the same words.
      { ...base, direction: 'outbound' as const, calleeNumber: '+12125550199', openingLine: line },
      // Another agent calls one of our people.
      { ...base, agentId: 'agent_b', direction: 'outbound' as const, calleeNumber: someone, openingLine: line },
    );
    addReadings(draw, world, conversationRecord(facts), at, null, true);
  }
}

function show(draw: Draw, facts: ConversationFacts, showing: Showing): ConversationFacts {
  switch (showing) {
    case 'full':
      return facts;
    case 'batch':
      return { ...facts, references: [] };
    case 'number':
      return { ...facts, references: [], batchId: null, openingLine: null };
    case 'spec':
      return { ...facts, references: [], batchId: null, direction: null, calleeNumber: null };
    case 'patchy': {
      const or = <T>(fact: T, missing: T): T => (chance(draw) ? fact : missing);
      return {
        ...facts,
        agentId: or(facts.agentId, null),
        direction: or(facts.direction, null),
        calleeNumber: or(facts.calleeNumber, null),
        batchId: or(facts.batchId, null),
        references: or(facts.references, []),
        startedAt: or(facts.startedAt, null),
        openingLine: or(facts.openingLine, null),
      };
    }
  }
}

/** Lists may show a record twice, once with fewer facts. */
function addReadings(
  draw: Draw,
  world: World,
  facts: ConversationFacts,
  visibleAt: number,
  attemptId: string | null,
  answered: boolean,
): void {
  world.records.push({ facts, visibleAt, attemptId, answered });
  if (draw(0, 3) > 0) return;
  const lessFacts = { ...facts, calleeNumber: null, batchId: null, references: [], openingLine: null };
  world.records.push({ facts: lessFacts, visibleAt: visibleAt + minuteMs, attemptId, answered });
}

/** A worker's instant as the service writes it: by its own clock, uncertain, in whole seconds. */
function shownTime(draw: Draw, at: number, clock: CorrelationClock): number {
  const error = draw(-clock.uncertaintyMs, clock.uncertaintyMs);
  return Math.floor((at + clock.offsetMs + error) / secondMs) * secondMs;
}

/** What the worker knows at an instant, given what it has matched before. */
export function knownAt(
  world: World,
  at: number,
  matches: readonly ConversationMatch[],
): { attempts: CorrelationAttempt[]; records: ConversationFacts[] } {
  const found = new Map(matches.map((match) => [match.attemptId, match.conversationId]));
  const attempts = world.attempts
    .filter((attempt) => attempt.postedAt <= at)
    .map((attempt) => {
      const conversationId = found.get(attempt.attemptId) ?? null;
      const supersededAt = attempt.supersededAt !== null && attempt.supersededAt <= at ? attempt.supersededAt : null;
      return { ...attempt, conversationId, supersededAt, open: conversationId === null && supersededAt === null };
    });
  return { attempts, records: world.records.filter((record) => record.visibleAt <= at).map((record) => record.facts) };
}

import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import type { CorrelationAttempt, CorrelationClock, ConversationMatch } from '../../src/rules/correlation/correlation.ts';
import { conversationRecord } from './conversation-record.ts';

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

/** Campaigns that call a few people several times over a day, with calls of others between, and the truth about each record. */
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

/** The record that the attempt's call leaves, if any; it starts at once or minutes later, but before the next POST unless it is late. */
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

/** A worker's instant as the service writes it: by its own clock, within the uncertainty, in whole seconds. */
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

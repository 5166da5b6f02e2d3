import fc from 'fast-check';
import type { ConversationFacts } from '../../src/domain/conversation-facts.ts';
import type { CorrelationAttempt, CorrelationClock, ConversationMatch } from '../../src/domain/correlation.ts';
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

type Draw = fc.GeneratorValue;

/** Campaigns that call a few people several times over a day, with calls of others between, and the truth about each record. */
export function worlds(options: WorldOptions): fc.Arbitrary<World> {
  return fc.gen().map((draw) => buildWorld(draw, options));
}

function buildWorld(draw: Draw, options: WorldOptions): World {
  const uncertaintyMs = draw(fc.integer, { min: 0, max: 3_000 });
  const clock = { offsetMs: draw(fc.integer, { min: -3_600_000, max: 3_600_000 }), uncertaintyMs };
  const world: World = { attempts: [], records: [], clock, endsAt: 0 };
  const people = draw(fc.integer, { min: 1, max: 6 });
  const sharedLine = options.rough && draw(fc.boolean);
  const rounds = draw(fc.integer, { min: 1, max: 4 });
  const lastOf = new Map<string, CorrelationAttempt>();
  let postedAt = 0;

  addOldRecords(draw, world, people);
  for (let round = 0; round < rounds; round++) {
    postedAt += draw(fc.integer, { min: 12 * minuteMs, max: 60 * minuteMs });
    const campaign = draw(fc.integer, { min: 1, max: options.campaigns });
    const replyLost = options.rough && draw(fc.boolean);
    const ownLine = !options.rough || draw(fc.integer, { min: 0, max: 3 }) > 0;
    for (let person = 0; person < people; person++) {
      if (!draw(fc.boolean)) continue;
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
  if (draw(fc.integer, { min: 0, max: 3 }) === 0) return;
  const late = options.rough && draw(fc.integer, { min: 0, max: 5 }) === 0;
  const atOnce = draw(fc.boolean);
  const delayMs = late
    ? draw(fc.integer, { min: 60 * minuteMs, max: 180 * minuteMs })
    : draw(fc.integer, { min: 0, max: atOnce ? 1_500 : 8 * minuteMs });
  const answered = draw(fc.boolean);
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
  const visibleAt = attempt.postedAt + delayMs + draw(fc.integer, { min: 0, max: 20 * minuteMs });
  addReadings(draw, world, facts, visibleAt, attempt.attemptId, answered);
}

/** Calls to the same people with the same words, before the first POST. */
function addOldRecords(draw: Draw, world: World, people: number): void {
  for (let person = 0; person < people; person++) {
    if (!draw(fc.boolean)) continue;
    const facts = conversationRecord({
      conversationId: `conv_${world.records.length}`,
      agentId,
      direction: draw(fc.constantFrom, 'outbound' as const, null),
      calleeNumber: draw(fc.constantFrom, numberOf(person), null),
      startedAt: draw(fc.constantFrom, shownTime(draw, -draw(fc.integer, { min: 0, max: 1e9 }), world.clock), null),
      openingLine: `Hello person ${person}, this is campaign 1.`,
    });
    addReadings(draw, world, facts, 0, null, true);
  }
}

function addCallsOfOthers(draw: Draw, world: World, people: number): void {
  const count = draw(fc.integer, { min: 0, max: 8 });
  for (let i = 0; i < count; i++) {
    const at = draw(fc.integer, { min: 0, max: 240 * minuteMs });
    const base = {
      conversationId: `conv_${world.records.length}`,
      agentId,
      startedAt: shownTime(draw, at, world.clock),
      openingLine: draw(fc.constantFrom, 'Welcome.', 'Hello, how can I help?', null),
    };
    const someone = numberOf(draw(fc.integer, { min: 0, max: people - 1 }));
    const line = draw(fc.constantFrom, 'Welcome.', 'Hello person 0, this is campaign 1.');
    const facts = draw(
      fc.constantFrom,
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
      const or = <T>(fact: T, missing: T): T => (draw(fc.boolean) ? fact : missing);
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
  if (draw(fc.integer, { min: 0, max: 3 }) > 0) return;
  const lessFacts = { ...facts, calleeNumber: null, batchId: null, references: [], openingLine: null };
  world.records.push({ facts: lessFacts, visibleAt: visibleAt + minuteMs, attemptId, answered });
}

/** A worker's instant as the service writes it: by its own clock, within the uncertainty, in whole seconds. */
function shownTime(draw: Draw, at: number, clock: CorrelationClock): number {
  const error = draw(fc.integer, { min: -clock.uncertaintyMs, max: clock.uncertaintyMs });
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

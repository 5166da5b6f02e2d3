import type { z } from 'zod';
import { refuseField } from '../../schemas/validate.ts';
import type { RequestSchemas } from '../../schemas/request-schemas.ts';
import { configOf, languageOfAgent, variablesOf } from '../../core/conversation/call-config.ts';
import type { Call } from '../../core/state/call.ts';
import { callSuccess, wireStatus } from './conversation-record.ts';
import { reasonOf } from './conversation-metadata.ts';
import { ObservedConversation, type ConversationView } from './seen-conversation.ts';

export type ConversationQuery = Partial<z.output<RequestSchemas['conversationPage']>>;

type Test = (seen: ObservedConversation) => boolean;

/** Throws 422 for an unreadable variable filter. */
export function conversationFilter(query: ConversationQuery, view: ConversationView): (call: Call) => boolean {
  const { call_start_after_unix: after, call_start_before_unix: before, user_id: userId, branch_id: branchId } = query;
  const { call_duration_min_secs: least, call_duration_max_secs: most, call_successful: success, search } = query;
  const { exclude_statuses: excluded, termination_reasons: reasons, phone_number_ids: numberIds, main_languages: languages } = query;
  // Cheapest tests first.
  const tests: Test[] = [
    ...testOf(numberIds, (ids, { call }) => ids.includes(call.phoneNumberId)),
    ...testOf(userId, (id, { call, shown }) => shown.shows('reference') && call.userId === id),
    ...testOf(branchId, (id, { call }) => call.clientData?.['branch_id'] === id),
    ...testOf(after, (time, seen) => seen.unixSeconds(seen.startedAt) >= time),
    ...testOf(before, (time, seen) => seen.unixSeconds(seen.startedAt) <= time),
    ...testOf(least, (seconds, { durationSeconds }) => durationSeconds >= seconds),
    ...testOf(most, (seconds, { durationSeconds }) => durationSeconds <= seconds),
    ...testOf(excluded, (statuses, { state }) => !statuses.includes(wireStatus(state))),
    ...testOf(reasons, (expected, seen) => expected.includes(reasonOf(seen))),
    ...testOf(languages, (expected, { call }) => expected.includes(languageOfAgent(configOf(call)))),
    ...variableTests(query),
    ...testOf(success, (expected, seen) => (expected === 'error' ? seen.ended && seen.course.brokeDown : callSuccess(seen) === expected)),
    ...testOf(search, (text, seen) => !seen.shown.withholds(seen.talk) && seen.turns.some((turn) => holds(turn.text, text))),
  ];
  if (tests.length === 0) return () => true;
  return (call) => {
    const seen = new ObservedConversation(call, view);
    return tests.every((test) => test(seen));
  };
}

function testOf<Wanted>(expected: Wanted | undefined, test: (expected: Wanted, seen: ObservedConversation) => boolean): Test[] {
  return expected === undefined ? [] : [(seen) => test(expected, seen)];
}

function holds(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function variableTests({ dynamic_variable_params: params = [], dynamic_variable_filter: single }: ConversationQuery): Test[] {
  const given = [
    ...params.map((text) => ({ text, parameter: 'dynamic_variable_params' })),
    ...(single === undefined ? [] : [{ text: single, parameter: 'dynamic_variable_filter' }]),
  ];
  return given.map(({ text, parameter }) => {
    const { name, test } = readVariableFilter(text, parameter);
    return ({ call, shown }) => {
      const { [name]: value } = shown.shows('reference') && !name.startsWith('secret__') ? variablesOf(call) : {};
      return test(value === undefined ? null : String(value));
    };
  });
}

/** `name:op:value`; the value may contain colons, the name may not. An empty value means unset. */
function readVariableFilter(text: string, parameter: string): { name: string; test: (value: string | null) => boolean } {
  const [, name, operator, operand] = /^([^:]+):(eq|neq|gt|gte|lt|lte|in):(.*)$/s.exec(text) ?? [];
  const refuse = (why: string) => refuseField(['query', parameter], why, 'invalid_filter', text);
  if (name === undefined || operand === undefined) throw refuse('Must be name:op:value, where op is one of eq, neq, gt, gte, lt, lte, in.');
  if (operator === 'eq') return { name, test: (value) => (value ?? '') === operand };
  if (operator === 'neq') return { name, test: (value) => (value ?? '') !== operand };
  if (operator === 'in') return { name, test: (value) => value !== null && operand.split('|').includes(value) };
  const limit = Number(operand);
  if (operand.trim() === '' || Number.isNaN(limit)) throw refuse(`The operator ${operator ?? ''} needs a number.`);
  const holdsFor = comparisons[operator as keyof typeof comparisons];
  return { name, test: (value) => value !== null && value.trim() !== '' && holdsFor(Number(value), limit) };
}

const comparisons = {
  gt: (value: number, limit: number) => value > limit,
  gte: (value: number, limit: number) => value >= limit,
  lt: (value: number, limit: number) => value < limit,
  lte: (value: number, limit: number) => value <= limit,
};

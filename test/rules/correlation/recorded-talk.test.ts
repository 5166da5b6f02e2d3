import { expect, test } from 'vitest';
import type { ConversationFacts } from '../../../src/rules/conversation-facts.ts';
import { nearForm, nearWords } from '../../../src/rules/correlation/near-form.ts';
import { mayHideTalkFrom, readRecord, recordedTalk } from '../../../src/rules/correlation/record.ts';
import { conversationRecord } from '../conversation-record.ts';

const ringLimitMs = 60_000;
const talkIn = (facts: Partial<ConversationFacts>, final: boolean) =>
  readRecord(conversationRecord(facts), { ringLimitMs }, { finished: final, final }).talk;
const silent = { status: 'done' as const, hasTranscript: true };

const records: [string, Partial<ConversationFacts>, keyof typeof recordedTalk][] = [
  ['a busy line', { status: 'failed', callResult: 'busy' }, 'nobody'],
  ['a machine', { status: 'done', callResult: 'voicemail', agentTurns: 1 }, 'nobody'],
  ['an empty transcript', silent, 'empty'],
  ['one that lasted as long as a phone rings', { ...silent, durationMs: ringLimitMs }, 'ringing'],
  ['one that lasted longer', { ...silent, durationMs: ringLimitMs + 1 }, 'maybe'],
  ['one that began and ended a while later', { ...silent, startedAt: 1_000, endedAt: 31_000 }, 'ringing'],
  ['a withheld transcript', { status: 'done' }, 'maybe'],
  ['an empty transcript with a recording', { ...silent, audio: 'audio' }, 'maybe'],
  ['an empty transcript with a collected value', { ...silent, collected: { moved: true } }, 'maybe'],
  ['an empty transcript with a judgement', { ...silent, evaluation: { polite: 'success' } }, 'maybe'],
  ['an empty transcript of an answered call', { ...silent, callResult: 'answered' }, 'maybe'],
  ['words of the agent alone', { ...silent, agentTurns: 1 }, 'maybe'],
  ['words although the carrier says busy', { status: 'failed', callResult: 'busy', userTurns: 1 }, 'maybe'],
  ['a call that is not over', { ...silent, status: 'in-progress' }, 'maybe'],
];

test.for(records)('%s: %o shows %s', ([, facts, talk]) => {
  expect(talkIn(facts, true)).toBe(recordedTalk[talk]);
});

test('a record that may still grow may be a talk, whatever it shows', () => {
  for (const [, facts] of records) expect(talkIn(facts, false)).toBe(recordedTalk.maybe);
});

test.for([
  [{ wordsShown: false, bareShown: false, longestEmptyMs: 0 }, 'empty'],
  [{ wordsShown: false, bareShown: false, longestEmptyMs: ringLimitMs + 1 }, 'empty'],
  [{ wordsShown: true, bareShown: false, longestEmptyMs: 0 }, 'maybe'],
  [{ wordsShown: true, bareShown: false, longestEmptyMs: ringLimitMs }, 'maybe'],
  [{ wordsShown: true, bareShown: false, longestEmptyMs: ringLimitMs + 1 }, 'ringing'],
  [{ wordsShown: true, bareShown: true, longestEmptyMs: 0 }, 'ringing'],
] as const)('of an agent that has shown %o a record may hide a talk from %s on', ([shown, from]) => {
  expect(mayHideTalkFrom(shown, ringLimitMs)).toBe(recordedTalk[from]);
});

test.for([
  [{}, 0],
  [{ durationMs: 5_000, startedAt: 0, endedAt: 9_000 }, 5_000],
  [{ startedAt: 1_000, endedAt: 9_000 }, 8_000],
  [{ startedAt: 1_000 }, 0],
] as const)('a call with %o lasted %i', ([facts, lastedMs]) => {
  expect(readRecord(conversationRecord(facts)).lastedMs).toBe(lastedMs);
});

test.for([
  ['Hello Ana, this is about your visit.', 'helloanathisisaboutyourvisit'],
  ['  HELLO   ana\tthis is about your visit', 'helloanathisisaboutyourvisit'],
  ['“Hello” ‘Ana’ – this is about your visit…', 'helloanathisisaboutyourvisit'],
  ['Hello O’Brien', 'helloobrien'],
  ["Hello O'Brien!", 'helloobrien'],
  ['Hello José', 'hellojosé'],
  // Composed and decomposed, and full width.
  ['Hello José', 'hellojosé'],
  ['Ｈｅｌｌｏ', 'hello'],
  ['', ''],
  ['… —', ''],
])('%j is compared as %j', ([line = '', near]) => {
  expect(nearForm(line)).toBe(near);
});

test.for([
  ['Anne-Marie and/or José', ['anne', 'marie', 'and', 'or', 'josé']],
  ['at 5:30, room 12', ['at', '530', 'room', '12']],
  [' ', []],
] as const)('%j has the words %j', ([line, words]) => {
  expect(nearWords(line)).toEqual(words);
});

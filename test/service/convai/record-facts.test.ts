import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { factsFromListEntry, factsFromRecord } from '../../../src/service/convai/record-facts.ts';
import { parseServiceTime } from '../../../src/service/port/record-values.ts';

const start = Date.UTC(2025, 2, 4, 10, 0, 0);

const specRecord = {
  conversation_id: 'conv_1',
  transcript: [
    { speaker: 'agent', text: 'Hello, this is the clinic.', timestamp: 0 },
    { speaker: 'user', text: 'Hi.', timestamp: 3 },
    { speaker: 'agent', text: 'Good-bye.', timestamp: 6 },
  ],
  audio: 'http://127.0.0.1:4010/audio/conv_1.wav',
  metadata: { start_time: '2025-03-04T10:00:00Z', end_time: '2025-03-04T10:00:42Z', duration: 42, agent_id: 'agent_1' },
  evaluation_results: { polite: { result: 'success', rationale: 'was polite' } },
  collected_data: { confirmed: true, reference: 'ref-1' },
};

test('of what no database can store there is the code, and a record with it is told as any other', () => {
  const odd = 'a\0b \ud800 \u202e\u0007';
  const analysis = {
    data_collection_results: { [odd]: { value: { inner: [odd] } }, when: { value: odd } },
    evaluation_criteria_results: null,
  };
  const facts = factsFromRecord({ ...specRecord, analysis, transcript: [{ role: 'agent', message: odd }] });
  const told = 'a\\u0000b \\ud800 \u202e\u0007';
  expect(facts).toMatchObject({ conversationId: 'conv_1', openingLine: told, agentTurns: 1, references: expect.arrayContaining([told]) });
  expect(facts.collected).toMatchObject({ [told]: { inner: [told] }, when: told, confirmed: true });
  expect(factsFromRecord({ ...specRecord, collected_data: { when: '😀 \\u0000' } }).collected).toEqual({ when: '😀 \\u0000' });
});

const extendedRecord = {
  agent_id: 'agent_1',
  conversation_id: 'conv_2',
  status: 'done',
  transcript: [
    { role: 'agent', message: 'Hello.', time_in_call_secs: 0 },
    { role: 'agent', message: null, tool_calls: [{}], time_in_call_secs: 1 },
    { role: 'user', message: 'Hi.', time_in_call_secs: 2 },
  ],
  metadata: {
    start_time_unix_secs: start / 1000,
    call_duration_secs: 17,
    termination_reason: 'Call ended by remote party',
    phone_call: { type: 'x', direction: 'outbound', external_number: '+12125550101', call_result: 'answered' },
    batch_call: { batch_call_id: 'batch_1', batch_call_recipient_id: 'r' },
  },
  analysis: {
    call_successful: 'success',
    evaluation_criteria_results: { polite: { criteria_id: 'polite', result: 'failure', rationale: 'x' } },
    data_collection_results: { reason: { data_collection_id: 'reason', value: 'ref-3', rationale: 'x' } },
  },
  conversation_initiation_client_data: {
    dynamic_variables: { ref: 'ref-2', visits: 3, system__conversation_id: 'conv_2', secret__token: 'hush' },
  },
};

test('the documented names are read', () => {
  expect(factsFromRecord(specRecord)).toEqual({
    conversationId: 'conv_1',
    agentId: 'agent_1',
    direction: null,
    calleeNumber: null,
    batchId: null,
    references: ['ref-1'],
    status: null,
    startedAt: start,
    endedAt: start + 42_000,
    durationMs: 42_000,
    callResult: null,
    terminationReason: null,
    hasTranscript: true,
    openingLine: 'Hello, this is the clinic.',
    agentTurns: 2,
    userTurns: 1,
    audio: 'http://127.0.0.1:4010/audio/conv_1.wav',
    collected: { confirmed: true, reference: 'ref-1' },
    evaluation: { polite: 'success' },
  });
});

test('the likely further names are read', () => {
  expect(factsFromRecord(extendedRecord)).toEqual({
    conversationId: 'conv_2',
    agentId: 'agent_1',
    direction: 'outbound',
    calleeNumber: '+12125550101',
    batchId: 'batch_1',
    references: ['r', 'ref-2', 'ref-3'],
    status: 'done',
    startedAt: start,
    endedAt: null,
    durationMs: 17_000,
    callResult: 'answered',
    terminationReason: 'Call ended by remote party',
    hasTranscript: true,
    openingLine: 'Hello.',
    agentTurns: 1,
    userTurns: 1,
    audio: null,
    collected: { reason: 'ref-3' },
    evaluation: { polite: 'failure' },
  });
});

test('a record in both dialects at once reads the same as either, the documented name first', () => {
  const facts = factsFromRecord({
    ...extendedRecord,
    metadata: { ...extendedRecord.metadata, start_time: '2025-03-04T10:00:00.250Z', duration: 17.5 },
    collected_data: { reason: { value: 'ref-4' } },
  });
  expect(facts).toMatchObject({ startedAt: start + 250, durationMs: 17_500, collected: { reason: 'ref-4' } });
});

test('a list entry is read in both dialects', () => {
  expect(factsFromListEntry({ conversation_id: 'c', metadata: { start_time: start / 1000 } })).toMatchObject({
    conversationId: 'c',
    startedAt: start,
    hasTranscript: false,
    agentId: null,
    collected: null,
  });
  expect(
    factsFromListEntry({
      conversation_id: 'c',
      agent_id: 'a',
      start_time_unix_secs: start / 1000,
      call_duration_secs: 5,
      status: 'in-progress',
      direction: 'inbound',
      termination_reason: '',
    }),
  ).toMatchObject({
    agentId: 'a',
    startedAt: start,
    durationMs: 5_000,
    status: 'in-progress',
    direction: 'inbound',
    terminationReason: null,
  });
});

test('the number of an inbound call is the caller, not a callee', () => {
  const phone_call = { direction: 'inbound', external_number: '+12125550101' };
  expect(factsFromRecord({ metadata: { phone_call } })).toMatchObject({ direction: 'inbound', calleeNumber: null });
});

test('the agent asked for stands in when the record does not name its agent', () => {
  expect(factsFromRecord({}, 'agent_9').agentId).toBe('agent_9');
  expect(factsFromRecord({ agent_id: 'agent_1' }, 'agent_9').agentId).toBe('agent_1');
});

test.each([
  ['2025-03-04T10:00:00Z', start],
  ['2025-03-04T10:00:00.000+00:00', start],
  ['2025-03-04T12:00:00+0200', start],
  ['2025-03-04 10:00:00', start],
  ['2025-03-04T10:00', start],
  [start, start],
  [start / 1000, start],
  [start / 1000 + 0.25, start + 250],
  [String(start), start],
  [String(start / 1000), start],
  [0, null],
  [-1, null],
  [Number.NaN, null],
  [Infinity, null],
  [start * 1000, null],
  ['', null],
  ['yesterday', null],
  ['2025-13-04T10:00:00Z', null],
  ['2025-03-04', null],
  [null, null],
  [undefined, null],
  [true, null],
  [{}, null],
])('a time given as %j', (value, expected) => {
  expect(parseServiceTime(value)).toBe(expected);
});

test.each(
  // prettier-ignore
  [
    [[{ speaker: 'Agent', text: 'a' }, { speaker: ' USER ', text: 'b' }], 1, 1, 'a'],
    [[{ role: 'assistant', message: 'a' }, { role: 'customer', message: 'b' }], 1, 1, 'a'],
    [[{ role: 'agent', message: ' ' }, { role: 'agent', message: 'a' }], 1, 0, 'a'],
    [[{ speaker: 'user', text: 'first' }, { speaker: 'agent', text: 'second' }], 1, 1, 'second'],
    [[{ speaker: 'narrator', text: 'a' }], 0, 0, null],
    [[{ speaker: 'agent' }, { speaker: 'user' }], 1, 1, null],
    [[null, 'text', 7, [], {}], 0, 0, null],
    [[], 0, 0, null],
  ],
)('turns of %j', (transcript, agentTurns, userTurns, openingLine) => {
  expect(factsFromRecord({ transcript })).toMatchObject({ hasTranscript: true, agentTurns, userTurns, openingLine });
});

test('an unfamiliar value is null, never an error', () => {
  expect(
    factsFromRecord({
      status: 'paused',
      metadata: {
        phone_call: { call_result: 'eaten', direction: 'sideways', external_number: 'unknown' },
        duration: -3,
      },
    }),
  ).toMatchObject({ status: null, callResult: null, direction: null, calleeNumber: null, durationMs: null });
});

test.each(['__proto__', 'constructor', 'toString'])('a name such as %s does no harm', (name) => {
  const record = JSON.parse(
    `{"status": "${name}", "collected_data": {"${name}": {"value": "v"}}, "transcript": [{"speaker": "${name}", "text": "x"}]}`,
  ) as unknown;
  const facts = factsFromRecord(record);
  expect(facts.status).toBeNull();
  expect(Object.entries(facts.collected ?? {})).toEqual([[name, 'v']]);
  expect(facts.agentTurns + facts.userTurns).toBe(0);
});

test('nothing makes it throw, and the types of the facts hold', () => {
  const anyOf = (known: unknown) => fc.oneof(fc.anything(), fc.constant(known));
  const record = fc.record(
    {
      conversation_id: anyOf('conv_1'),
      status: anyOf('done'),
      transcript: fc.oneof(fc.anything(), fc.array(fc.oneof(fc.anything(), fc.record({ speaker: anyOf('agent'), text: anyOf('hi') })))),
      metadata: fc.oneof(
        fc.anything(),
        fc.record({ start_time: anyOf(1), duration: anyOf(1), phone_call: anyOf({ external_number: '+12125550101' }) }),
      ),
      analysis: fc.oneof(fc.anything(), fc.record({ data_collection_results: fc.dictionary(fc.string(), fc.anything()) })),
      collected_data: fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.anything())),
      conversation_initiation_client_data: fc.record({ dynamic_variables: fc.dictionary(fc.string(), fc.anything()) }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.anything(), record), (value) => {
      for (const facts of [factsFromRecord(value), factsFromListEntry(value)]) {
        expect(typeof facts.conversationId).toBe('string');
        expect(facts.references.every((reference) => typeof reference === 'string')).toBe(true);
        for (const time of [facts.startedAt, facts.endedAt, facts.durationMs]) {
          expect(time === null || Number.isSafeInteger(time)).toBe(true);
        }
      }
    }),
    { seed: 11, numRuns: 1_000 },
  );
});

test('pointers of a campaign file find what stands under names of no contract', () => {
  const record = {
    conversation_id: 'c',
    metadata: {
      'a/b': { 'c~d': 'USER_BUSY' },
      telephony: { to: ' +12125550101 ', codes: [17, true], empty: ' ', nested: {} },
      phone_call: { external_number: '+12125550199' },
      batch_id: 'batch_1',
    },
    labels: { ref: 'ledger:spring/1/1' },
    collected_data: { note: 'ref-2' },
  };
  const pointers = {
    calleeNumber: ['/metadata/nowhere', '/metadata/telephony/to'],
    batchId: ['/metadata/telephony/codes/0'],
    reference: ['/labels/ref', '/labels/none'],
    values: [
      '/metadata/a~1b/c~0d',
      '/metadata/telephony/codes/1',
      '/metadata/telephony/empty',
      '/metadata/telephony/nested',
      '/metadata/telephony/codes/length',
      '/metadata/toString',
    ],
  };
  expect(factsFromRecord(record, null, pointers)).toMatchObject({
    calleeNumber: '+12125550101',
    batchId: '17',
    references: ['ledger:spring/1/1', 'ref-2'],
    pointed: { '/metadata/a~1b/c~0d': 'USER_BUSY', '/metadata/telephony/codes/1': 'true' },
  });
  expect(factsFromListEntry(record, pointers).calleeNumber).toBe('+12125550101');
  expect(factsFromRecord(record)).toMatchObject({ calleeNumber: '+12125550199', batchId: 'batch_1' });
  expect(factsFromRecord(record)).not.toHaveProperty('pointed');
  // What is no number leaves the known name to speak, and an inbound call has no callee of ours.
  const wrong = { ...pointers, calleeNumber: ['/labels/ref'] };
  expect(factsFromRecord(record, null, wrong).calleeNumber).toBe('+12125550199');
  const inbound = { ...record, metadata: { ...record.metadata, direction: 'inbound' } };
  expect(factsFromRecord(inbound, null, pointers).calleeNumber).toBeNull();
  const long = factsFromRecord({ text: 'x'.repeat(1000) }, null, { ...pointers, values: ['/text'] });
  expect(long.pointed?.['/text']).toHaveLength(200);
});

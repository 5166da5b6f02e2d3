import * as fc from 'fast-check';
import { expect } from 'vitest';
import { plainQuirks } from '../../../src/sandbox/core/world/record-habits.ts';
import { dialectFacts } from '../../../src/sandbox/core/dialects.ts';
import { describeConversation, describeListEntry } from '../../../src/sandbox/convai/records/conversation-record.ts';
import { ConversationStore } from '../../../src/sandbox/core/state/conversation-store.ts';
import type { Call } from '../../../src/sandbox/core/state/call.ts';
import { noon, plainNumbers, startTestSandbox, test, type Json } from '../harness.ts';

const hour = 3_600_000;
const list = '/v1/convai/conversations';

test('the spec dialect serves nothing but what the contract names', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  await sandbox.batch(['+12125550100']);
  const path = `${list}/${sandbox.calls()[0]?.conversationId}`;
  const unfinished = await sandbox.read(path);
  expect(unfinished.metadata).toEqual({ start_time: new Date(noon).toISOString(), agent_id: 'agent_reminders' });
  sandbox.clock.advance(hour);
  const record = await sandbox.read(path);
  expect(Object.keys(record).sort()).toEqual([
    'audio',
    'collected_data',
    'conversation_id',
    'evaluation_results',
    'metadata',
    'transcript',
  ]);
  expect(Object.keys(record.metadata).sort()).toEqual(['agent_id', 'duration', 'end_time', 'start_time']);
  for (const turn of record.transcript) expect(Object.keys(turn).sort()).toEqual(['speaker', 'text', 'timestamp']);
  const page = await sandbox.read(list);
  expect(page).toEqual({
    conversations: [{ conversation_id: record.conversation_id, metadata: { start_time: record.metadata.start_time } }],
    has_more: false,
    next_cursor: null,
  });
  const numbers = await sandbox.read('/v1/convai/phone-numbers');
  expect(Object.keys(numbers[2]).sort()).toEqual(['agent_id', 'label', 'phone_number', 'phone_number_id']);
  const agent = await sandbox.read('/v1/convai/agents/agent_survey');
  expect(agent).not.toHaveProperty('platform_settings');
});

test('the spec dialect knows no fields beyond the contract in requests either', async () => {
  const sandbox = await startTestSandbox({ dialect: 'spec' });
  const changes = { name: 'N', tags: [], workflow: {}, platform_settings: {}, conversation_config: { agent: { prompt: { tools: [] } } } };
  for (const [field, value] of Object.entries(changes)) {
    const { status, body } = await sandbox.patch('/v1/convai/agents/agent_survey', { [field]: value });
    expect([status, body.detail[0].loc.slice(0, 2)]).toEqual([422, ['body', field]]);
  }
  const calls = [{ to_phone_number: '+12125550150', dynamic_variables: {} }];
  expect((await sandbox.batch([], { calls })).body.detail[0].loc).toEqual(['body', 'calls', 0, 'dynamic_variables']);
  expect((await sandbox.batch([], { calls: [{ to_phone_number: '+12125550150', variables: { a: 1 } }] })).status).toBe(200);
});

test('the extended dialect serves the contract’s names and the inner fields beside them', async ({ sandbox }) => {
  const answer = await sandbox.batch(['+12125550100']);
  sandbox.clock.advance(hour);
  const entry = (await sandbox.read(list)).conversations[0];
  const record = await sandbox.read(`${list}/${entry.conversation_id}`);
  expect(entry).toMatchObject({ agent_id: 'agent_reminders', status: 'done', direction: 'outbound', call_successful: 'success' });
  expect(entry.start_time_unix_secs).toBe(noon / 1000);
  expect(record.metadata).toMatchObject({
    start_time: new Date(noon).toISOString(),
    start_time_unix_secs: noon / 1000,
    call_duration_secs: record.metadata.duration,
    batch_call: { batch_call_id: answer.body.batch_id },
    phone_call: { phone_number_id: 'pn_main', agent_number: '+12125550199', external_number: '+12125550100' },
  });
  expect(record.analysis.call_successful).toBe('success');
  expect(record.transcript[0]).toMatchObject({ role: 'agent', speaker: 'agent', time_in_call_secs: 0 });
});

test('turns in the extended dialect tell who made them up, from what, and whether they were cut off', async ({ sandbox }) => {
  await sandbox.batch(['+12125550107']);
  sandbox.clock.advance(hour);
  const record = await sandbox.record(0);
  const [opening, greeting] = record.transcript;
  const question = record.transcript.find((turn: Json) => turn.producing_llm !== null);
  expect(opening).toMatchObject({ interrupted: true, producing_llm: null, llm_usage: null, tool_calls: [] });
  expect(greeting).toMatchObject({ role: 'user', interrupted: false, source_medium: 'audio' });
  const { producing_llm: model, llm_usage: usage } = question;
  expect(Object.keys(usage.model_usage)).toEqual([model]);
  expect(usage.model_usage[model].output_total.tokens).toBe(Math.ceil(question.original_message.length / 4));
  expect(record.metadata).toMatchObject({ main_language: 'en', conversation_initiation_source: 'telephony' });
  expect(record.metadata.charging.llm_usage[model].output_total.tokens).toBe(record.metadata.usage.models[model].output_tokens);
  expect(record.analysis.transcript_summary).toContain('appointment: confirmed');
});

test('a list in the spec dialect does not work out what was said', async () => {
  const seed = 'lists';
  const call = { conversationId: 'conv_x', recordedAt: noon, agent: null, live: null } as unknown as Call;
  const course = { answeredAt: noon, endedAt: noon + 9, analysedAt: noon + 9, brokeDown: false };
  const guarded = new Proxy({ ...call, course } as unknown as Call, {
    get: (target, name) => {
      if (name === 'live' || name === 'openingLine') throw new Error(`${name} was read`);
      return Reflect.get(target, name);
    },
  });
  const view = {
    seed,
    now: noon + 60,
    audioUrl: () => '',
    habits: plainQuirks,
    shownTime: (at: number) => at,
    facts: dialectFacts.spec,
  } as const;
  expect(describeListEntry(guarded, view)).toMatchObject({ conversation_id: 'conv_x' });
  expect(() => describeListEntry(guarded, { ...view, facts: dialectFacts.extended })).toThrow('live was read');
});

test('a conversation that was no phone call tells nothing of a phone', () => {
  const course = { result: 'answered', answeredAt: noon, endedAt: noon + 9, analysedAt: noon + 9, terminationReason: '' };
  const talk = { turns: [], endedAt: noon + 9, terminationReason: '', brokeDown: false };
  const call = { channel: 'websocket', direction: 'inbound', recordedAt: noon, agent: null, variables: {}, live: talk, course };
  const view = {
    seed: 's',
    now: noon,
    audioUrl: () => '',
    habits: plainQuirks,
    shownTime: (at: number) => at,
    facts: dialectFacts.extended,
  } as const;
  const { metadata } = describeConversation(call as unknown as Call, view) as Json;
  expect(metadata).not.toHaveProperty('phone_call');
  expect(metadata.conversation_initiation_source).toBe('websocket');
});

async function readAll(get: (path: string) => Promise<{ body: Json }>, path: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const { body }: { body: Json } = await get(`${path}${cursor === null ? '' : `&cursor=${cursor}`}`);
    ids.push(...body.conversations.map((c: Json) => c.conversation_id));
    cursor = body.next_cursor;
    expect(body.has_more).toBe(cursor !== null);
  } while (cursor !== null);
  return ids;
}

test('the list can be turned round, and shows one agent’s conversations when asked for one', async () => {
  const sandbox = await startTestSandbox({ listOrder: 'oldest_first' });
  const numbers = plainNumbers(10);
  await sandbox.batch(numbers.slice(0, 5));
  await sandbox.batch(numbers.slice(5), { agent_id: 'agent_survey' });
  const ids = sandbox.calls().map((call) => call.conversationId);
  expect(await readAll(sandbox.get, `${list}?page_size=2`)).toEqual(ids);
  expect(await readAll(sandbox.get, `${list}?page_size=2&agent_id=agent_survey`)).toEqual(ids.slice(5));
  expect((await sandbox.read(`${list}?agent_id=none`)).conversations).toEqual([]);
});

test('a page costs what it shows, also among 100,000 records', () => {
  const store = new ConversationStore();
  let reads = 0;
  for (let index = 0; index < 100_000; index += 1) {
    const call = { conversationId: `conv_${index}`, agentId: `agent_${index % 2}`, hiddenForMs: 0, recordDeleted: false, recordedAt: null };
    const counted = new Proxy(call, {
      get: (target, name) => {
        if (name === 'recordDeleted') reads += 1;
        return Reflect.get(target, name);
      },
    });
    store.add(counted as unknown as Call, noon + index);
  }
  const page = store.page({ agentId: 'agent_1', start: 25_000, size: 100, order: 'newest_first', now: noon * 2, madeBefore: Infinity });
  expect(page.conversations).toHaveLength(100);
  expect(page.next).toBe(24_900);
  expect(reads).toBeLessThan(150);
});

test('any mix of deleting, hiding and adding between pages shows every record that was listed throughout exactly once', () => {
  const steps = fc.array(fc.record({ add: fc.nat(3), remove: fc.nat(40), hide: fc.boolean() }), { maxLength: 30 });
  fc.assert(
    fc.property(
      fc.constantFrom('newest_first' as const, 'oldest_first' as const),
      fc.integer({ min: 1, max: 5 }),
      steps,
      (order, size, plan) => {
        const store = new ConversationStore();
        const add = (id: number, hidden: boolean): void => {
          const call = { conversationId: `c${id}`, agentId: 'a', hiddenForMs: hidden ? 1e6 : 0, recordDeleted: false, recordedAt: null };
          store.add(call as unknown as Call, noon + id);
        };
        let made = 0;
        for (; made < 20; made += 1) add(made, made % 7 === 0);
        const steady = new Set(Array.from({ length: 20 }, (_, id) => `c${id}`).filter((_, id) => id % 7 !== 0));
        const seen: string[] = [];
        let start: number | null = null;
        let turn = 0;
        do {
          const page = store.page({ agentId: 'a', start, size, order, now: noon + 1000, madeBefore: Infinity });
          seen.push(...page.conversations.map((call) => call.conversationId));
          start = page.next;
          const step = plan[turn++];
          if (step === undefined) continue;
          for (let count = 0; count < step.add; count += 1) add(made++, step.hide);
          if (store.delete(`c${step.remove}`)) steady.delete(`c${step.remove}`);
        } while (start !== null);
        expect(new Set(seen).size).toBe(seen.length);
        for (const id of steady) expect(seen).toContain(id);
      },
    ),
    { seed: 1 },
  );
});

import { expect } from 'vitest';
import { catalogue } from '../../../../src/sandbox/models/catalogue.ts';
import { plainNumbers, startTestSandbox, test, type Json, type TestSandbox } from '../../harness.ts';
import { createModelTalks } from '../../../../src/sandbox/llm/model-talks.ts';
import { askModel } from '../../../../src/sandbox/llm/ask-model.ts';
import { newCall } from '../../../../src/sandbox/core/state/call.ts';
import { resolveSettings } from '../../../../src/sandbox/core/settings/settings.ts';
import { chunk, startModelServer } from '../../llm/model-server.ts';
import { speakingMs } from '../../../../src/sandbox/core/state/talk.ts';

async function talk(
  sandbox: TestSandbox,
  agentId: string,
  call: Record<string, unknown> = {},
): Promise<{ record: Json; agent: string[]; user: string[] }> {
  const record = await sandbox.call('', { agent_id: agentId, calls: [{ to_phone_number: '+12125550100', ...call }] });
  const said = (speaker: string): string[] =>
    record.transcript.filter((turn: Json) => turn.speaker === speaker).map((turn: Json) => turn.text);
  return { record, agent: said('agent'), user: said('user') };
}

test('each item is asked in words for a person, with its choices or kind of answer', async ({ sandbox }) => {
  const agentId = await sandbox.createAgent(
    {},
    {
      platform_settings: {
        data_collection: {
          wants_callback: { type: 'boolean', description: 'Whether the customer wants a callback' },
          shoe_size: { type: 'integer' },
          ease: { type: 'integer', description: 'From 1 to 10, how easy was it?' },
          colour: { type: 'string', enum: ['red', 'blue'], description: "The customer's favourite colour." },
          city: { type: 'string', description: 'Which city do you live in?' },
          sounded_angry: { type: 'boolean', description: 'Whether the customer sounded angry' },
        },
      },
    },
  );
  const { record, agent } = await talk(sandbox, agentId);
  const asked = agent.join(' ');
  expect(asked).toContain('Could you tell me whether the customer wants a callback?');
  expect(asked).toContain('Could you tell me your shoe size? Please give me a number.');
  expect(asked).toContain("Could you tell me the customer's favourite colour? You can say red, blue.");
  expect(asked).toContain('Which city do you live in?');
  expect(asked).not.toContain('angry');
  // A number is drawn from the scale that the question names.
  expect([7, 8, 9, 10]).toContain(record.collected_data.ease.value);
  expect(record.collected_data).toMatchObject({
    wants_callback: { value: true },
    shoe_size: { value: expect.any(Number) },
    colour: { value: 'red' },
    city: { value: expect.any(String) },
    sounded_angry: { value: false },
  });
});

test('who does not answer is asked once more, and not a third time', async () => {
  const sandbox = await startTestSandbox({ world: { people: [{ number: '+12125550141', answers: { size: 'Blue sky.' } }] } });
  const agentId = await sandbox.createAgent(
    {},
    {
      platform_settings: { data_collection: { size: { type: 'integer', description: 'What is your size?' } } },
    },
  );
  const { record, agent } = await talk(sandbox, agentId, { to_phone_number: '+12125550141' });
  expect(agent.filter((text) => text.includes('What is your size?'))).toHaveLength(2);
  expect(agent[2]).toMatch(/^Sorry, I did not get that\./);
  expect(record.collected_data.size).toMatchObject({ value: null, rationale: 'It was not said.' });
});

test('what a person knows is what a question names, not what stands inside its words', async () => {
  const sandbox = await startTestSandbox({
    world: { people: [{ number: '+12125550141', answers: { age: 'Eighty.', 'best-day': 'Monday.' } }] },
  });
  const items = { remark: { type: 'string', description: 'Any message?' }, day: { type: 'string', description: 'Which best day?' } };
  const agentId = await sandbox.createAgent({}, { platform_settings: { data_collection: items } });
  const { record } = await talk(sandbox, agentId, { to_phone_number: '+12125550141' });
  expect(record.collected_data.remark.value).not.toBe('Eighty.');
  expect(record.collected_data.day.value).toBe('Monday.');
});

const outbound = { hosts: [], ownPort: null };

test('a model that is done is not waited for, and one that says more than a mebibyte fails', async () => {
  const model = await startModelServer((response) => response.write(`${chunk({ content: 'Well.' })}data: [DONE]\n\n`));
  const question = { url: model.url, headers: {}, body: {}, silenceMs: 20_000 };
  const ask = () => askModel(question, outbound, new AbortController().signal);
  expect(await ask()).toEqual({ text: 'Well.', end: null });
  model.answer = (response) =>
    response.end(
      chunk({ content: 'é'.repeat(500) })
        .repeat(900)
        .concat('data: [DONE]\n'),
    );
  expect((await ask()).text).toBe('é'.repeat(450_000));
  model.answer = (response) => {
    response.write(chunk({ content: 'x'.repeat(1_000) }).repeat(1_100), () => setTimeout(() => response.end('data: [DONE]\n'), 50));
  };
  await expect(ask()).rejects.toThrow('the model sent more than 1 MiB');
});

test('a call that no model can hold breaks down, and takes nothing down with it', async () => {
  const call = newCall({
    callId: 'call',
    conversationId: 'conv',
    agentId: 'agent',
    phoneNumberId: 'pn',
    to: '+12125550100',
    nth: 0,
    acceptedAt: 0,
    realAcceptedAt: 0,
  });
  const talk = await createModelTalks(resolveSettings({})).hold(call, 7);
  expect(talk).toEqual({ turns: [], endedAt: 7, terminationReason: 'internal_error: Error', brokeDown: true });
});

test.for<[{ silence_end_call_timeout?: number }, string, number]>([
  [{}, 'Nobody spoke.', 3],
  [{ silence_end_call_timeout: 40 }, 'Nobody spoke.', 4],
])('the agent asks again after every silence, and then ends the call: %o', async ([turn, reason, least], { sandbox }) => {
  const override = { turn: { turn_timeout: 7, ...turn } };
  const { record, agent, user } = await talk(sandbox, 'agent_reminders', {
    to_phone_number: '+12125550106',
    conversation_config_override: override,
  });
  expect(user).toEqual([]);
  const asked = record.transcript.filter(({ text }: Json) => text === 'Hello, can you hear me?');
  expect(asked.length).toBeGreaterThanOrEqual(least - 1);
  for (const [index, turn] of asked.slice(1).entries())
    expect(turn.time_in_call_secs - asked[index].time_in_call_secs).toBeLessThanOrEqual(10);
  expect(record.metadata.termination_reason).toBe(reason);
  expect(agent).toHaveLength(asked.length + ('silence_end_call_timeout' in turn ? 1 : 2));
});

test('the agent makes sure whom it speaks with when it knows a name that it has not said', async () => {
  const world = {
    people: [
      { number: '+12125550141', name: 'Ada Example' },
      { number: '+12125550142', name: 'Ben Example', mood: 'friendly' as const },
      { number: '+12125550143', name: 'Carla Sample', mood: 'friendly' as const },
    ],
  };
  const sandbox = await startTestSandbox({ world });
  const call = (to: string) => ({ to_phone_number: to, variables: { name: 'Ben Example' } });
  const right = await talk(sandbox, 'agent_reminders', call('+12125550142'));
  expect(right.agent[1]).toBe('Am I speaking with Ben Example?');
  expect(right.user).toContain('Yes.');
  expect(right.record.collected_data.appointment.value).toBe('confirmed');
  const wrong = await talk(sandbox, 'agent_reminders', call('+12125550143'));
  expect(wrong.agent.at(-1)).toContain('sorry to have disturbed you');
  expect(wrong.record.collected_data.appointment.value).toBeNull();
  const greeted = await talk(sandbox, 'agent_reminders', {
    ...call('+12125550142'),
    conversation_config_override: { agent: { first_message: 'Hello {{name}}, it is about your appointment.' } },
  });
  expect(greeted.agent.join(' ')).not.toContain('Am I speaking with');
});

test('“who is this?” is answered from the opening line, else with the name of the agent', async () => {
  const suspicious = { persona: 'suspicious', mood: 'friendly', greeting: 'Hello?' } as const;
  const sandbox = await startTestSandbox({ world: { people: [{ number: '+12125550141', ...suspicious }] } });
  const call = { to_phone_number: '+12125550141' };
  const named = await sandbox.createAgent(
    {},
    {
      name: 'Example Clinic',
      conversation_config: { agent: { first_message: 'Hello.' } },
      platform_settings: { data_collection: { city: { type: 'string', description: 'Which city?' } } },
    },
  );
  const { agent, user } = await talk(sandbox, named, call);
  expect(user).toContain('Hold on. Who is this, and why are you calling?');
  expect(agent).toContain('This is an automated call: Example Clinic. Which city?');
  const fromLine = await talk(sandbox, 'agent_reminders', call);
  expect(fromLine.agent.join(' ')).toContain('This is an automated call. I am calling about your appointment.');
});

test('opening line and prompt know variables of the call, defaults of the agent and the service’s own names', async ({ sandbox }) => {
  const agentId = await sandbox.createAgent(
    {},
    {
      conversation_config: {
        agent: {
          first_message: 'Hi {{first}} {{last}}, {{system__called_number}} from {{system__caller_id}}. {{unknown}}',
          dynamic_variables: { dynamic_variable_placeholders: { first: 'Ada', last: 'Example' } },
        },
      },
    },
  );
  const variables = { last: 'Sample', system__caller_id: 'forged' };
  const { agent, record } = await talk(sandbox, agentId, { variables });
  expect(agent[0]).toBe('Hi Ada Sample, +12125550100 from +12125550199. {{unknown}}');
  expect(record.status).toBe('done');
});

test('what an agent is given in another language is said and recorded as it is; its own words are English', async () => {
  const sandbox = await startTestSandbox({
    world: { people: [{ number: '+12125550141', language: 'de', mood: 'friendly', answers: { zusage: 'Ja, gerne.' } }] },
  });
  const agentId = await sandbox.createAgent(
    {},
    {
      conversation_config: { agent: { language: 'de-AT', first_message: 'Guten Tag, es geht um Ihren Termin.' } },
      platform_settings: { data_collection: { zusage: { type: 'boolean', description: 'Kommen Sie zu Ihrem Termin?' } } },
    },
  );
  const { agent, user, record } = await talk(sandbox, agentId, { to_phone_number: '+12125550141' });
  expect(agent[0]).toBe('Guten Tag, es geht um Ihren Termin.');
  expect(agent[1]).toBe('Kommen Sie zu Ihrem Termin? Yes or no?');
  expect(agent.at(-1)).toBe('Thank you for your time. Goodbye.');
  expect(user).toContain('Ja, gerne.');
  expect(record.collected_data.zusage.value).toBe(true);
  expect(record.metadata.main_language).toBe('de');
});

test('thinking is heard as latency, and tokens and cost are told per model', async ({ sandbox }) => {
  const records: Json[] = [];
  for (const budget of [0, 20_000]) {
    const llm = { model_id: 'search_flash', thinking_budget: budget };
    const agentId = await sandbox.createAgent(
      {},
      {
        conversation_config: { agent: { llm, prompt: { prompt: 'You ask for a city. '.repeat(40) } } },
        platform_settings: { data_collection: { city: { type: 'string' }, street: { type: 'string' }, age: { type: 'integer' } } },
      },
    );
    records.push((await talk(sandbox, agentId)).record);
  }
  const ttfb = (record: Json): number[] =>
    record.transcript
      .map((turn: Json) => turn.conversation_turn_metrics?.metrics.convai_llm_service_ttfb.elapsed_time)
      .filter((seconds: unknown) => seconds !== undefined);
  const [quick, thoughtful] = records;
  expect(Math.max(...ttfb(quick))).toBeLessThan(0.5);
  expect(Math.min(...ttfb(thoughtful))).toBeGreaterThan(3);
  for (const record of records) {
    const { usage, cost_fiat: cost } = record.metadata;
    const { search_flash: spent } = usage.models;
    expect(spent).toMatchObject({ turns: 4, fallback: false, billed: true });
    expect(spent.cached_input_tokens).toBeGreaterThan(0);
    expect(spent.cached_input_tokens).toBeLessThan(spent.input_tokens);
    const { prices } = catalogue.find(({ modelId }) => modelId === 'search_flash') ?? { prices: null };
    const price =
      (spent.input_tokens - spent.cached_input_tokens) * (prices?.input ?? 0) +
      spent.cached_input_tokens * (prices?.cachedInput ?? 0) +
      spent.output_tokens * (prices?.output ?? 0);
    expect(cost).toBe(Math.round(price) / 1e6);
    expect(usage.cost_usd).toBe(cost);
    expect(record.transcript[0].producing_llm).toBeNull();
  }
});

const everybodyAnswers = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? NaN;
}

/** Milliseconds from each turn's end to the next; a turn takes as long as saying it. */
function gapsIn(transcript: Json[]): number[] {
  return transcript
    .slice(1)
    .map((turn, index) => Date.parse(turn.timestamp) - Date.parse(transcript[index].timestamp) - speakingMs(transcript[index].text));
}

test('people answer as fast as people do, and calls last as long as they are drawn to', async () => {
  const sandbox = await startTestSandbox({ outcomeMix: everybodyAnswers, concurrency: 400 });
  for (const agentId of ['agent_reminders', 'agent_survey']) {
    await sandbox.batch(plainNumbers(150), { agent_id: agentId });
    sandbox.clock.advance(7_200_000);
  }
  const gaps: number[] = [];
  const durations: number[] = [];
  for (const call of sandbox.calls().filter(({ silent }) => !silent)) {
    const { transcript, metadata } = await sandbox.read(`/v1/convai/conversations/${call.conversationId}`);
    const last = transcript.at(-1);
    const endOfLast = Date.parse(last.timestamp) + speakingMs(last.text);
    expect(Date.parse(metadata.end_time) - endOfLast).toBeLessThan(1_500);
    expect(last.time_in_call_secs).toBeLessThanOrEqual(metadata.duration);
    gaps.push(...gapsIn(transcript));
    durations.push(metadata.duration);
  }
  expect(quantile(gaps, 0.5)).toBeLessThan(1_000);
  expect(quantile(gaps, 0.9)).toBeLessThan(2_000);
  expect(Math.max(...gaps)).toBeLessThan(3_000);
  const mean = durations.reduce((sum, duration) => sum + duration, 0) / durations.length;
  expect(mean).toBeGreaterThan(55);
  expect(mean).toBeLessThan(68);
});

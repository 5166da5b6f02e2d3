import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { startTestSandbox, type Json } from '../harness.ts';
import { createModelAgent, holdConversation, interviewer, startModelServer, useTool } from './model-server.ts';

const items = {
  chairs: { type: 'integer', description: 'how many chairs do you have?' },
  colour: { type: 'string', description: 'Which colour?', enum: ['Red', 'Blue'] },
  happy: { type: 'boolean', description: 'Are you happy?' },
};
const platform = (model?: string): Json => ({
  data_collection: items,
  evaluation: { criteria: [{ id: 'polite', conversation_goal_prompt: 'The agent was polite.' }] },
  ...(model === undefined ? {} : { analysis: { model } }),
});

function assessing(json: string | ((response: ServerResponse) => void)) {
  return startModelServer((response, request, nth) => {
    if (request.body.response_format === undefined) interviewer(response, request, nth);
    else if (typeof json !== 'string') json(response);
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: json } }] }));
    }
  });
}

const answer = (collected: Json, evaluation: Json = {}): string => JSON.stringify({ collected, evaluation });

test("an agent's own model evaluates and collects when the agent says so, asked once for JSON", async () => {
  const sandbox = await startTestSandbox();
  const told = answer(
    {
      chairs: { value: 7, rationale: 'They said seven.' },
      colour: { value: 'blue', rationale: 'They like blue.' },
      happy: { value: null, rationale: 'It did not come up.' },
    },
    { polite: { result: 'failure', rationale: 'It was rude.' } },
  );
  const model = await assessing(`Here you are:\n\`\`\`json\n${told}\n\`\`\``);
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { platform: platform('own') }));
  expect(record.collected_data).toMatchObject({
    chairs: { value: 7, rationale: 'They said seven.' },
    colour: { value: 'Blue', rationale: 'They like blue.' },
    happy: { value: null, rationale: 'It did not come up.' },
  });
  expect(record.evaluation_results.polite).toMatchObject({ result: 'failure', rationale: 'It was rude.' });
  const asked = model.requests.filter(({ body }) => body.response_format !== undefined);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.body).toMatchObject({ response_format: { type: 'json_object' }, stream: false, temperature: 0 });
  expect(asked[0]?.body.messages[0].content).toContain('"id":"chairs"');
  expect(asked[0]?.body.messages[1].content).toContain(`user: ${record.transcript[1].text}`);
  const { body } = await sandbox.get('/_sandbox/model-requests');
  expect(body.model_requests.at(-1)).toMatchObject({ purpose: 'assessment', conversation_id: record.conversation_id });
});

test.each(['rules', undefined])('rules evaluate and collect when the agent says %s', async (switched) => {
  const sandbox = await startTestSandbox();
  const model = await assessing(answer({}));
  await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { platform: platform(switched) }));
  expect(model.requests.some(({ body }) => body.response_format !== undefined)).toBe(false);
});

test.each([
  ['is no JSON', 'I would rather not.'],
  ['is another JSON', '[1, 2]'],
  ['fails', (response: ServerResponse) => response.writeHead(500).end()],
  [
    'has values of another type',
    answer({ chairs: { value: 'many' }, colour: { value: 'green' }, happy: 'yes' }, { polite: { result: 'great' } }),
  ],
  ['names nothing that was asked', answer({ ['__proto__']: { value: 1 }, other: { value: 2 } })],
])('what the model leaves out or gets wrong is told by the rules: its answer %s', async (_name, json) => {
  const sandbox = await startTestSandbox();
  const byRules = await holdConversation(
    sandbox,
    await createModelAgent(sandbox, (await assessing(answer({}))).url, { platform: platform('rules') }),
  );
  // The same conversation again: a sandbox of the same seed, and the same words from the model.
  const again = await startTestSandbox();
  const model = await assessing(json);
  const record = await holdConversation(again, await createModelAgent(again, model.url, { platform: platform('own') }));
  expect(record.transcript.map(({ text }: Json) => text)).toEqual(byRules.transcript.map(({ text }: Json) => text));
  expect(record.collected_data).toEqual(byRules.collected_data);
  expect(record.evaluation_results).toEqual(byRules.evaluation_results);
  expect(Object.keys(record.collected_data)).toEqual(['chairs', 'colour', 'happy']);
});

test('numbers and truths that come as words are taken in the type of their item', async () => {
  const sandbox = await startTestSandbox();
  const model = await assessing(answer({ chairs: { value: '7' }, happy: { value: 'TRUE' } }));
  const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { platform: platform('own') }));
  expect(record.collected_data).toMatchObject({ chairs: { value: 7 }, happy: { value: true } });
});

test('a conversation that a backup held, or that broke down, is not assessed by the model that failed', async () => {
  const sandbox = await startTestSandbox();
  const model = await startModelServer((response, { body }) => {
    if (body.response_format !== undefined) useTool(response, 'end_call');
    else response.writeHead(500).end();
  });
  for (const preference of ['default', 'disabled']) {
    const llm = { backup_llm_config: { preference } };
    const record = await holdConversation(sandbox, await createModelAgent(sandbox, model.url, { llm, platform: platform('own') }));
    expect(record.status).toBe(preference === 'default' ? 'done' : 'failed');
  }
  expect(model.requests.some(({ body }) => body.response_format !== undefined)).toBe(false);
});

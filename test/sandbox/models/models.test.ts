import { expect } from 'vitest';
import { catalogue, defaultModelId, findModel, priceUsage } from '../../../src/sandbox/models/catalogue.ts';
import { effectiveLlm } from '../../../src/sandbox/core/conversation/effective-llm.ts';
import { replyLatencyMs, thinkingLevelOf } from '../../../src/sandbox/models/llm-labels.ts';
import { startTestSandbox, test, type Json } from '../harness.ts';

const agents = '/v1/convai/agents';

async function createWith(llm: Json, options: Json = {}): Promise<{ status: number; body: Json; read: Json }> {
  const sandbox = await startTestSandbox(options);
  const { status, body } = await sandbox.post(agents, { name: 'A', conversation_config: { agent: { llm } } });
  const read = status === 200 ? await sandbox.read(`${agents}/${body.agent_id}`) : null;
  return { status, body, read: read?.conversation_config.agent.llm };
}

test('the catalogue has the 25 models of the contract, each with a price', () => {
  expect(new Set(catalogue.map(({ modelId }) => modelId)).size).toBe(25);
  expect(findModel(defaultModelId)).toBeDefined();
  for (const { prices } of catalogue) {
    expect(prices.input).toBeGreaterThan(0);
    expect(prices.cachedInput).toBeLessThanOrEqual(prices.input);
    expect(prices.output).toBeGreaterThan(prices.input);
  }
});

test('tokens cost what the catalogue says, in whole micro-dollars', () => {
  const million = 1_000_000;
  const usage = { inputTokens: million, cachedInputTokens: 0, outputTokens: 0 };
  expect(priceUsage('search_flash', usage)).toBe(300_000);
  expect(priceUsage('search_flash', { ...usage, cachedInputTokens: million })).toBe(75_000);
  expect(priceUsage('search_flash', { ...usage, inputTokens: 0, outputTokens: million })).toBe(2_500_000);
  expect(priceUsage('search_flash', { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 10 })).toBe(235);
  // More cached than there was is no credit.
  expect(priceUsage('search_flash', { inputTokens: 10, cachedInputTokens: 1_000, outputTokens: 0 })).toBe(1);
  expect(priceUsage('custom', usage)).toBe(0);
});

test('thinking takes its time, more of it at each step', () => {
  const modelId = 'search_flash';
  const steps = (['disabled', 'low', 'medium', 'high'] as const).map((level) => replyLatencyMs(modelId, level));
  expect(steps[0]).toBe(findModel(modelId)?.latencyMs);
  expect(steps).toEqual([...new Set(steps)].sort((a, b) => a - b));
  expect(replyLatencyMs('svc_open_small', 'high')).toBe(180);
});

test.each<[string | number, string]>([
  ['Disabled', 'disabled'],
  ['HIGH', 'high'],
  [0, 'disabled'],
  [1, 'low'],
  [1_024, 'low'],
  [1_025, 'medium'],
  [8_192, 'medium'],
  [8_193, 'high'],
])('a thinking budget of %s is %s', async (budget, level) => {
  expect(thinkingLevelOf(budget)).toBe(level);
  expect(await createWith({ thinking_budget: budget })).toMatchObject({ status: 200, read: { thinking_budget: budget } });
});

test.each<[string, Json, string]>([
  ['an unknown model', { model_id: 'nobody_knows' }, 'model_id'],
  ['a thinking budget below 0', { thinking_budget: -1 }, 'thinking_budget'],
  ['a thinking budget in words', { thinking_budget: 'a lot' }, 'thinking_budget'],
  ['part of a token', { thinking_budget: 1.5 }, 'thinking_budget'],
  ['reasoning while it talks', { reasoning_effort: 'low' }, 'reasoning_effort'],
  ['a backup after a second', { cascade_timeout_seconds: 1.9 }, 'cascade_timeout_seconds'],
  ['a backup after sixteen', { cascade_timeout_seconds: 16 }, 'cascade_timeout_seconds'],
  ['an unknown preference', { backup_llm_config: { preference: 'maybe' } }, 'backup_llm_config.preference'],
  ['an empty choice of backups', { backup_llm_config: {} }, 'backup_llm_config.preference'],
  [
    'an unknown backup',
    { backup_llm_config: { preference: 'override', order: ['svc_open_small', 'nobody_knows'] } },
    'backup_llm_config.order.1',
  ],
  ['its own endpoint as a backup', { backup_llm_config: { preference: 'override', order: ['custom'] } }, 'backup_llm_config.order.0'],
])('%s is refused', async (_what, llm, place) => {
  const { status, body } = await createWith(llm);
  expect({ status, loc: body.detail.map((each: Json) => each.loc.join('.')) }).toEqual({
    status: 422,
    loc: [`body.conversation_config.agent.llm.${place}`],
  });
});

test('the refusal of an unknown model lists those there are; a loose sandbox takes any', async () => {
  const { body } = await createWith({ model_id: 'nobody_knows' });
  for (const { modelId } of catalogue) expect(body.detail[0].msg).toContain(modelId);
  expect(body.detail[0]).toMatchObject({ input: 'nobody_knows' });
  expect((await createWith({ model_id: 'nobody_knows' }, { loose: true })).status).toBe(200);
});

test('an override of one call is held to the same list', async ({ sandbox }) => {
  const calls = [{ to_phone_number: '+12125550150', conversation_config_override: { agent: { llm: { model_id: 'nobody' } } } }];
  expect((await sandbox.batch([], { calls })).status).toBe(422);
  expect(sandbox.calls()).toEqual([]);
});

test.each<[Json, Json]>([
  [{ preference: 'Default' }, { preference: 'default' }],
  [{ preference: 'Disabled' }, { preference: 'disabled' }],
  [
    { preference: 'Custom', model_id: 'lab_two_swift' },
    { preference: 'override', order: ['lab_two_swift'] },
  ],
  [
    { preference: 'override', order: ['lab_two_swift', 'svc_open_large'] },
    { preference: 'override', order: ['lab_two_swift', 'svc_open_large'] },
  ],
])('the choice of backups %j is kept as %j', async (given, kept) => {
  expect(await createWith({ backup_llm_config: given })).toMatchObject({ status: 200 });
  expect((await createWith({ backup_llm_config: given })).read.backup_llm_config).toEqual(kept);
});

test('another choice of backups leaves nothing of the one before', async ({ sandbox }) => {
  const path = `${agents}/agent_survey`;
  const choose = async (choice: Json): Promise<Json> => {
    const change = { conversation_config: { agent: { llm: { backup_llm_config: choice } } } };
    return (await sandbox.patch(path, change)).body.conversation_config.agent.llm.backup_llm_config;
  };
  await choose({ preference: 'override', order: ['lab_two_swift', 'svc_open_large'] });
  expect(await choose({ preference: 'custom', model_id: 'svc_open_small' })).toEqual({ preference: 'override', order: ['svc_open_small'] });
  expect(await choose({ preference: 'disabled' })).toEqual({ preference: 'disabled' });
});

test('a step of a workflow may reason only where it does not talk', async ({ sandbox }) => {
  const create = (nodes: Json) => sandbox.post(agents, { name: 'A', workflow: { nodes } });
  const talking = await create({ greet: { type: 'talk', reasoning_effort: 'Low' } });
  expect(talking.body.detail).toEqual([
    expect.objectContaining({ loc: ['body', 'workflow', 'nodes', 'greet', 'reasoning_effort'], input: 'Low' }),
  ]);
  expect((await create({ greet: { type: 'talk', reasoning_effort: 'None' } })).status).toBe(200);
  const created = await create({ sum_up: { type: 'summary', real_time: false, reasoning_effort: 'high' } });
  expect(created.status).toBe(200);
  const path = `${agents}/${created.body.agent_id}`;
  const change = { workflow: { nodes: { sum_up: { real_time: true } } } };
  expect((await sandbox.patch(path, change)).status).toBe(422);
  expect((await sandbox.read(path)).workflow.nodes.sum_up.real_time).toBe(false);
  expect((await create({ x: { type: 't', real_time: false, reasoning_effort: 'enormous' } })).status).toBe(422);
});

test("the settings that count are the agent's under the call's, with defaults for the rest", () => {
  expect(effectiveLlm({})).toEqual({
    modelId: defaultModelId,
    backupModelIds: ['svc_open_small'],
    cascadeMs: 8_000,
    thinking: 'disabled',
    temperature: 0.5,
    custom: null,
  });
  const own = {
    agent: {
      llm: {
        model_id: 'custom',
        custom_llm: { url: 'http://127.0.0.1:1/v1', extra_headers: { a: '1' } },
        temperature: 0.1,
        thinking_budget: 'Low',
        cascade_timeout_seconds: 3,
        backup_llm_config: { preference: 'override', order: ['svc_open_small', 'lab_two_swift'] },
      },
    },
  };
  const custom = { url: 'http://127.0.0.1:1/v1', headers: { a: '1', b: '2' }, modelName: 'custom' };
  expect(effectiveLlm(own, { agent: { llm: { temperature: 0, custom_llm: { extra_headers: { b: '2' } } } } })).toEqual({
    modelId: 'custom',
    backupModelIds: ['svc_open_small', 'lab_two_swift'],
    cascadeMs: 3_000,
    thinking: 'low',
    temperature: 0,
    custom,
  });
  // A model that failed is no backup of its own.
  expect(effectiveLlm(own, { agent: { llm: { model_id: 'svc_open_small' } } }).backupModelIds).toEqual(['lab_two_swift']);
  expect(effectiveLlm({ agent: { llm: { model_id: 'svc_open_small' } } }).backupModelIds).toEqual([defaultModelId]);
  const choice = { backup_llm_config: { preference: 'Custom', model_id: 'lab_two_swift' } };
  expect(effectiveLlm({}, { agent: { llm: choice } }).backupModelIds).toEqual(['lab_two_swift']);
  expect(effectiveLlm(own, { agent: { llm: { backup_llm_config: { preference: 'disabled' } } } }).backupModelIds).toEqual([]);
});

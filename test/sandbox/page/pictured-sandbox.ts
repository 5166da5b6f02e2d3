import type { RunningSandbox } from '../../../src/sandbox/start.ts';

/** For the pictures of its page; its clock stands. Throws on an unexpected answer. */
export async function fillForPictures(sandbox: RunningSandbox): Promise<void> {
  const ask = async (method: string, path: string, body?: unknown, expected = 200): Promise<void> => {
    const headers = { 'x-api-key': 'sk_sandbox_ok', ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(sandbox.url + path, { method, headers, ...sent });
    const text = await response.text();
    if (response.status !== expected) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  };
  const batch = async (agentId: string, from: string, numbers: string[], expected?: number): Promise<void> => {
    const calls = numbers.map((number) => ({ to_phone_number: number }));
    const body = { agent_id: agentId, from_phone_number_id: from, calls };
    await ask('POST', '/v1/convai/phone-numbers/batch-calls', body, expected);
  };
  const advance = (seconds: number): Promise<void> => ask('POST', '/_sandbox/clock/advance', { seconds });

  // Nobody listens there, so the view of webhooks has something to tell.
  await ask('POST', '/_sandbox/webhooks', { url: 'http://127.0.0.1:9/hook', secret: 'secret-of-the-pictures' });
  await batch('agent_reminders', 'pn_main', ['+12125550100', '+12125550101', '+12125550103', ...numbersFrom(312, 9)]);
  await advance(900);
  await ask('POST', '/v1/convai/phone-number/batch-calls', {}, 404);
  await ask('GET', '/v1/convai/conversations?agent_id=agent_reminders');
  await ask('POST', '/_sandbox/faults', {
    id: 'survey-slow',
    title: 'Agents are slow to load',
    operation: 'get_agent',
    every: 2,
    effect: { type: 'delay', ms: { distribution: 'uniform', from: 20, to: 60 } },
  });
  await ask('POST', '/_sandbox/faults', {
    id: 'preset-500-after-batch',
    operation: 14,
    nth: 1,
    effect: { type: 'error', status: 500, when: 'after' },
  });
  await ask('GET', '/v1/convai/agents/agent_survey');
  await ask('GET', '/v1/convai/agents/agent_survey');
  await batch('agent_survey', 'pn_second', numbersFrom(617, 24), 500);
  await advance(55);
  await ask('GET', '/v1/convai/phone-numbers');
}

function numbersFrom(area: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+1${area}55501${50 + index}`);
}

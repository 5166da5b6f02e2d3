import { expect, test } from 'vitest';
import { answerJson, startHttpService } from '../../service/convai/loopback-servers.ts';
import { obeyed, poison } from '../../support/terminal-poison.ts';
import { runWith, type CommandEnd } from './service-world.ts';

const record = {
  conversation_id: `conv_${poison}`,
  status: 'done',
  transcript: [{ [`speaker`]: `user${poison}`, text: `yes${poison}`, timestamp: `1${poison}` }],
  metadata: { start_time: '2030-01-15T12:00:00Z', agent_id: `agent${poison}` },
  collected_data: { [`name${poison}`]: `value${poison}`, nested: { [poison]: poison } },
  evaluation_results: { [`goal${poison}`]: { result: poison } },
};
const agent = {
  agent_id: `agent_${poison}`,
  name: `name${poison}`,
  tags: [poison],
  conversation_config: { agent: { first_message: poison, prompt: { prompt: `a${poison}\nb` } } },
};

/** A service that has written terminal escapes wherever it can. */
async function runAgainstPoison(args: string[]): Promise<CommandEnd> {
  const service = await startHttpService((response, { url, method }) => {
    const path = url.split('?')[0] ?? '';
    if (path.endsWith('/refused')) answerJson(response, 404, { detail: { code: poison, message: `gone${poison}` } });
    else if (path.endsWith('/conversations')) answerJson(response, 200, { conversations: [record] });
    else if (path.includes('/conversations/')) answerJson(response, 200, record);
    else if (path.endsWith('/agents')) answerJson(response, 200, method === 'POST' ? agent : { agents: [agent] });
    else if (path.includes('/agents/')) answerJson(response, 200, agent);
    else if (path.endsWith('/batch-calls')) answerJson(response, 200, { batch_id: `b${poison}`, calls_initiated: 1 });
    else if (path.endsWith('get-signed-url')) answerJson(response, 200, { signed_url: `wss://127.0.0.1/${poison}` });
    else if (path.endsWith('/token')) answerJson(response, 200, { token: `t${poison}` });
    else answerJson(response, 200, [{ phone_number_id: `pn${poison}`, label: poison, phone_number: poison }]);
  });
  return runWith(args, {}, { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'sk_poison' });
}

const call = ['numbers', 'call', '--agent', 'a', '--from', 'pn', '--to', '+12125550123', '--yes'];

test.for([
  ['conversations', 'list'],
  ['conversations', 'list', '--json'],
  ['conversations', 'get', 'conv_1'],
  ['conversations', 'get', 'conv_1', '--json'],
  ['conversations', 'get', 'refused'],
  ['conversations', 'get', `refused${poison}`],
  ['conversations', 'signed-url', 'agent_1'],
  ['conversations', 'token', 'agent_1'],
  ['conversations', 'token', 'agent_1', '--json'],
  ['agents', 'list'],
  ['agents', 'list', '--json'],
  ['agents', 'get', 'agent_1'],
  ['agents', 'get', 'agent_1', '--json'],
  ['agents', 'create', '--name', 'a'],
  ['numbers', 'list'],
  ['numbers', 'list', '--json'],
  call,
  [...call, '--json'],
])('nothing that a terminal obeys comes through from the service: %j', async (args) => {
  const { stdout, stderr } = await runAgainstPoison(args);
  expect(stdout + stderr).not.toBe('');
  expect(stdout).not.toMatch(obeyed);
  expect(stderr).not.toMatch(obeyed);
});

test('JSON output holds the same values as the service gave', async () => {
  const { stdout } = await runAgainstPoison(['conversations', 'get', 'conv_1', '--json']);
  expect(JSON.parse(stdout)).toEqual(record);
});

test('a token or signed URL that no header or address can carry is refused', async () => {
  for (const command of ['token', 'signed-url']) {
    const { code, stdout, stderr } = await runAgainstPoison(['conversations', command, 'agent_1']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/the answer \(status 200\) cannot be used/);
  }
});

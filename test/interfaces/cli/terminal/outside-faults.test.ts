import { readFile, writeFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { describeFailure } from '../../../../src/interfaces/cli/terminal/failure.ts';
import { CampaignFileError, ListFileError, UsageError } from '../../../../src/shared/input/errors.ts';
import { TemporalUnreachableError } from '../../../../src/temporal/connection.ts';
import { notReadable } from '../../../../src/ledger/schema-state.ts';
import { EditRefusedError } from '../../../../src/ledger/people/edit-refusal.ts';
import { RedialRefusedError } from '../../../../src/ledger/people/resolve.ts';
import { OtherServiceError } from '../../../../src/temporal/start-campaign.ts';
import { ScheduleExistsError } from '../../../../src/temporal/schedules.ts';
import { runCli } from '../../../../src/interfaces/cli/run-cli.ts';
import { createTerminal, runCommand } from '../terminal.ts';
import { answerJson, startHttpService } from '../../../service/convai/loopback-servers.ts';
import { obeyed, poison } from '../../../support/terminal-poison.ts';
import { runWith, type CommandEnd } from '../service-world.ts';

const raw = /\bE[A-Z]{3,}\b|errno|syscall|\n\s+at /;
const told = (error: unknown) => describeFailure(error, false);
const thrownBy = (work: () => Promise<unknown>): Promise<unknown> => work().then(() => null, (error: unknown) => error); // prettier-ignore

test('a port in use, a refused connection and missing files are told in words, not in codes of the system', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const second = createServer().listen(port, '127.0.0.1');
  const inUse = told(((await once(second, 'error')) as [Error])[0]);
  expect(inUse).toMatchObject({ code: 'network', message: expect.stringContaining(`127.0.0.1:${port} is in use`) });
  server.close();
  await once(server, 'close');
  const refused = told(((await once(connect(port, '127.0.0.1'), 'error')) as [Error])[0]);
  expect(refused).toMatchObject({
    code: 'network',
    message: expect.stringContaining(`Nothing answers at 127.0.0.1:${port}`),
  });
  const missing = told(await thrownBy(() => readFile(join(tmpdir(), 'nowhere', 'list.csv'))));
  expect(missing).toMatchObject({ code: 'file', message: expect.stringContaining('there is no such file') });
  const folder = told(await thrownBy(() => writeFile(tmpdir(), 'x')));
  expect(folder).toMatchObject({ code: 'file', message: expect.stringContaining('this is a folder') });
  for (const { message, exitCode } of [inUse, refused, missing, folder])
    expect({ exitCode, raw: raw.test(message) }).toEqual({ exitCode: 1, raw: false });
});

test.each([
  ['ENOSPC', 'write', {}, 'machine', /^The disk is full; make room/],
  ['EFBIG', 'write', {}, 'machine', /^No file may grow any further \(ulimit -f\), or the disk is full; make room/],
  ['53100', '', { severity: 'ERROR', routine: 'mdextend' }, 'database', /^The database cannot be used: the disk is full, .*\. Make room/],
  ['SQLITE_FULL', '', {}, 'database', /^The database cannot be used: the disk is full, .*\. Make room/],
  ['EMFILE', 'open', {}, 'machine', /^Too many files are open/],
  ['ENOTFOUND', 'getaddrinfo', { hostname: 'db.example' }, 'network', /^The name db\.example is not known/],
  ['EAI_AGAIN', 'getaddrinfo', { hostname: 'db.example' }, 'network', /^The name db\.example could not be looked up/],
  ['EACCES', 'listen', { address: '127.0.0.1', port: 80 }, 'network', /^127\.0\.0\.1:80 may not be listened on: permission denied/],
  ['ENETUNREACH', 'connect', { address: '192.0.2.1', port: 443 }, 'network', /^There is no way to 192\.0\.2\.1:443/],
] as const)('%s of %s, as the system reports it, is told in words', (code, syscall, facts, kind, says) => {
  const error = Object.assign(new Error(`${code}: as the system says it, ${syscall}`), { code, syscall, errno: -1, ...facts });
  const { message, ...failure } = told(error);
  expect(failure).toEqual({ exitCode: 1, code: kind });
  expect(message).toMatch(says);
  expect(message).not.toMatch(raw);
}); // prettier-ignore

test.each(
  // prettier-ignore
  [
    [new TemporalUnreachableError('127.0.0.1:1', 'it is down.'), 1, / carillon dev starts/],
    [notReadable('empty'), 1, / carillon start <campaign\.yaml> imports/],
    [notReadable('older'), 1, / start one of this version: .* carillon worker starts it\.$/],
    [new EditRefusedError('It failed.', { kind: 'fix_failure', campaignId: 'spring' }), 2, / carillon status spring names; /],
    [new EditRefusedError('It ended.', { kind: 'retry_rows', campaignId: 'spring' }), 2, / carillon retry spring --outcome/],
    [new RedialRefusedError('No.', { kind: 'leave_unresolved', campaignId: 'x' }), 2,
      / carillon results x --outcome unresolved .*--give-up/],
    [new RedialRefusedError('No.', { kind: 'await_end', campaignId: 'x' }), 2, / carillon status x shows when\.$/],
    [new OtherServiceError({ campaignId: 'x', accountId: 'https://old.example', api: 'contract' },
      { accountId: 'https://new.example', api: 'contract' }), 2,
      / carillon adjust --account --moved-from https:\/\/old\.example does so\.$/],
    [new OtherServiceError({ campaignId: 'x', accountId: 'https://voice.example', api: 'campaigns' },
      { accountId: 'https://voice.example/', api: 'contract' }), 2, / Set SVC_API=campaigns\.$/],
    [new ScheduleExistsError('carillon/carillon/spring'), 2, / carillon schedule delete /],
    [new CampaignFileError('spring.yaml', [], { isAboutRows: true }), 2, /\ncarillon check spring\.yaml says more\.$/],
    [new ListFileError('list.csv', 'none', { isAboutRows: true }), 2, /\ncarillon check <campaign\.yaml> says more\.$/],
  ],
)('an error that knows no command is told with the one that helps: %s', (error, exitCode, says) => {
  expect(told(error)).toMatchObject({ exitCode, message: expect.stringMatching(says) });
});

test.each([
  [['status', '--nonsense'], 'usage', 2],
  [['pause'], 'usage', 2],
  [['nonsense'], 'usage', 2],
  [['status', 'spring'], 'no_database', 2],
  [['start', '/nowhere/campaign.yaml'], 'campaign_file', 2],
  [['results', 'spring', '--format', 'pdf', '--output', 'x'], 'usage', 2],
] as const)('with --json the failure of %j has a code that stays, and the words besides', async (args, code, exitCode) => {
  const env = { CARILLON_DB: join(tmpdir(), 'nowhere', 'carillon.db') };
  const { code: ended, stdout, stderr } = await runCommand([...args, '--json'], { env });
  expect(ended).toBe(exitCode);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; exitCode: number } };
  expect(error).toMatchObject({ code, exitCode });
  expect(stderr).toContain(error.message.split('\n')[0]);
});

test('the failure as data tells to type what works here, as the words do', async () => {
  const io = createTerminal({ ownCommand: './carillon' });
  const failing = {
    name: 'act',
    summary: '',
    load: async () => () => new Command('act').option('--json').action(fail),
  };
  expect(await runCli(['act', '--json'], io, [failing])).toBe(2);
  expect(JSON.parse(io.written().stdout)).toMatchObject({ error: { message: 'None: ./carillon start x makes one.' } });
});

function fail(): never {
  throw new UsageError('None: carillon start x makes one.');
}

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

import { createServer, type AddressInfo, createConnection } from 'node:net';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetch } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { runSandbox, sandboxCommand, type SandboxFlags } from '../../src/interfaces/cli/sandbox/sandbox.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { type SandboxOptions, resolveSettings } from '../../src/sandbox/core/settings/settings.ts';
import { createManualClock, noon, type Json } from './harness.ts';
import { Service } from '../../src/sandbox/core/service/service.ts';
import { createCoreServer } from '../../src/sandbox/server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { spawnModule } from './spawned.ts';

async function start(options: SandboxOptions = {}) {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

test('health tells, without a key, who it is and what time it keeps', async () => {
  const sandbox = await start({ speed: 50, epochMs: noon, dialect: 'spec' });
  const response = await fetch(`${sandbox.url}/_sandbox/health`);
  expect(response.headers.get('x-sandbox')).toBe('1');
  expect(await response.json()).toEqual({
    sandbox: true,
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    dialect: 'spec',
    clock: { speed: 50, anchorRealMs: expect.any(Number), anchorServiceMs: noon },
  });
  expect(Math.abs(Date.parse(response.headers.get('date') ?? '') - noon)).toBeLessThan(600_000);
});

test.each<[SandboxOptions, string]>([
  [{ speed: 0 }, 'setting speed is 0'],
  [{ concurrency: 0.5 }, 'setting concurrency is 0.5'],
  [{ outcomeMix: { answered: 0, busy: 0, no_answer: 0, voicemail: 0, failed: 0 } }, 'setting outcomeMix'],
  [{ rateLimit: { requestsPerSecond: -1 } }, 'setting rateLimit.requestsPerSecond is -1'],
])('settings %j are refused by name', async (options, message) => {
  await expect(startSandbox(options)).rejects.toThrow(message);
});

test('closing cuts open connections and frees the port', async () => {
  const sandbox = await startSandbox();
  const socket = createConnection({ host: '127.0.0.1', port: sandbox.port });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.on('error', () => {});
  const cut = new Promise((resolve) => socket.once('close', resolve));
  await sandbox.close();
  await cut;
  const next = await start({ port: sandbox.port });
  expect(next.port).toBe(sandbox.port);
});

function collectOutput() {
  const written = { stdout: '', stderr: '' };
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (written[name] += text) });
  return { written, stdout: stream('stdout'), stderr: stream('stderr') };
}

async function runRefused(flags: SandboxFlags): Promise<{ code: number; said: string }> {
  const { written, ...io } = collectOutput();
  const code = await runSandbox(flags, { ...io, stop: AbortSignal.abort() });
  expect(written.stdout).toBe('');
  return { code, said: written.stderr };
}

test('the command prints a ready line, serves, and ends with 0 when stopped', async () => {
  const stop = new AbortController();
  const { written, stderr } = collectOutput();
  let ready = (_line: string): void => {};
  const line = new Promise<string>((resolve) => {
    ready = resolve;
  });
  const ended = runSandbox({ port: '0', json: true, speed: '7', dialect: 'spec' }, { stdout: { write: ready }, stderr, stop: stop.signal });
  const info = JSON.parse(await line) as { url: string; port: number; apiKey: string };
  expect(info).toMatchObject({ ready: true, apiKey: 'sk_sandbox_ok', speed: 7, dialect: 'spec' });
  const response = await fetch(`${info.url}/v1/convai/agents`, { headers: { 'x-api-key': info.apiKey } });
  expect(response.status).toBe(200);
  stop.abort();
  expect(await ended).toBe(0);
  expect(written.stderr).toContain('pn_main +12125550199');
  await expect(fetch(info.url)).rejects.toThrow();
});

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends the process with 0', async (signal) => {
  const script = `
    import { sandboxCommand } from './src/interfaces/cli/sandbox/sandbox.ts';
    await sandboxCommand().parseAsync(['--port', '0', '--json'], { from: 'user' });
  `;
  const { child, said } = await spawnModule(script);
  expect(JSON.parse(said)).toMatchObject({ ready: true });
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('a port in use is said in a sentence, with the way out', async () => {
  const sandbox = await start();
  const { code, said } = await runRefused({ port: String(sandbox.port) });
  expect(code).toBe(2);
  expect(said).toBe(
    `error: Port ${sandbox.port} on 127.0.0.1 is in use by another sandbox. Choose another, or --port 0 for any free one.\n`,
  );
});

test('a port that some other program holds is said with its name where the system tells', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { code, said } = await runRefused({ port: String(port) });
  expect(code).toBe(2);
  const holder = process.platform === 'linux' ? `[^ ]+ \\(process ${process.pid}\\)` : 'another program';
  expect(said).toMatch(new RegExp(`Port ${port} on 127\\.0\\.0\\.1 is in use by .*${holder}\\. Choose`));
});

test.each<[SandboxFlags, string]>([
  [{ port: 'x' }, '--port is "x"; it must be a number.'],
  [{ port: '70000' }, 'port is 70000'],
  [{ port: '0', dialect: 'x' }, '--dialect is "x"; it must be spec, extended or published.'],
  [{ port: '0', speed: '-1' }, 'speed is -1'],
  [{ port: '0', faults: '/nowhere/faults.json' }, '--faults /nowhere/faults.json: the file cannot be read: there is no such file'],
])('the flags %j are refused with exit code 2', async (flags, message) => {
  const { code, said } = await runRefused(flags);
  expect([code, said]).toEqual([2, expect.stringContaining(message)]);
});

test('a broken fault file is refused with path, value and fix', async () => {
  const file = join(temporaryFolder(), 'faults.json');
  await writeFile(file, '{');
  expect((await runRefused({ port: '0', faults: file })).said).toContain('not JSON');
  await writeFile(file, JSON.stringify([{ operation: 14, nth: -1, effect: { type: 'reset' } }]));
  const { code, said } = await runRefused({ port: '0', faults: file });
  expect([code, said]).toEqual([2, expect.stringContaining(`${file}[0].nth: got -1. Requests are counted from 1.`)]);
});

test('the help has examples', () => {
  let help = '';
  const command = sandboxCommand();
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  expect(help).toContain('\n  carillon sandbox --port 0 --json');
});

test('the core starts, calls, shows it, is reset and stops without any feature', async () => {
  const clock = createManualClock();
  const service = new Service(resolveSettings({ seed: 'test' }), clock);
  const app = createCoreServer(service);
  onTestFinished(() => {
    service.close();
    return app.close();
  });
  const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object): Promise<Json> => {
    const headers = { 'x-api-key': 'sk_sandbox_ok' };
    return (await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })).json();
  };
  await ask('POST', '/v1/convai/phone-numbers/batch-calls', {
    agent_id: 'agent_reminders',
    from_phone_number_id: 'pn_main',
    calls: [{ to_phone_number: '+12125550100' }],
  });
  expect(await ask('GET', '/_sandbox/idle')).toMatchObject({ idle: false });
  clock.advance(3_600_000);
  expect(await ask('GET', '/_sandbox/idle')).toMatchObject({ idle: true, under_way: { sockets: 0 } });
  const [{ conversation_id: id }] = (await ask('GET', '/v1/convai/conversations')).conversations;
  expect(await ask('GET', `/v1/convai/conversations/${id}`)).toMatchObject({ status: 'done', audio: null });
  expect(await ask('DELETE', `/v1/convai/conversations/${id}`)).toEqual({});
  service.reset();
  expect((await ask('GET', '/v1/convai/conversations')).conversations).toEqual([]);
  expect((await app.inject('/_sandbox/webhooks')).statusCode).toBe(404);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfig } from '../../src/shared/config.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { resolveTemporal, startDevServer, type DevServer, type DevServerInput } from '../../src/temporal/dev-server.ts';
import { resolveTemporalBinary } from '../../src/temporal/server-binary.ts';
import { makeProgram, versionScript } from './fake-programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const nothingSet = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };

async function start(input: Partial<DevServerInput> = {}): Promise<DevServer> {
  const server = await startDevServer({ config: readConfig(), ui: false, ...input });
  onTestFinished(() => server.stop());
  return server;
}

/** A `temporal` that passes as one and does `script` when it is to serve. */
async function makeServer(script: string): Promise<DevServerInput> {
  const program = await makeProgram(temporaryFolder(), 'temporal', `[ "$1" = --version ] && { ${versionScript()}; exit; }\n${script}`);
  return { config: { ...readConfig(), CARILLON_TEMPORAL_BIN: program }, ui: false };
}

async function startWorkflow(server: DevServer, workflowId: string): Promise<void> {
  const { connection, client } = await connectTemporal(nothingSet, { target: server });
  await client.workflow.start('nothing', { workflowId, taskQueue: 'none', args: [] });
  await connection.close();
}

async function describeStatus(server: DevServer, workflowId: string): Promise<string> {
  const { connection, client } = await connectTemporal(nothingSet, { target: server });
  const { status } = await client.workflow.getHandle(workflowId).describe();
  await connection.close();
  return status.name;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a server serves its namespace and its web UI on the ports it names; that it ends by itself is reported', async () => {
  const ended = vi.fn<(reason: string) => void>();
  const server = await start({ ui: true, namespace: 'calls', onUnexpectedEnd: ended });
  const { connection } = await connectTemporal(nothingSet, { target: server });
  await connection.close();
  expect(server.namespace).toBe('calls');
  expect((await fetch(server.uiUrl ?? '')).status).toBe(200);
  process.kill(server.pid, 'SIGKILL');
  await expect.poll(() => ended.mock.calls.join()).toContain('signal SIGKILL');
});

test('workflows in a data file survive a kill, and the server comes back on the same address; another may have the file after it alone', async () => {
  const dataFile = join(temporaryFolder(), 'not', 'there', 'yet', 'temporal.db');
  const ended: string[] = [];
  const server = await start({ dataFile, onUnexpectedEnd: (reason) => ended.push(reason) });
  await startWorkflow(server, 'kept');
  const { address, pid } = server;
  await expect(start({ dataFile })).rejects.toThrow(/Another process runs a Temporal dev server on .*temporal\.db\. Stop that one/);
  server.kill();
  await server.restart();
  expect(server.address).toBe(address);
  expect(server.pid).not.toBe(pid);
  expect(await describeStatus(server, 'kept')).toBe('RUNNING');
  await server.restart();
  expect(ended).toEqual([]);
  await server.stop();
  expect(isAlive(server.pid)).toBe(false);
  expect(await describeStatus(await start({ dataFile }), 'kept')).toBe('RUNNING');
});

test('a server that ends at its start is an error with its last words', async () => {
  const input = await makeServer('echo "first"; echo "disk is full" >&2; exit 7');
  await expect(startDevServer(input)).rejects.toMatchObject({
    name: 'DevServerError',
    isBadInput: false,
    message: expect.stringMatching(/ended \(exit code 7\).*disk is full/s),
  });
});

test('a server that never serves is killed when the limit is over', async () => {
  const folder = temporaryFolder();
  const input = await makeServer(`echo $$ > '${folder}/pid'; exec sleep 600`);
  await expect(startDevServer({ ...input, startTimeoutMs: 5_000 })).rejects.toThrow(/did not serve at 127\.0\.0\.1:\d+ within 5 s/);
  expect(isAlive(Number(await readFile(join(folder, 'pid'), 'utf8')))).toBe(false);
});

test('a port that was taken in the meantime is replaced by another', async () => {
  const folder = temporaryFolder();
  const input = await makeServer(`echo "$@" >> '${folder}/starts'; echo "listen tcp: address already in use" >&2; exit 1`);
  await expect(startDevServer(input)).rejects.toThrow(/address already in use/);
  const starts = (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n');
  const ports = starts.map((line) => /--port (\d+)/.exec(line)?.[1]);
  expect(new Set(ports).size).toBe(3);
  // That of the UI is a wish.
  await expect(startDevServer({ ...input, ui: true, uiPort: 4711 })).rejects.toThrow(/address already in use/);
  const again = (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n').slice(3);
  expect(again.map((line) => line.includes('--ui-port 4711'))).toEqual([true, false, false]);
});

test('a server that crashes by itself is started again, and one that always does is told by what it crashed with', async () => {
  const folder = temporaryFolder();
  const { path: real } = await resolveTemporalBinary({ config: readConfig() });
  const crash = `echo "panic: assignment to entry in nil map" >&2; i=0; while [ $i -lt 40 ]; do echo "trace $i" >&2; i=$((i+1)); done; exit 2`;
  const count = `echo start >> '${folder}/starts'`;
  const input = await makeServer(`${count}; if [ $(wc -l < '${folder}/starts') -lt 3 ]; then ${crash}; fi; exec '${real}' "$@"`);
  const server = await startDevServer(input);
  await server.stop();
  const broken = await makeServer(`${count}; ${crash}`);
  await expect(startDevServer(broken)).rejects.toThrow(/exit code 2.*\n {2}panic: assignment to entry in nil map\n.*trace 39/s);
  expect((await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n')).toHaveLength(6);
});

test('the server is tuned, and gets neither secrets nor the settings of clients', async () => {
  const folder = temporaryFolder();
  const input = await makeServer(`echo "$@" > '${folder}/args'; env > '${folder}/env'; exit 1`);
  for (const name of ['SVC_API_KEY', 'DATABASE_URL', 'TEMPORAL_API_KEY']) vi.stubEnv(name, `planted-${name}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await expect(startDevServer({ ...input, dataFile: join(folder, 'temporal.db') })).rejects.toThrow();
  expect(await readFile(join(folder, 'env'), 'utf8')).not.toContain('planted-');
  const args = await readFile(join(folder, 'args'), 'utf8');
  for (const expected of [
    '--ip 127.0.0.1',
    'history.transferProcessorMaxPollRPS=1000',
    'history.timerProcessorMaxPollRPS=1000',
    'history.timerProcessorMaxTimeShift="10ms"',
    '--sqlite-pragma journal_mode=wal --sqlite-pragma synchronous=normal',
    '--headless',
  ]) {
    expect(args).toContain(expected);
  }
});

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('the server ends with its process when that ends by %s', async (signal) => {
  const module = fileURLToPath(new URL('../../src/temporal/server-process.ts', import.meta.url));
  // A program that writes nothing: a real server might also end because nobody reads its output any more.
  const script = `const { spawnServer } = await import(${JSON.stringify(module)});
    const server = await spawnServer('/bin/sleep', ['600'], () => {});
    console.log(server.pid);`;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(isAlive(pid)).toBe(true);
  parent.kill(signal);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test('TEMPORAL_ADDRESS is used as it is, and no server is started', async () => {
  const program = await makeProgram(temporaryFolder(), 'temporal', 'exit 1');
  const config = { ...readConfig(), TEMPORAL_ADDRESS: 'temporal.internal:7233', CARILLON_TEMPORAL_BIN: program };
  const temporal = await resolveTemporal({ config });
  expect(temporal).toMatchObject({ address: 'temporal.internal:7233', target: null, devServer: null, uiUrl: null });
  await temporal.stop();
});

test('without TEMPORAL_ADDRESS a server of our own is started', async () => {
  const temporal = await resolveTemporal({ config: { ...readConfig(), TEMPORAL_ADDRESS: undefined }, ui: false });
  onTestFinished(() => temporal.stop());
  expect(temporal.target).toEqual({ address: temporal.devServer?.address, namespace: 'default' });
});

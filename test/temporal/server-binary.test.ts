import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { cachedBinaryPath } from '../../src/temporal/binary-cache.ts';
import { officialArchive } from '../../src/temporal/binary-fetch.ts';
import { tryProcessLock } from '../../src/ledger/worker-lock.ts';
import { resolveTemporalBinary, TemporalBinaryError, type ResolveBinaryInput } from '../../src/temporal/server-binary.ts';
import { makeProgram, versionScript } from './fake-programs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const shortLimits = {
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 300,
  stallTimeoutMs: 300,
  totalTimeoutMs: 5_000,
  goProbeTimeoutMs: 60_000,
  goBuildTimeoutMs: 60_000,
  progressEveryMs: 60_000,
};

interface Machine {
  root: string;
  pathFolder: string;
  cached: string;
  progress: string[];
  input: ResolveBinaryInput;
}

/** A machine with an empty PATH and an empty cache, whose download address refuses connections. */
async function makeMachine(): Promise<Machine> {
  const root = temporaryFolder();
  const pathFolder = join(root, 'bin');
  const config = { PATH: pathFolder, XDG_CACHE_HOME: join(root, 'cache'), HOME: root };
  const progress: string[] = [];
  const input = {
    config,
    onProgress: (line: string) => progress.push(line),
    archive: { url: 'http://127.0.0.1:1/archive', sha256: 'none' },
    limits: shortLimits,
  };
  return { root, pathFolder, cached: cachedBinaryPath(config), progress, input };
}

/** A `go` that answers the probe, and whose install takes down one line in `builds` and makes a program. */
async function makeGo({ root, pathFolder }: Machine, probe = 'exit 0', install = 'true'): Promise<string> {
  const built = await makeProgram(join(root, 'built'), 'temporal', versionScript());
  const script = `PATH=/usr/bin:/bin
case "$1" in
  list) ${probe} ;;
  install) echo "$@" >> '${root}/builds'; ${install}; cp '${built}' "$GOBIN/temporal" ;;
esac`;
  return await makeProgram(pathFolder, 'go', script);
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
}

async function makeArchive(root: string): Promise<Buffer> {
  await makeProgram(join(root, 'archive'), 'temporal', versionScript());
  await promisify(execFile)('tar', ['-czf', join(root, 'archive.tgz'), '-C', join(root, 'archive'), 'temporal']);
  return await readFile(join(root, 'archive.tgz'));
}

async function builds({ root }: Machine): Promise<number> {
  const lines = await readFile(join(root, 'builds'), 'utf8').catch(() => '');
  return lines.split('\n').length - 1;
}

test('a configured program comes before everything else', async () => {
  const machine = await makeMachine();
  await makeProgram(machine.pathFolder, 'temporal', versionScript());
  const own = await makeProgram(join(machine.root, 'own'), 'my-temporal', versionScript('1.30.2'));
  const config = { ...machine.input.config, CARILLON_TEMPORAL_BIN: own };
  expect(await resolveTemporalBinary({ ...machine.input, config })).toEqual({
    path: own,
    step: 'configured',
    serverVersion: '1.30.2',
  });
});

test('a configured program that cannot be used is an error that names it, never passed over', async () => {
  const machine = await makeMachine();
  await makeProgram(machine.pathFolder, 'temporal', versionScript());
  const config = { ...machine.input.config, CARILLON_TEMPORAL_BIN: join(machine.root, 'absent') };
  const resolving = resolveTemporalBinary({ ...machine.input, config });
  await expect(resolving).rejects.toThrow(TemporalBinaryError);
  await expect(resolving).rejects.toThrow(/CARILLON_TEMPORAL_BIN names .*absent.*Correct it or unset it/s);
});

test('temporal on PATH comes before the cache', async () => {
  const machine = await makeMachine();
  const path = await makeProgram(machine.pathFolder, 'temporal', versionScript());
  await makeProgram(dirname(machine.cached), 'temporal', versionScript());
  expect(await resolveTemporalBinary(machine.input)).toMatchObject({ path, step: 'path' });
});

test.each([
  ['too old', versionScript('1.21.0')],
  ['another program', 'echo "temporal 3"'],
  ['broken', 'exit 3'],
])('a temporal on PATH that is %s is passed over for the cached one', async (_, script) => {
  const machine = await makeMachine();
  await makeProgram(machine.pathFolder, 'temporal', script);
  await makeProgram(dirname(machine.cached), 'temporal', versionScript());
  expect(await resolveTemporalBinary(machine.input)).toMatchObject({ path: machine.cached, step: 'cache' });
});

test('the cache is in XDG_CACHE_HOME when that is absolute, else in ~/.cache', () => {
  const inCache = 'carillon/temporal/v1.5.1/temporal';
  expect(cachedBinaryPath({ XDG_CACHE_HOME: '/x', HOME: '/home/u' })).toBe(`/x/${inCache}`);
  expect(cachedBinaryPath({ XDG_CACHE_HOME: 'x', HOME: '/home/u' })).toBe(`/home/u/.cache/${inCache}`);
  expect(cachedBinaryPath({ XDG_CACHE_HOME: undefined, HOME: '/home/u' })).toBe(`/home/u/.cache/${inCache}`);
});

test('the archive is downloaded once, through a redirect, and then found in the cache', async () => {
  const machine = await makeMachine();
  const archive = await makeArchive(machine.root);
  let served = 0;
  const url = await serve((request, response) => {
    if (request.url === '/archive') return response.writeHead(302, { location: '/file' }).end();
    served += 1;
    return response.end(archive);
  });
  const limits = { ...shortLimits, headersTimeoutMs: 10_000, stallTimeoutMs: 10_000, totalTimeoutMs: 30_000 };
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const input = { ...machine.input, limits, archive: { url: `${url}/archive`, sha256 } };
  expect(await resolveTemporalBinary(input)).toEqual({
    path: machine.cached,
    step: 'download',
    serverVersion: '1.29.1',
  });
  expect(await resolveTemporalBinary(input)).toMatchObject({ step: 'cache' });
  expect(served).toBe(1);
  expect(await readdir(dirname(machine.cached))).toEqual(['.lock', 'temporal']);
});

test.each<[string, RequestListener]>([
  ['never answers', () => {}],
  ['stops in the middle', (_, response) => response.writeHead(200, { 'content-length': '1000000' }).write('x')],
  ['answers with a page of a proxy', (_, response) => response.end('<html>blocked</html>')],
  ['answers 403', (_, response) => response.writeHead(403).end()],
])('a download address that %s fails over to Go', async (_, listener) => {
  const machine = await makeMachine();
  await makeGo(machine);
  const archive = { url: await serve(listener), sha256: 'none' };
  const startedAt = performance.now();
  expect(await resolveTemporalBinary({ ...machine.input, archive })).toMatchObject({
    path: machine.cached,
    step: 'go',
  });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  expect(machine.progress.join('\n')).toMatch(/the download failed .*trying Go.*building Temporal once.*2-4 minutes.*Temporal built in/s);
  expect(await readFile(join(machine.root, 'builds'), 'utf8')).toContain('github.com/temporalio/cli/cmd/temporal@v1.5.1');
  expect(await readdir(dirname(machine.cached))).toEqual(['.lock', 'temporal']);
});

test('a build in progress tells how long it has taken', async () => {
  const machine = await makeMachine();
  const told = join(machine.root, 'told');
  await makeGo(machine, 'exit 0', `while [ ! -e '${told}' ]; do sleep 0.02; done`);
  const onProgress = (line: string): void => {
    machine.progress.push(line);
    if (/building Temporal: \d+ s/.test(line)) void makeProgram(machine.root, 'told', '');
  };
  const limits = { ...shortLimits, progressEveryMs: 20, goBuildTimeoutMs: 20_000 };
  const begunAt = Date.now();
  expect(await resolveTemporalBinary({ ...machine.input, onProgress, limits })).toMatchObject({ step: 'go' });
  const seconds = machine.progress.flatMap((line) => /building Temporal: (\d+) s/.exec(line)?.[1] ?? []).map(Number);
  expect(seconds.length).toBeGreaterThan(0);
  // Whole seconds, and no more than have passed, however busy the machine is.
  expect(Math.max(...seconds)).toBeLessThanOrEqual((Date.now() - begunAt) / 1000);
});

test('when no step works the error tells what each one found and what to do', async () => {
  const machine = await makeMachine();
  await makeGo(machine, 'echo "dial tcp: no route to host" >&2; exit 1');
  const resolving = resolveTemporalBinary(machine.input);
  await expect(resolving).rejects.toMatchObject({ name: 'TemporalBinaryError', isBadInput: false });
  await expect(resolving).rejects.toThrow(
    /PATH: no temporal.*download from 127\.0\.0\.1:1: .*go install: go cannot reach the module source \(dial tcp: no route to host\).*Choose one:.*TEMPORAL_ADDRESS/s,
  );
  expect(await builds(machine)).toBe(0);
  expect(await readdir(dirname(machine.cached))).toEqual(['.lock']);
});

test.each([
  ['the probe', 'exec sleep 60', 'true', { goProbeTimeoutMs: 200 }, /module source \(it did not finish within 0.2 s\)/],
  ['the build', 'exit 0', 'exec sleep 60', { goBuildTimeoutMs: 200 }, /the build failed \(it did not finish within 0.2 s\)/],
])('a Go that hangs in %s is given up', async (_, probe, install, limit, message) => {
  const machine = await makeMachine();
  await makeGo(machine, probe, install);
  const limits = { ...shortLimits, ...limit };
  await expect(resolveTemporalBinary({ ...machine.input, limits })).rejects.toThrow(message);
});

test('a program that does not run is never put into the cache', async () => {
  const machine = await makeMachine();
  await makeGo(machine, 'exit 0', `printf '#!/bin/sh\\nexit 1\\n' > "$GOBIN/temporal"; chmod 755 "$GOBIN/temporal"; exit 0`);
  await expect(resolveTemporalBinary(machine.input)).rejects.toThrow(/go install: it does not run \(exit code 1\)/);
  expect(await readdir(dirname(machine.cached))).toEqual(['.lock']);
});

test('without Go and without a download the error says that there is no Go', async () => {
  const machine = await makeMachine();
  await expect(resolveTemporalBinary(machine.input)).rejects.toThrow(/go install: no go on PATH.*install Go/s);
});

test('two that need the program at once build it once: the second waits and uses it', async () => {
  const machine = await makeMachine();
  const waiting = join(machine.root, 'waiting');
  await makeGo(machine, 'exit 0', `while [ ! -e '${waiting}' ]; do sleep 0.02; done`);
  const onProgress = (line: string): void => {
    if (line.includes('another process')) void makeProgram(machine.root, 'waiting', '');
  };
  const input = { ...machine.input, onProgress, limits: { ...shortLimits, goBuildTimeoutMs: 20_000 } };
  const both = await Promise.all([resolveTemporalBinary(input), resolveTemporalBinary(input)]);
  expect(both.map(({ step }) => step).sort()).toEqual(['cache', 'go']);
  expect(await builds(machine)).toBe(1);
});

test('waiting for another process ends with a sentence when that one does not finish', async () => {
  const machine = await makeMachine();
  await mkdir(dirname(machine.cached), { recursive: true });
  const lock = tryProcessLock(join(dirname(machine.cached), '.lock'));
  onTestFinished(() => lock?.release());
  const limits = { ...shortLimits, cacheLockTimeoutMs: 100 };
  await expect(resolveTemporalBinary({ ...machine.input, limits })).rejects.toThrow(/another process has held .*\.lock for 0\.1 s/);
});

test('a call that is aborted ends at once and is no TemporalBinaryError', async () => {
  const machine = await makeMachine();
  const controller = new AbortController();
  const archive = { url: await serve(() => controller.abort()), sha256: 'none' };
  const limits = { ...shortLimits, headersTimeoutMs: 60_000, totalTimeoutMs: 60_000 };
  const resolving = resolveTemporalBinary({ ...machine.input, archive, limits, signal: controller.signal });
  await expect(resolving).rejects.toMatchObject({ name: 'AbortError' });
});

test.each([
  ['linux', 'x64', 'linux_amd64'],
  ['darwin', 'arm64', 'darwin_arm64'],
] as const)('the official archive for %s on %s is named as Temporal does, and pinned', (platform, arch, name) => {
  const { url, sha256 } = officialArchive(platform, arch) ?? {};
  expect(url).toBe(`https://github.com/temporalio/cli/releases/download/v1.5.1/temporal_cli_1.5.1_${name}.tar.gz`);
  expect(sha256).toMatch(/^[0-9a-f]{64}$/);
});

test('what has no known checksum is not fetched', () => {
  expect(officialArchive('win32', 'x64')).toBeNull();
});

const patient = { ...shortLimits, headersTimeoutMs: 10_000, stallTimeoutMs: 10_000, totalTimeoutMs: 30_000 };

test('an archive with another checksum is neither unpacked nor executed', async () => {
  const machine = await makeMachine();
  const bytes = await makeArchive(machine.root);
  const archive = { url: await serve((_, response) => response.end(bytes)), sha256: 'f'.repeat(64) };
  const resolving = resolveTemporalBinary({ ...machine.input, limits: patient, archive });
  await expect(resolving).rejects.toThrow(/its SHA-256 is [0-9a-f]{64}, and not f{64}: it was not unpacked/);
  expect(await readdir(dirname(machine.cached))).toEqual(['.lock']);
});

test('a redirect to another address over http is not followed', async () => {
  const machine = await makeMachine();
  const bytes = await makeArchive(machine.root);
  let served = 0;
  const elsewhere = await serve((_, response) => {
    served += 1;
    response.end(bytes);
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const url = await serve((_, response) => response.writeHead(302, { location: elsewhere }).end());
  const resolving = resolveTemporalBinary({ ...machine.input, limits: patient, archive: { url, sha256 } });
  await expect(resolving).rejects.toThrow(/it redirects to http:\/\/127\.0\.0\.1:\d+, which is not encrypted/);
  expect(served).toBe(0);
});

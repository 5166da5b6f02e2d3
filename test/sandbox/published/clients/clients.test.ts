import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test, type TestContext } from 'vitest';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { noon, startTestSandbox } from '../../harness.ts';

const run = promisify(execFile);
const here = import.meta.dirname;

/** With CARILLON_REQUIRE_PUBLISHED_CLIENTS=1 a client that cannot be installed is a failure, not a reason to skip. */
const mustHaveClients = process.env['CARILLON_REQUIRE_PUBLISHED_CLIENTS'] === '1';

/** Outside the project, once for each version. Skips the test without a registry. */
async function installed(context: TestContext, name: string, install: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(tmpdir(), `carillon-${name}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  try {
    await install(unfinished);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (mustHaveClients) throw error;
    context.skip(`${name} cannot be installed here: the package registry, or the program that asks it, is not to be had.`);
  }
  return folder;
}

/** A service of its own whose hours are seconds. */
async function startQuickSandbox(): Promise<string> {
  const sandbox = await startSandbox({ dialect: 'published', seed: 'clients', speed: 300 });
  onTestFinished(() => sandbox.close());
  return sandbox.url;
}

const limit = { timeout: 400_000 };

const whatCame = {
  agents: ['Changed by a client', 'Hello {{name}}.', ['Changed by a client']],
  batches: ['By a client', ['ref:0100 completed', 'ref:0101 failed'], 1],
  cancelled: ['pending', 'cancelled', 'cancelled', 1],
  conversations: [1, 1, 'ref:0100', 'answered', 'Good day, Robin.', true],
  credentials: [true, 3],
  single: [true, '+12125550103', 'voicemail'],
  webhooks: ['post_call_transcription', true, 'refused'],
  not_built: [404, 'route_not_found'],
  unauthorized: [401, 'invalid_api_key'],
  deleted: 404,
};

test('the published client for TypeScript does its main jobs with another address and key alone', async (context) => {
  const home = await installed(context, 'elevenlabs-js-2.73.0', async (folder) => {
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    await run('npm', ['install', '--no-audit', '--no-fund', '@elevenlabs/elevenlabs-js@2.73.0'], { cwd: folder, ...limit });
  });
  const { stdout } = await run(process.execPath, [join(here, 'jobs.mjs'), home, await startQuickSandbox()], limit);
  expect(JSON.parse(stdout)).toEqual({ ...whatCame, numbers: ['+12025550110', true, 4], doubled: 2 });
});

/** One process for both: loading the client takes longest. */
const bothJobs = `
import runpy, sys
for script, *args in (sys.argv[1:3], sys.argv[3:]):
    sys.argv = [script, *args]
    runpy.run_path(script, run_name="__main__")`;

test('the published client for Python does its main jobs, and runs its campaigns, with another address and key alone', async (context) => {
  const home = await installed(context, 'elevenlabs-py-2.78.0', (folder) =>
    // Of a thousand modules few are loaded, and those are compiled then.
    run('python3', ['-m', 'pip', 'install', '--quiet', '--no-compile', '--target', folder, 'elevenlabs==2.78.0'], limit),
  );
  const still = await startTestSandbox({ dialect: 'published', clock: 'manual', epochMs: noon });
  const jobs = [join(here, 'jobs.py'), await startQuickSandbox()];
  const campaigns = [join(here, 'campaigns.py'), still.url, 'sk_sandbox_ok', String(noon / 1000 + 30 * 86_400)];
  const { stdout } = await run('python3', ['-c', bothJobs, ...jobs, ...campaigns], { env: { ...process.env, PYTHONPATH: home }, ...limit });
  const [done = '', ran = ''] = stdout.trim().split('\n');
  expect(JSON.parse(done)).toEqual({
    ...whatCame,
    numbers: ['+12025550111', true, 4],
    campaigns: [true, false, true, ['lead']],
    talk: ['Hello Kim.', true],
  });
  expect(JSON.parse(ran)).toEqual({
    created: [true, false, true],
    'held back': ['paused', 'active'],
    status: 'completed',
    progress: { attempt_ceiling_reached: 1, completed: 1 },
    leads: [
      ['row 1', 'user 1', 1, 'attempt_ceiling_reached'],
      ['row 0', 'user 0', 1, 'completed'],
    ],
    calls: [
      ['busy', 'failed', true],
      ['answered', 'completed', true],
    ],
    record: [true, true],
    later: [false, true],
    removed: false,
    lead: 'removed',
    stopped: 'stopped',
    all: [true, true],
    listed: ['Reminders three', 'Reminders two', 'Reminders one'],
    found: ['Reminders two'],
    refused: [
      ['UnprocessableEntityError', 422],
      ['ApiError', 404],
    ],
  });
});

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { noon, startTestSandbox, type Json } from '../harness.ts';

const run = promisify(execFile);
/** The version from whose types the sandbox was written. It is no dependency: it is installed for this test, outside the project. */
const client = 'elevenlabs==2.78.0';

/** The Python in whose environment the client is; null where the registry cannot be reached. */
async function installClient(): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-python-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const python = join(folder, 'bin', 'python');
  try {
    await run('python3', ['-m', 'venv', folder]);
    await run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '1', client]);
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT' || /connection|timed out|No matching distribution|No module named/i.test(stderr)) return null;
    throw error;
  }
  return python;
}

test('the published client for Python runs its campaigns here, with another address and key', async ({ skip }) => {
  const python = await installClient();
  if (python === null) return skip(`${client} cannot be installed: there is no Python 3 with venv, or its registry cannot be reached.`);
  const sandbox = await startTestSandbox({ dialect: 'published', clock: 'manual', epochMs: noon });
  const script = join(import.meta.dirname, 'campaigns.py');
  const { stdout } = await run(python, [script, sandbox.url, 'sk_sandbox_ok', String(noon / 1000 + 30 * 86_400)]);
  const told: Json = JSON.parse(stdout);
  expect(told).toEqual({
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

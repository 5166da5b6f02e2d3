import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readLookUpProof } from '../../../../src/ledger/campaign/lookup-proof.ts';
import { openStore } from '../../../../src/ledger/open-ledger.ts';
import type { ServiceApi } from '../../../../src/rules/service-api.ts';
import { Around } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import type { SandboxOptions } from '../../../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { beginCommand, runCommand } from '../terminal.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const own = '+12125550123';

interface Proof {
  proven: boolean;
  reason?: string;
  proof?: Record<string, unknown>;
  steps: { name: string; detail: string }[];
  left?: string[];
}

async function prove(
  api: ServiceApi,
  options: SandboxOptions = {},
  { args = ['--json', '--yes'], interruptAt = null }: { args?: string[]; interruptAt?: RegExp | null } = {},
) {
  const sandbox = await startSandbox({ dialect: 'published', speed: 60, ...options });
  onTestFinished(() => sandbox.close());
  const sqlitePath = join(temporaryFolder(), 'carillon.db');
  const env = { SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok', SVC_API: api, CARILLON_DB: sqlitePath };
  const { io, ended, interrupt } = beginCommand(['doctor', '--prove-lookup', '--to', own, ...args], { env });
  io.stdout.on('data', (chunk: Buffer) => {
    if (interruptAt?.test(chunk.toString()) === true) interrupt();
  });
  const { code: exitCode, stdout, stderr } = await ended;
  const store = await openStore({ sqlitePath });
  const proof = await readLookUpProof(store.db, { accountId: sandbox.url, api });
  await store.close();
  const journal = sandbox.journal();
  const shown = await findingsOf(new Around(readConfig(env), 0), ['Look-up']);
  const dialled = sandbox.calls().filter(({ dialedAt }) => dialedAt !== null);
  return { exitCode, stdout, stderr, proof, shown, dialled, journal, said: () => JSON.parse(stdout) as Proof };
}

test.each([
  { api: 'batch-calling', keyBehaviour: null, steps: ['scheduled', 'list', 'order', 'absent', 'taken back'] },
  { api: 'campaigns', keyBehaviour: 'first_answer', steps: ['scheduled', 'list', 'order', 'key', 'absent', 'taken back'] },
] as const)('$api: the look-up is proven, kept, and nobody is called', async ({ api, keyBehaviour, steps }) => {
  const { exitCode, said, proof, shown, dialled, stdout, stderr } = await prove(api);
  expect(shown.find(({ name }) => name === 'Look-up')?.detail).toMatch(/^proven on 20/);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(said()).toMatchObject({ proven: true, proof: { api, keyBehaviour } });
  expect(said().steps.map(({ name }) => name)).toEqual(steps);
  expect(proof).toMatchObject({ api, keyBehaviour, listLagMs: expect.any(Number) as number, provenAt: expect.any(Number) as number });
  expect(dialled).toEqual([]);
  expect(stdout).not.toContain('0123');
});

test('a list that lags is waited for, and how long is kept', async () => {
  const { proof } = await prove('batch-calling', { batchCalling: { listLagMs: 30_000 } });
  expect(proof?.listLagMs).toBeGreaterThan(25_000);
});

test('a service that refuses a known key with another body has a key all the same', async () => {
  const { proof, dialled } = await prove('campaigns', { campaigns: { otherBody: 'conflict' } });
  expect(proof).toMatchObject({ keyBehaviour: 'conflict' });
  expect(dialled).toEqual([]);
});

test.each<{ what: string; api: ServiceApi; options: SandboxOptions; reason: RegExp }>([
  { what: 'forgets its keys', api: 'campaigns', options: { campaigns: { keyKeptMs: 0 } }, reason: /carried out again under the same key/ },
  {
    what: 'has terms that are not accepted',
    api: 'batch-calling',
    options: { batchCalling: { termsAccepted: false } },
    reason: /403.*terms/,
  },
])('a service that $what: nothing is proven, kept or left', async ({ api, options, reason }) => {
  const { exitCode, said, proof, stderr, dialled } = await prove(api, options);
  expect(said()).toMatchObject({ proven: false, left: [], reason: expect.stringMatching(reason) as string });
  expect(stderr).toMatch(/Nothing of it is left at the service/);
  expect([exitCode, proof, dialled]).toEqual([1, null, []]);
});

test.each([
  { when: 'after', api: 'batch-calling', says: /Nothing of it is left/, cancels: 1 },
  { when: 'before', api: 'batch-calling', says: /It may be there all the same[^]*look for its name/, cancels: 0 },
  { when: 'after', api: 'campaigns', says: /Nothing of it is left/, cancels: 1 },
  { when: 'before', api: 'campaigns', says: /Nothing of it is left/, cancels: 1 },
] as const)('$api: an answer that is lost $when the request is carried out leaves nothing unseen', async ({ when, api, says, cancels }) => {
  const { exitCode, stderr, journal, dialled } = await prove(api, {
    faults: [{ id: 'lost', operation: 'batch_calls', nth: 1, effect: { type: 'reset', when } }],
  });
  expect([exitCode, dialled]).toEqual([1, []]);
  expect(stderr).toMatch(says);
  expect(journal.filter(({ path }) => /\/(cancel|stop)$/.test(path))).toHaveLength(cancels);
});

test('Ctrl-C says what is left scheduled, and how to take it back', async () => {
  const { exitCode, stderr, proof, journal } = await prove('batch-calling', {}, { args: ['--yes'], interruptAt: /^scheduled/ });
  expect([exitCode, proof]).toEqual([1, null]);
  expect(stderr).toMatch(/interrupted/);
  expect(stderr).toMatch(
    /Left at the service, for 30 days ahead: (\S+)\. Take it back:\n.*curl -X POST -H "xi-api-key: \$SVC_API_KEY" \S+\/batch-calling\/\1\/cancel/,
  );
  expect(journal.filter(({ path }) => path.endsWith('/cancel'))).toEqual([]);
});

test('nothing is asked for without a yes, an interface that has a look-up, or a number', async () => {
  const asked = await prove('batch-calling', {}, { args: [] });
  expect([asked.exitCode, asked.stderr]).toEqual([2, expect.stringMatching(/run again with --yes/)]);
  const contract = await prove('contract', { dialect: 'extended' });
  expect([contract.exitCode, contract.stderr]).toEqual([2, expect.stringMatching(/Set SVC_API=batch-calling or SVC_API=campaigns/)]);
  for (const [flags, says] of [
    [['--prove-lookup'], /needs a number of your own/],
    [['--to', own], /belong to --prove-lookup/],
  ] as const)
    expect(await runCommand(['doctor', ...flags])).toMatchObject({ code: 2, stderr: expect.stringMatching(says) });
  expect([...asked.journal, ...contract.journal].filter(({ method }) => method === 'POST')).toEqual([]);
});

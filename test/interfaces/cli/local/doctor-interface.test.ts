import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Around } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { evaluateInterface } from '../../../../src/interfaces/cli/local/doctor-service.ts';
import { serviceApis, type ServiceApi } from '../../../../src/rules/service-api.ts';
import type { SandboxOptions } from '../../../../src/sandbox/core/settings/settings.ts';
import { startSandbox } from '../../../../src/sandbox/start.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

async function examine(options: SandboxOptions, env: Record<string, string>, campaignPath: string | null = null) {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.close());
  const config = readConfig({ SVC_BASE_URL: sandbox.url, SVC_API_KEY: 'sk_sandbox_ok', ...env });
  const findings = await findingsOf(new Around(config, 0, campaignPath), ['Interface', 'Campaign', 'Agents', 'Look-up']);
  expect(sandbox.calls()).toEqual([]);
  return Object.fromEntries(findings.map(({ name, ...finding }) => [name, finding]));
}

test.each<{ dialect: 'spec' | 'extended' | 'published'; api: ServiceApi; says: RegExp; advice: RegExp | null }>([
  { dialect: 'spec', api: 'contract', says: /^contract: operation 14 answers$/, advice: null },
  {
    dialect: 'spec',
    api: 'batch-calling',
    says: /wants the key as x-api-key, not as xi-api-key|has no batch calling/,
    advice: /SVC_API=contract/,
  },
  { dialect: 'extended', api: 'contract', says: /operation 14 answers/, advice: null },
  {
    dialect: 'published',
    api: 'contract',
    says: /has no operation 14 \(SVC_API=contract\), and wants the key as xi-api-key/,
    advice: /^Set SVC_API=batch-calling or SVC_API=campaigns\.$/,
  },
  { dialect: 'published', api: 'batch-calling', says: /batch calling answers/, advice: null },
  { dialect: 'published', api: 'campaigns', says: /outbound campaigns answers/, advice: null },
])('a service of the dialect $dialect, asked as $api', async ({ dialect, api, says, advice }) => {
  const { Interface: found } = await examine({ dialect }, { SVC_API: api });
  expect(found?.detail).toMatch(says);
  expect(found?.status).toBe(advice === null ? 'ok' : 'fault');
  if (advice !== null) expect(found?.advice).toMatch(advice);
});

test('a key that every header is refused with is not told a second time, and one without rights is', async () => {
  expect(await examine({ dialect: 'published' }, { SVC_API: 'batch-calling', SVC_API_KEY: 'wrong' })).toEqual({});
  const { Interface: found } = await examine({ dialect: 'published' }, { SVC_API: 'batch-calling', SVC_API_KEY: 'sk_sandbox_forbidden' });
  expect(found).toMatchObject({ status: 'fault', detail: expect.stringContaining('may not use batch calling (403)') as string });
});

test('the header that a service wants the key in is named', () => {
  const probes = { contract: 'key_refused', 'batch-calling': 'answers', campaigns: 'not_there' } as const;
  expect(evaluateInterface('contract', probes)).toMatchObject({
    status: 'fault',
    detail: 'the service wants the key as xi-api-key, not as x-api-key',
    advice: 'Set SVC_API=batch-calling.',
  });
  const none = { contract: 'key_refused', 'batch-calling': 'key_refused', campaigns: 'key_refused' } as const;
  expect(serviceApis.map((api) => evaluateInterface(api, none))).toEqual([null, null, null]);
});

test.each([
  {
    what: 'is in order',
    agent: 'agent_reminders',
    from: 'pn_main',
    status: 'ok',
    says: /agent agent_reminders and 1 caller number are there/,
  },
  { what: 'names a number of another account', agent: 'agent_reminders', from: 'pn_elsewhere', status: 'fault', says: /pn_elsewhere/ },
  {
    what: 'changes what its agent does not permit',
    agent: 'agent_survey',
    from: 'pn_second',
    status: 'fault',
    says: /^Agent agent_survey does not let a call change agent\.first_message, so every call would fail: permit it/,
  },
])('a campaign file that $what', async ({ agent, from, status, says }) => {
  const folder = temporaryFolder();
  const path = join(folder, 'campaign.yaml');
  await writeFile(
    path,
    `id: spring\nagent_id: ${agent}\nfirst_message: Hello.\nfrom_phone_number_id: ${from}\nlist: { file: list.csv, phone: phone }\nhours: any\n`,
  );
  const { Campaign: found } = await examine({ dialect: 'published' }, { SVC_API: 'batch-calling' }, path);
  expect(found?.detail).toMatch(says);
  expect(found?.status).toBe(status);
});

test('agents and numbers are counted, those without opening lines of their own are named, and whether the look-up was proven is said', async () => {
  const { Agents, 'Look-up': lookUp } = await examine({ dialect: 'published' }, { SVC_API: 'campaigns', CARILLON_DB: '/nowhere/c.db' });
  expect(Agents?.detail).toMatch(/^3 agents, 3 caller numbers; agent_survey lets no call have an opening line of its own$/);
  expect(Agents?.advice).toContain('Permit it in their settings (overrides)');
  expect(lookUp).toMatchObject({ status: 'warning', detail: 'not proven for this account' });
});

import { expect, test } from 'vitest';
import { checkRecords } from '../../../../src/operations/control/check/records.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import type { SandboxOptions } from '../../../../src/sandbox/core/settings/settings.ts';
import { buildRules } from '../../../support/campaign-rules.ts';
import { createManualClock, plainNumbers } from '../../../sandbox/harness.ts';
import { createServiceWorld } from '../service-world.ts';

/** What a check finds in the records of thirty calls that are over. */
async function look(options: SandboxOptions) {
  const clock = createManualClock();
  const world = await createServiceWorld({ clock, concurrency: 500, ...options });
  const to = plainNumbers(30).flatMap((number) => ['--to', number]);
  await world.run(['numbers', 'call', '--agent', 'agent_reminders', '--from', 'pn_main', ...to, '--yes']);
  clock.advance(3_600_000);
  return checkRecords(readConfig({ SVC_BASE_URL: world.sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' }), buildRules());
}

test('of the newest records twenty are read, and those that show the number are told from those that do not', async () => {
  expect(await look({ dialect: 'extended' })).toEqual({ asked: true, read: 20, naming: 20, silent: 0 });
  expect(await look({ dialect: 'spec' })).toMatchObject({ asked: true, naming: 0 });
});

test('a service that is not there, or for which there is no key, is told', async () => {
  const rules = buildRules();
  expect(await checkRecords(readConfig({}), rules)).toEqual({ asked: false, reason: 'SVC_API_KEY is not set' });
  const nobody = readConfig({ SVC_BASE_URL: 'http://127.0.0.1:1', SVC_API_KEY: 'sk_any' });
  expect(await checkRecords(nobody, rules)).toMatchObject({ asked: false });
});

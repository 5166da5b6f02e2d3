import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCheck } from '../../../../src/interfaces/cli/check/check.ts';
import { Around } from '../../../../src/interfaces/cli/local/doctor-check.ts';
import { findingsOf } from '../../../../src/interfaces/cli/local/doctor.ts';
import { hookLines } from '../../../../src/presentation/words/hooks.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import { realClock } from '../../../../src/service/port/service-clock.ts';
import { minimalCampaign, writeCampaign } from '../../../list/campaign-folder.ts';
import { startHookServer } from '../../../shared/hooks/hook-server.ts';
import { minuteMs } from '../../../support/campaign-rules.ts';
import { createWorld } from '../campaign-world.ts';
import { commandFolder, createTerminal } from '../terminal.ts';

const secret = 'a-secret-for-tests-only';
const nobody = '127.0.0.1:1';

test('a campaign with hooks is refused without a secret, before anything is asked or written', async () => {
  const world = await createWorld({}, { TEMPORAL_ADDRESS: nobody, SVC_BASE_URL: `http://${nobody}` });
  const hook = await startHookServer();
  for (const [yaml, name] of [
    [`pre_dial: { url: "${new URL(hook.url).origin}" }`, 'pre_dial'],
    [`on_completion: { url: "${new URL(hook.url).origin}" }`, 'on_completion'],
    [`on_pause: { url: "${new URL(hook.url).origin}" }`, 'on_pause'],
  ] as const) {
    const { code, stdout, stderr } = await world.run('start', world.writeCampaign({ yaml: [yaml] }));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^CARILLON_HOOK_SECRET is not set, and campaign \\S+ has ${name}, whose requests`));
  }
  expect(await world.run('status')).toMatchObject({ code: 0, stdout: '' });
  expect(hook.calls).toEqual([]);
});

test('a start with a key written in the campaign file is refused before anything is kept', async () => {
  const world = await createWorld({}, { CARILLON_HOOK_SECRET: secret });
  const campaign = world.writeCampaign({ yaml: ['pre_dial: { url: "https://hooks.example.com/?key=pq_AskKey83" }'] });
  const { code, stdout, stderr } = await world.run('start', campaign);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/pre_dial\.url: this cannot be used; .*env:\/\/CARILLON_URL_<NAME>/);
  expect(stderr).not.toContain('pq_AskKey83');
  expect(existsSync(world.path('carillon.db'))).toBe(false);
});

test('a secret that is too short is refused, and not shown', () => {
  expect(() => readConfig({ CARILLON_HOOK_SECRET: 'short-one' })).toThrow(/CARILLON_HOOK_SECRET/);
  try {
    readConfig({ CARILLON_HOOK_SECRET: 'short-one' });
  } catch (error) {
    expect((error as Error).message).not.toContain('short-one');
  }
});

test('check says when the secret is missing or an address may not be reached, and asks neither hook', async () => {
  const hook = await startHookServer();
  const yaml = `${minimalCampaign}pre_dial: { url: "${new URL(hook.url).origin}" }\non_completion: { url: "${new URL(hook.url).origin}" }\n`;
  const { campaignPath } = await writeCampaign(yaml, 'name,phone\nAna,+12125550101\n');
  const warningsWith = async (env: Record<string, string>) => {
    const io = createTerminal({
      now: () => Date.UTC(2030, 0, 15, 15),
      env: { CARILLON_DB: '/nowhere/carillon.db', ...env },
    });
    const { warnings } = await runCheck(io, { campaignPath, json: true, rowsPath: null, offline: true });
    expect((JSON.parse(io.written().stdout) as { warnings: string[] }).warnings).toEqual(warnings);
    return warnings.filter((warning) => warning.includes('HOOK'));
  };
  const networks = { CARILLON_HOOK_NETWORKS: '127.0.0.0/8' };
  expect(await warningsWith(networks)).toEqual([
    'CARILLON_HOOK_SECRET is not set: a start is refused without it, since requests of pre_dial and on_completion are signed',
  ]);
  expect(await warningsWith({ CARILLON_HOOK_SECRET: secret, ...networks })).toEqual([]);
  const refused = 'its address is one of this machine, of a private network or of none, and CARILLON_HOOK_NETWORKS does not allow it';
  expect(await warningsWith({ CARILLON_HOOK_SECRET: secret })).toEqual([
    `pre_dial: ${refused}; unless it does for the workers, nobody is called`,
    `on_completion: ${refused}; unless it does for the workers, nothing is sent there`,
  ]);
  expect(hook.calls).toEqual([]);
});

test('the doctor says whether there are secrets, and what they are for, and not which', async () => {
  const told = async (env: Record<string, string>) => {
    const findings = await findingsOf(new Around(readConfig(env), 0), ['Hook secret', 'Records sent']);
    return findings.map(({ status, detail }) => `${status} ${detail}`);
  };
  const none = 'ok not set; campaigns with hooks are refused';
  const taken = 'ok taken by carillon serve (SVC_WEBHOOK_SECRET is set): the record of an answered call needs no read';
  const notTaken = 'ok not taken (SVC_WEBHOOK_SECRET is not set): each ended call costs a read of its record';
  expect(await told({})).toEqual([none]);
  expect(await told({ CARILLON_HOOK_SECRET: secret })).toEqual(['ok set (CARILLON_HOOK_SECRET)']);
  expect(await told({ SVC_WEBHOOK_SECRET: secret })).toEqual([none, taken]);
  for (const SVC_API of ['batch-calling', 'campaigns']) {
    expect(await told({ SVC_API })).toEqual([none, notTaken]);
    expect(await told({ SVC_API, SVC_WEBHOOK_SECRET: secret })).toEqual([none, taken]);
  }
  const planted = { CARILLON_HOOK_SECRET: secret, SVC_WEBHOOK_SECRET: secret };
  const { stdout, stderr } = await commandFolder(planted).run('doctor', '--json');
  expect(stdout).toContain('set (CARILLON_HOOK_SECRET)');
  expect(stdout).toContain('SVC_WEBHOOK_SECRET is set');
  expect(stdout + stderr).not.toContain(secret);
});

test('status tells of a hook that is silent, and whether end and pause were heard', () => {
  const now = Date.UTC(2030, 0, 15, 15);
  const secretly = 'https://planted:secret@hooks.example.com:8443/planted-path?key=planted';
  const linesOf = (standing: Parameters<typeof hookLines>[0]) =>
    hookLines(
      standing,
      { preDial: { url: secretly, timeoutMs: 5_000 }, onCompletion: { url: secretly }, onPause: { url: secretly } },
      realClock(() => now),
      now,
    );
  expect(linesOf({ silentSince: null, completion: null, pause: null })).toEqual([]);
  expect(linesOf({ silentSince: now - 4 * minuteMs, completion: null, pause: null })).toEqual([
    'the pre-dial hook (pre_dial.url at hooks.example.com:8443) has not answered for 4 min; nobody is called until it does',
  ]);
  expect(linesOf({ silentSince: null, completion: 'delivered', pause: null })).toEqual([
    'completion hook (on_completion.url at hooks.example.com:8443): notified of the end',
  ]);
  expect(linesOf({ silentSince: null, completion: null, pause: 'pending' })).toEqual([
    'pause hook (on_pause.url at hooks.example.com:8443): not yet notified of the pause; retried for a day',
  ]);
});

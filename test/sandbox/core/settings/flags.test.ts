import { Command } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';
import { addSandboxFlags, readSandboxFlags, startFromFlags, type SandboxFlags } from '../../../../src/interfaces/cli/sandbox/flags.ts';
import { defaultBatchSettings, defaultCampaignSettings } from '../../../../src/sandbox/core/open-settings.ts';
import { resolveSettings } from '../../../../src/sandbox/core/settings/settings.ts';

const parse = (...flags: string[]): SandboxFlags => addSandboxFlags(new Command(), '4010').parse(flags, { from: 'user' }).opts();
afterEach(() => vi.unstubAllEnvs());

const resolved = async (...flags: string[]) => resolveSettings(await readSandboxFlags(parse(...flags)));
const set = (...pairs: string[]) => resolved(...pairs.flatMap((pair) => ['--setting', pair]));

test('whatever the published types leave open can be set at the command line', async () => {
  const { maxCallsPerBatch, batchCalling, campaigns } = await set(
    'maxCallsPerBatch=50', 'batchCalling.listLagMs=5000', 'batchCalling.cancelEnds=talking', 'batchCalling.termsAccepted=false',
    'campaigns.keyKeptMs=60000', 'campaigns.schedule=ignored',
  ); // prettier-ignore
  expect(maxCallsPerBatch).toBe(50);
  expect(batchCalling).toEqual({ ...defaultBatchSettings, listLagMs: 5_000, cancelEnds: 'talking', termsAccepted: false });
  expect(campaigns).toEqual({ ...defaultCampaignSettings, keyKeptMs: 60_000, schedule: 'ignored' });
  expect((await set('campaigns.keyKeptMs=null')).campaigns).toEqual(defaultCampaignSettings);
  expect(await resolved()).toMatchObject({
    maxCallsPerBatch: 1000,
    batchCalling: defaultBatchSettings,
    campaigns: defaultCampaignSettings,
  });
});

test.each([
  [
    'batchCalling.listLag=5',
    '--setting has no "batchCalling.listLag". Did you mean "batchCalling.listLagMs"? There are: maxCallsPerBatch, ',
  ],
  ['batchCalling', '--setting has no "batchCalling"'],
  ['batchCalling.listLagMs', '--setting batchCalling.listLagMs has no value; write batchCalling.listLagMs=0, for example.'],
  ['batchCalling.listLagMs=5s', 'batchCalling.listLagMs is 5s; it must be a whole number of milliseconds, 0 or more.'],
  ['batchCalling.listLagMs=', 'batchCalling.listLagMs is ; it must be a whole number of milliseconds'],
  ['batchCalling.mostListed=0', 'batchCalling.mostListed is 0; it must be a whole number of at least 1.'],
  ['batchCalling.termsAccepted=no', 'batchCalling.termsAccepted is no; it must be true or false.'],
  ['batchCalling.cancelEnds=all', 'batchCalling.cancelEnds is all; it must be waiting or ringing or talking.'],
  ['campaigns.recipientIds=kept', 'campaigns.recipientIds is kept; it must be leads or everywhere or nowhere.'],
  ['campaigns.keyKeptMs=never', 'campaigns.keyKeptMs is never; it must be a whole number of milliseconds, 0 or more.'],
  ['maxCallsPerBatch=many', 'maxCallsPerBatch is many; it must be a whole number of at least 1.'],
])('--setting %s is refused with what it may be, and nothing is started', async (pair, words) => {
  let told = '';
  const started = await startFromFlags(parse('--port', '0', '--setting', pair), { write: (text) => (told += text) });
  expect(started).toBeNull();
  expect(told).toContain(words);
});

test('every setting that is open is checked', () => {
  for (const [group, settings] of Object.entries({ batchCalling: defaultBatchSettings, campaigns: defaultCampaignSettings }))
    for (const name of Object.keys(settings))
      expect(() => resolveSettings({ [group]: { [name]: 'nonsense' } }), name).toThrow(`${group}.${name} is nonsense; it must be`);
  expect(() => resolveSettings({ campaigns: JSON.parse('{ "listLag": 5 }') as object })).toThrow(
    'campaigns.listLag is not known; it must be one of keyKeptMs, ',
  );
});

test.each([
  [['--dialect', 'published'], true],
  [['--dialect', 'published', '--no-strict-start'], false],
  [['--dialect', 'extended'], false],
  [['--strict-start'], true],
])('a start is strict with %j: %j', async (flags, strictStart) => {
  expect(await resolved(...flags)).toMatchObject({ strictStart });
});

test('the flags say which hosts may be connected to', async () => {
  const flags = ['--allow-outbound', 'a.example', '--allow-outbound', 'b.example:8443'];
  expect(await readSandboxFlags(parse(...flags))).toMatchObject({ allowOutbound: ['a.example', 'b.example:8443'] });
  expect(await resolved()).toMatchObject({ outbound: { hosts: [] } });
});

test.each(['http://a.example', 'a.example/v1', 'key@a.example', ''])('"%s" is no host to allow', (host) => {
  expect(() => resolveSettings({ allowOutbound: [host] })).toThrow('allowOutbound');
});

test('the media server comes from the environment, whole or not at all', async () => {
  expect((await resolved()).livekit).toBeNull();
  vi.stubEnv('LIVEKIT_API_KEY', 'APIlocal');
  await expect(readSandboxFlags(parse())).rejects.toThrow('LIVEKIT_API_KEY and LIVEKIT_API_SECRET belong together');
  vi.stubEnv('LIVEKIT_API_SECRET', 'not-shown');
  expect((await readSandboxFlags(parse())).livekit).toEqual({ apiKey: 'APIlocal', apiSecret: 'not-shown' });
});

test.each([{ pacing: 'slow' as 'fast' }, { pingEveryMs: 0 }, { maxFrameBytes: 1.5 }])(
  'settings of sockets such as %j are refused',
  (sockets) => {
    expect(() => resolveSettings({ sockets })).toThrow(/^The sandbox setting sockets\.\w+ is .*; it must be /);
  },
);

test('a way to send sound that is none is refused', async () => {
  await expect(readSandboxFlags(parse('--socket-pacing', 'slow'))).rejects.toThrow(
    '--socket-pacing is "slow"; it must be realtime or fast.',
  );
});

test('a flag says how fast sound is sent', async () => {
  expect((await resolved('--socket-pacing', 'fast')).sockets.pacing).toBe('fast');
  expect((await resolved()).sockets.pacing).toBe('realtime');
});

import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addSandboxFlags, readSandboxFlags, startAsAsked, type SandboxFlags } from '../../../../src/interfaces/cli/sandbox/flags.ts';
import { defaultBatchSettings } from '../../../../src/sandbox/core/batch-settings.ts';
import { defaultCampaignSettings } from '../../../../src/sandbox/core/settings/campaign-settings.ts';
import { resolveSettings } from '../../../../src/sandbox/core/settings/settings.ts';

const parse = (...flags: string[]): SandboxFlags => addSandboxFlags(new Command(), '4010').parse(flags, { from: 'user' }).opts();
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
  const started = await startAsAsked(parse('--port', '0', '--setting', pair), { write: (text) => (told += text) });
  expect(started).toBeNull();
  expect(told).toContain(words);
});

test('every setting that is open is checked', () => {
  for (const [group, settings] of Object.entries({ batchCalling: defaultBatchSettings, campaigns: defaultCampaignSettings }))
    for (const name of Object.keys(settings))
      expect(() => resolveSettings({ [group]: { [name]: 'nonsense' } }), name).toThrow(`${group}.${name} is nonsense; it must be`);
});

test.each([
  [['--dialect', 'published'], true],
  [['--dialect', 'published', '--no-strict-start'], false],
  [['--dialect', 'extended'], false],
  [['--strict-start'], true],
])('a start is strict with %j: %j', async (flags, strictStart) => {
  expect(await resolved(...flags)).toMatchObject({ strictStart });
});

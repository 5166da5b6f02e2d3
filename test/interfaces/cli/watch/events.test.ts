import { expect, test } from 'vitest';
import { pauseCampaign } from '../../../../src/ledger/rows/campaigns.ts';
import { noon } from '../../../ledger/scenario.ts';
import { until } from '../../../support/until.ts';
import { createLedger, endCampaign } from '../campaign-ledger.ts';

test('the log of a campaign is shown in words, and with --json whole', async () => {
  const ledger = await createLedger();
  await ledger.change((store) => pauseCampaign(store, { campaignId: 'spring', now: noon }, { reason: 'paused by a person' }));
  const { code, stdout } = await ledger.run('events', 'spring');
  expect(code).toBe(0);
  const words = stdout.trimEnd().split('\n');
  expect(words[0]).toMatch(/^\d{4}-\d\d-\d\dT\S+Z {2}3 rows imported, 1 rejected$/);
  expect(words.at(-1)).toMatch(/Z {2}paused: paused by a person$/);
  const json = (await ledger.run('events', 'spring', '--json')).stdout.trimEnd().split('\n');
  const events = json.map((line) => JSON.parse(line) as { seq: number; type: string; text: string | null });
  expect(events.length).toBeGreaterThan(words.length);
  expect(events.filter(({ text }) => text !== null)).toHaveLength(words.length);
  expect(events[0]).toMatchObject({ type: 'campaign.imported', campaignId: 'spring', batchId: null });
  expect(stdout + json.join('')).not.toMatch(/\+1212555/);
  expect(await ledger.run('events', 'sprin')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Did you mean spring?'),
  });
});

test('events --follow shows what comes, and ends with the campaign', async () => {
  const ledger = await createLedger();
  const following = ledger.begin(['events', 'spring', '--follow']);
  await until('the first events are shown', () => Promise.resolve(following.io.written().stdout.includes('imported') || undefined));
  await ledger.change(endCampaign);
  const { code, stdout } = await following.ended;
  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n').at(-2)).toMatch(/completed$/);
});

test('events --follow ends with Ctrl-C', async () => {
  const ledger = await createLedger();
  const following = ledger.begin(['events', 'spring', '--follow', '--json']);
  await until('the first events are shown', () => Promise.resolve(following.io.written().stdout.includes('imported') || undefined));
  following.interrupt();
  expect((await following.ended).code).toBe(0);
});

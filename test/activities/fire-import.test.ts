import { expect, test } from 'vitest';
import { listCampaigns } from '../../src/ledger/rows/campaigns.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { daily } from './daily-schedule.ts';

test('a firing whose hours the law rules out for everybody is refused with the rule, and imports nothing', async () => {
  const store = await openCleanStore('sqlite');
  const fire = await daily(store, { yaml: ['hours: { mon: "22:00-23:00" }'] });
  expect(await fire(0)).toMatch(
    /^for good: hours\.mon: "22:00-23:00" leaves no time to call anybody in the list: rule us \(47 CFR .*08:00-21:00/,
  );
  expect(await listCampaigns(store.db)).toEqual([]);
});

test('a firing writes what a start would warn of into the log of the worker, and no number', async () => {
  const store = await openCleanStore('sqlite');
  const lines: string[] = [];
  const list = 'phone\n+12125550142\n+442079460958\n';
  const yaml = ['hours: { mon: "08:00-08:30" }', 'on_unknown: redial'];
  const fire = await daily(store, { list, yaml, onLog: (line) => lines.push(line) });
  expect(await fire(0)).toBe('daily-2030-01-15t1200');
  const logged = lines.map((line) => JSON.parse(line) as { campaignId: string; msg: string });
  expect(logged.map(({ campaignId, msg }) => `${campaignId}: ${msg}`)).toEqual([
    expect.stringMatching(/^daily-2030-01-15t1200: 1 row of GB .* can never be called/),
    expect.stringContaining('no rule by law is known for GB (1 row)'),
    expect.stringContaining('on_unknown: redial'),
    expect.stringContaining('would not be heard'),
  ]);
  expect(lines.join('')).not.toMatch(/2125550142|2079460958/);
});

test('a firing with time for some only goes on, and says for how many there is none', async () => {
  const store = await openCleanStore('sqlite');
  const lines: string[] = [];
  const yaml = [
    'hours: any',
    'law: off',
    'ends_at: 2030-01-15T12:12:00Z',
    'pacing: { max_concurrent_calls: 1, batch_size: 1 }',
  ];
  const list = `phone\n${Array.from({ length: 20 }, (_, index) => `+121255501${String(20 + index)}`).join('\n')}\n`;
  const fire = await daily(store, { list, yaml, onLog: (line) => lines.push(line) });
  expect(await fire(0)).toBe('daily-2030-01-15t1200');
  expect(lines.join('')).toMatch(/even at best \d+ recipients would never be called/);
});

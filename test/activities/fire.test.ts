import { expect, test } from 'vitest';
import { changeCampaignState, listCampaigns } from '../../src/ledger/rows/campaigns.ts';
import { findActiveRunCampaign, listRunCampaigns, readLastScheduledRun } from '../../src/ledger/campaign/schedules.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { noon } from '../ledger/scenario.ts';
import { dialects } from '../ledger/test-stores.ts';
import { daily, schedule } from './daily-schedule.ts';

const first = 'daily-2030-01-15t1200';
const skipped = (state: string) =>
  `for good: Skipped: campaign ${first} of an earlier run is ${state}. If it does not progress, continue it from the schedule.`;

test.for(dialects)(
  'a firing is skipped while the campaign of an earlier one has not ended, whatever its workflow says: %s',
  async (dialect) => {
    const store = await openCleanStore(dialect);
    const fire = await daily(store);
    expect(await fire(0)).toBe(first);
    expect(await fire(0)).toBe(first);
    expect(await fire(1)).toBe(skipped('running'));
    await store.transaction((tx) =>
      changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'paused', reason: 'paused by a person' }),
    );
    expect(await readLastScheduledRun(store.db, 'daily', schedule.scheduleId)).toMatchObject({
      campaignId: 'daily-2030-01-16t1200',
      failure: skipped('running').replace('for good: ', ''),
    });
    for (let day = 2; day < 30; day += 1) expect(await fire(day)).toBe(skipped('paused'));
    await store.transaction((tx) => changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'draining', reason: null }));
    expect(await fire(30)).toBe(skipped('draining'));
    expect((await listCampaigns(store.db)).map(({ campaignId }) => campaignId)).toEqual([first]);

    await store.transaction((tx) => changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'completed', reason: null }));
    expect(await findActiveRunCampaign(store.db, schedule)).toBeUndefined();
    const second = 'daily-2030-02-15t1200';
    expect(await fire(31)).toBe(second);
    expect((await listRunCampaigns(store.db, schedule)).map(({ campaignId }) => campaignId)).toEqual([second, first]);

    // An earlier run is retried after the last one has ended.
    await store.transaction((tx) => changeCampaignState(tx, { campaignId: second, now: noon }, { to: 'failed', reason: null }));
    await store.transaction((tx) => changeCampaignState(tx, { campaignId: first, now: noon }, { to: 'running', reason: null }));
    expect(await fire(32)).toBe(skipped('running'));
  },
);

test.for(dialects)('campaigns of other schedules, and those of no firing, skip nothing: %s', async (dialect) => {
  const store = await openCleanStore(dialect);
  const fire = await daily(store);
  expect(await fire(0)).toBe(first);
  expect(await findActiveRunCampaign(store.db, { ...schedule, scheduleId: 'carillon/other/daily' })).toBeUndefined();
  expect(await findActiveRunCampaign(store.db, { ...schedule, campaignId: 'dail' })).toBeUndefined();
  await store.db.updateTable('campaigns').set({ campaign_id: 'daily-test-1' }).execute();
  expect(await findActiveRunCampaign(store.db, schedule)).toBeUndefined();
  expect(await fire(1)).toBe('daily-2030-01-16t1200');
});

test('a worker of another service takes no firing: its list would be dialled there', async () => {
  const store = await openCleanStore('sqlite');
  const fire = await daily(store, { accountId: 'http://127.0.0.1:4010' });
  expect(await fire(0)).toBe(
    'for now: The schedule of daily was made for the service at http://service, and SVC_BASE_URL of the worker is http://127.0.0.1:4010: set it to that service, and restart the worker.',
  );
  expect(await listCampaigns(store.db)).toEqual([]);
});

test('a firing whose hours the law rules out for everybody is refused with the rule, and imports nothing', async () => {
  const store = await openCleanStore('sqlite');
  const fire = await daily(store, { yaml: ['hours: { mon: "22:00-23:00" }'] });
  expect(await fire(0)).toMatch(
    /^for good: hours\.mon: "22:00-23:00" leaves no time to call anyone in the list: rule us \(47 CFR .*08:00-21:00/,
  );
  expect(await listCampaigns(store.db)).toEqual([]);
});

test.each([
  [
    { list: '+12125550142,Ann\n+12125550143,Ben\n' },
    /^for good: The list list\.csv cannot be used with this campaign file: a check with this list/,
  ],
  [
    { list: 'phone,until\n+12125550142,2020-01-01\n+12125550143,2020-01-02\n', columns: ', expires_at: until' },
    /^for good: list: none of the rows of list\.csv would be called \(row_expired 2\)/,
  ],
])('a firing that nobody could be called of fails for good and tells no number: %o', async (setting, says) => {
  const store = await openCleanStore('sqlite');
  const reason = await (await daily(store, setting))(0);
  expect(reason).toMatch(says);
  expect(reason).not.toMatch(/Ann|212555/);
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
  const yaml = ['hours: any', 'law: off', 'ends_at: 2030-01-15T12:12:00Z', 'pacing: { max_concurrent_calls: 1, batch_size: 1 }'];
  const list = `phone\n${Array.from({ length: 20 }, (_, index) => `+121255501${String(20 + index)}`).join('\n')}\n`;
  const fire = await daily(store, { list, yaml, onLog: (line) => lines.push(line) });
  expect(await fire(0)).toBe('daily-2030-01-15t1200');
  expect(lines.join('')).toMatch(/even at best \d+ recipients would never be called/);
});

test.for(dialects)(
  'a firing never guesses an encoding, and a schedule begun before encodings were named keeps Windows-1252: %s',
  async (dialect) => {
    const list = Buffer.from('phone,name\n+12125550142,Ren\xe9e\n', 'latin1');
    const store = await openCleanStore(dialect);
    const refused = await (await daily(store, { list }))(0);
    expect(refused).toMatch(/^for good: The encoding of the list list\.csv is not certain: write list\.encoding into the campaign file/);
    expect(refused).not.toMatch(/Ren|2125550142/);
    expect(await listCampaigns(store.db)).toEqual([]);

    expect(await (await daily(store, { list, unnamedEncoding: 'western' }))(1)).toBe('daily-2030-01-16t1200');
    const [campaign] = await listCampaigns(store.db);
    // Its later files are read like the first.
    expect(campaign?.rules.list.encoding).toBeUndefined();
    const { cells } = await store.db.selectFrom('recipients').select('cells').executeTakeFirstOrThrow();
    expect(JSON.parse(cells)).toEqual(['+12125550142', 'Renée']);
  },
);

import { expect, test } from 'vitest';
import { pauseCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { until } from '../../support/until.ts';
import { ConsoleWorld } from './console-world.ts';

async function openWorld({ going = 1, ended = 0 }) {
  const store = await openCleanStore('sqlite');
  for (let n = 1; n <= going + ended; n += 1) {
    const rows = buildRows([`+1202555${String(n).padStart(4, '0')}`], () => `Guest ${n}`);
    const campaignId = `list-${String(n).padStart(3, '0')}`;
    await beginProven(store, { campaignId, rows, now: noon + n, rules: { endsAt: noon + 90_000_000 } });
    if (n <= ended) await store.db.updateTable('campaigns').set({ state: 'completed' }).where('campaign_id', '=', campaignId).execute();
  }
  return { store, console: await ConsoleWorld.over(store) };
}

function listed(text: string): string[] {
  return [...text.matchAll(/id="campaign-(list-\d+)"/g)].map(([, id = '']) => id);
}

test('a campaign is listed with its progress, why it waits, its limit and what needs a person', async () => {
  const { store, console } = await openWorld({ going: 2 });
  await pauseCampaign(store, { campaignId: 'list-001', now: noon + 10 }, { reason: 'the key is refused' });
  const text = await until('its end is forecast', async () => {
    const answer = await console.get('/');
    return answer.text.includes('earliest') && answer.text;
  });
  expect(listed(text)).toEqual(['list-002', 'list-001']);
  expect(text).toMatch(/id="campaign-list-001"[\s\S]*>Paused<[\s\S]*1 waiting[\s\S]*paused: the key is refused, since/);
  expect(text).toContain('<a href="/campaigns/list-001#needs">1 thing</a>');
  expect(text).toMatch(/earliest[\s\S]*likely[\s\S]*at worst[\s\S]*limit<\/dt>\s*<dd><time[^>]*>2030-01-16 13:00 UTC/);
  expect(text).not.toContain('style=');
});

test('where there are many, those that have ended are a click away, and no page has more than 25', async () => {
  const { console } = await openWorld({ going: 3, ended: 30 });
  const first = await console.get('/');
  expect(listed(first.text)).toEqual(['list-033', 'list-032', 'list-031']);
  expect(first.text).toMatch(/Ended \(30\)/);
  const ended = await console.get('/?show=ended');
  expect(listed(ended.text)).toHaveLength(25);
  expect(ended.text).toContain('Page 1 of 2');
  const last = await console.get('/?show=ended&page=2');
  expect(listed(last.text)).toEqual(['list-005', 'list-004', 'list-003', 'list-002', 'list-001']);
  for (const query of ['page=99', 'page=-1', 'page=x', 'show=nothing'])
    expect(await console.get(`/?${query}`)).toMatchObject({ status: 200 });
});

test('a console without a campaign says what to do next, and tells who may only look who can', async () => {
  const store = await openCleanStore('sqlite');
  const console = await ConsoleWorld.over(store);
  expect((await console.get('/')).text).toMatch(/There is no campaign yet[\s\S]*href="\/new">Make one/);
  expect((await console.get('/', 'read')).text).not.toContain('href="/new"');
});

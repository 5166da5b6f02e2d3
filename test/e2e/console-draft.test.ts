import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld } from '../interfaces/cli/campaign-world.ts';
import { rehearsedReport } from '../interfaces/console/rehearsed-report.ts';
import { sweepDrafts } from '../../src/ledger/console/drafts.ts';
import { beginRehearsal, endRehearsal } from '../../src/ledger/console/rehearsals.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';

const list = 'phone,name\n+12125550131,Ana\n+12125550132,Ben\n';

test('a campaign that the page has started is the one that its downloaded file starts', async () => {
  const world = await createWorld();
  const made = await world.run('token', 'create', 'front desk', '--role', 'operate', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the page listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url } = JSON.parse(ready) as { url: string };
  const headers = { cookie: await signIn(url, token), origin: url };
  const post = async (path: string, body: FormData | URLSearchParams) => {
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status, await answer.text()).toBe(303);
    return answer.headers.get('location') ?? '';
  };
  const get = async (path: string) => (await fetch(`${url}${path}`, { headers })).text();

  const form = new FormData();
  form.append('list', new Blob([list]), 'guests.csv');
  const path = (await post('/new', form)).replace(/\/columns$/, '');
  await post(`${path}/columns`, new URLSearchParams({ 'list.phone': 'phone' }));
  await post(`${path}/words`, new URLSearchParams({ first_message: 'Hello {{ name }}.' }));
  const calls = { id: world.id, agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', hours: 'any' };
  await post(`${path}/calls`, new URLSearchParams(calls));
  const yaml = await get(`${path}/campaign.yaml`);
  const checked = await get(`${path}/check`);
  expect(checked).toContain('Ready to start.');
  const store = await openStore({ sqlitePath: world.path('carillon.db') });
  const [draftId = ''] = (await store.db.selectFrom('drafts').select('draft_id').execute()).map((row) => row.draft_id);
  await beginRehearsal(store, draftId, 'as it was');
  const [, key = ''] = /name="key" value="([^"]+)"/.exec(checked) ?? [];
  const start = new URLSearchParams({ key, campaign: world.id });
  expect(await post(`${path}/check`, start)).toBe(`/campaigns/${world.id}`);
  // The button was pressed twice, or the draft was open in a second tab.
  expect(await post(`${path}/check`, start)).toBe(`/campaigns/${world.id}`);
  expect(await get('/new')).toContain('There is none.');
  // It was under way when the campaign was started, and ends afterwards.
  await endRehearsal(store, draftId, JSON.stringify(rehearsedReport));
  await sweepDrafts(store, Date.now());
  await store.close();
  expect(await get(`/campaigns/${world.id}`)).toContain(`href="/campaigns/${world.id}/rehearsal"`);
  expect(await get(`/campaigns/${world.id}/rehearsal`)).toContain('The campaign went as it should.');

  writeFileSync(world.path('campaign.yaml'), yaml);
  writeFileSync(world.path('guests.csv'), list);
  const again = await world.run('start', world.path('campaign.yaml'), '--json');
  expect(again.code, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ campaignId: world.id, imported: false });
  writeFileSync(world.path('guests.csv'), list.replace('Ben', 'Bert'));
  expect(await world.run('start', world.path('campaign.yaml'))).toMatchObject({ code: 2 });
  server.interrupt();
  await server.ended;
});

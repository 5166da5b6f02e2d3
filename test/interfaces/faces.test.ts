import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { openTemporal } from '../../src/operations/control/control.ts';
import { readConfig } from '../../src/shared/config.ts';
import { createWorld, type CampaignWorld } from './cli/campaign-world.ts';
import { ConsoleWorld } from './console/console-world.ts';
import { DraftWorld, goodList, goodWords } from './console/draft-world.ts';

/** Page and API over the database of the commands. */
async function openFaces(world: CampaignWorld) {
  const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' });
  const config = readConfig(world.env);
  const page = new DraftWorld(await ConsoleWorld.over(store, world.env, (limitMs) => openTemporal(world.env, config, limitMs)));
  const { app } = page.console.api;
  const api = async (way: '' | '/check') => {
    const form = new FormData();
    form.append('campaign', new Blob([world.read('campaign.yaml')]), 'campaign.yaml');
    form.append('list', new Blob([readFileSync(join(world.folder, 'list.csv'))]), 'list.csv');
    const headers = { authorization: `Bearer ${page.console.api.tokenText('operate')}`, 'idempotency-key': `faces${way}` };
    const answer = await app.inject({ method: 'POST', url: `/api/v1/campaigns${way}`, headers, payload: form });
    return { status: answer.statusCode, body: answer.json<{ startable?: boolean; refusal?: string; detail?: string }>() };
  };
  return { store, page, api };
}

/** What each face says that refuses to start what lies in the folder of the world. */
async function refusals(world: CampaignWorld, expected: RegExp): Promise<Awaited<ReturnType<typeof openFaces>>> {
  const faces = await openFaces(world);
  const { code, startable, said } = await world.run('check', world.campaignPath, '--json').then(({ code, stdout, stderr }) => {
    return { code, startable: (JSON.parse(stdout) as { startable: boolean }).startable, said: `${stdout}${stderr}` };
  });
  expect({ startable, code: code > 0 }).toEqual({ startable: false, code: true });
  expect(said).toMatch(expected);
  const started = await world.run('start', world.campaignPath);
  expect(started.code).toBeGreaterThan(0);
  expect(started.stderr).toMatch(expected);
  expect((await faces.api('/check')).body).toMatchObject({ startable: false, refusal: expect.stringMatching(expected) as string });
  const created = await faces.api('');
  expect({ status: created.status >= 400, detail: created.body.detail }).toEqual({
    status: true,
    detail: expect.stringMatching(expected) as string,
  });
  expect((await faces.page.console.api.ask('GET /api/v1/campaigns')).body).toMatchObject({ campaigns: [] });
  return faces;
}

test('a caller number that is not ready is refused beside a good one, by its id, on every face', async () => {
  const world = await createWorld();
  world.writeCampaign({ yaml: ['from_phone_number_id: [pn_main, pn_unverified]'] });
  const says = /1 of the 2 caller numbers may not call \(pn_unverified is not verified\): fix them with the service, or take them out/;
  const { page } = await refusals(world, says);
  const words = { ...goodWords, from_phone_number_id: 'pn_main\npn_unverified' };
  const text = await page.page(await page.prepare({ words: words }, goodList));
  expect(text).toMatch(says);
  expect(text).not.toContain('ready at the service');
});

import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { backgroundInThreads } from '../../../src/operations/control/aside/aside-threads.ts';
import { backgroundInPlace, type Background } from '../../../src/operations/control/aside/works.ts';
import { findCampaign } from '../../../src/ledger/rows/campaigns.ts';
import { buildRows } from '../../support/campaign-rules.ts';
import { problemOf } from '../../../src/operations/runs/problem.ts';
import { answered, beginProven, noon, numbers } from '../../ledger/scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';

let folder: string;
let store: Store;
let aside: Background;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-aside-'));
  const location = { sqlitePath: join(folder, 'ledger.db') };
  store = await openStore(location);
  aside = backgroundInThreads(location);
});
afterEach(async () => {
  await aside.close();
  await store.close();
});

const table = { columns: [], collectedKeys: [], evaluationKeys: [], format: 'csv' as const };

async function begin(rows: number) {
  const scenario = await beginProven(store, { rows: buildRows(numbers(rows), (index) => `Guest ${index}`) });
  await scenario.dial(1, noon);
  const [call] = await scenario.attempts();
  await scenario.sweep(noon + 600_000, [answered('conv_1', call?.e164 ?? '', noon + 5_000)]);
  const campaign = await findCampaign(store.db, scenario.campaignId);
  if (campaign === undefined) throw new Error('the campaign is gone');
  return campaign;
}

test('what is read aside is what is read in place', async () => {
  const campaign = await begin(30);
  const now = noon + 900_000;
  const here = backgroundInPlace(store);
  expect(await aside.read('forecast', campaign, now)).toEqual(await here.read('forecast', campaign, now));
  expect(await aside.read('waiting', campaign, now)).toEqual(await here.read('waiting', campaign, now));
  expect(await aside.read('hours', campaign, now)).toEqual(await here.read('hours', campaign, now));
  expect(await aside.read('course', campaign, now)).toEqual(await here.read('course', campaign, now));
  expect(await aside.read('talk', campaign)).toEqual(await here.read('talk', campaign));
  expect(await aside.work('report', campaign, now)).toEqual(await here.work('report', campaign, now));
}, 120_000);

test('a file comes piece by piece, and whoever leaves early leaves no thread behind', async () => {
  const campaign = await begin(30);
  const whole = async (from: Background): Promise<string> => {
    let text = '';
    for await (const piece of from.stream('results', campaign.campaignId, {}, table)) text += String(piece);
    return text;
  };
  const expected = await whole(backgroundInPlace(store));
  expect(expected.split('\n')).toHaveLength(32);
  expect(await whole(aside)).toBe(expected);
  // More than may go on at once.
  for (let n = 0; n < 3; n += 1) for await (const _ of aside.stream('results', campaign.campaignId, {}, table)) break;
  expect(await whole(aside)).toBe(expected);
}, 120_000);

test('a list is imported aside, and what is wrong with it is refused in the same words', async () => {
  const path = join(folder, 'campaign.yaml');
  const yaml = `id: aside
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: list.csv, phone: phone, default_region: US }
first_message: Hello
hours: any
law: off
`;
  await writeFile(path, yaml);
  const input = { path, accountId: 'http://service', api: 'contract' as const, now: noon, allowPartial: false };
  await writeFile(join(folder, 'list.csv'), 'phone\nnobody\n');
  const refusal = async (from: Background) => problemOf(await from.work('importFile', input).catch((error: unknown) => error));
  const refused = await refusal(aside);
  expect(refused).toMatchObject({ status: 422, code: 'campaign_file' });
  expect(refused).toEqual(await refusal(backgroundInPlace(store)));
  await writeFile(join(folder, 'list.csv'), 'phone\n+12015550142\nnobody\n');
  await aside.work('importFile', input);
  expect(await findCampaign(store.db, 'aside')).toMatchObject({ state: 'draft', rowsTotal: 2, rowsRejected: 1 });
}, 120_000);

test('what is asked aside is answered before it is closed', async () => {
  const campaign = await begin(3);
  const asked = [aside.read('talk', campaign), aside.read('lastChange', campaign), aside.work('talk', campaign)];
  await aside.close();
  expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(asked.map(() => 'fulfilled'));
  await expect(aside.read('talk', campaign)).rejects.toThrow(/closed/);
}, 120_000);

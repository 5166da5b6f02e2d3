import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openTemporal } from '../../src/operations/control/control.ts';
import { readConfig } from '../../src/shared/config.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { finishRecipients } from '../../src/ledger/rows/recipients.ts';
import { createLedger, endCampaign } from './cli/campaign-ledger.ts';
import { createWorld, numberAt } from './cli/campaign-world.ts';
import { ConsoleWorld } from './console/console-world.ts';
import { noon } from '../ledger/scenario.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** Without times and counts, which change from moment to moment. */
function plain(sentence = ''): string {
  const text = sentence
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .trim();
  const [said = ''] = text.split(/ \(\d+ tr|, since |, until /);
  return `${said.charAt(0).toLowerCase()}${said.slice(1)}`.replace(/\.$/, '');
}

interface Ways {
  run: (...args: string[]) => Promise<{ stdout: string }>;
  ask: (path: string) => Promise<string>;
}

interface Told {
  why: string | null;
  fix: { todo: string | null } | null;
}

/** Each face's reason why no call is placed, and the fix that programs get. */
async function facesOf({ run, ask }: Ways, id: string) {
  const paths = [`/campaigns/${id}`, '/?show=all', `/api/v1/campaigns/${id}`, '/api/v1/campaigns'];
  const asked = Promise.all(paths.map(ask));
  const [status, json] = await Promise.all([run('status', id), run('status', id, '--json')]);
  const [page = '', list = '', api = '', apiList = ''] = await asked;
  const { campaigns } = JSON.parse(apiList) as { campaigns: (Told & { campaignId: string })[] };
  const told = [api, json.stdout].map((text) => JSON.parse(text) as Told);
  const programs = [...told, campaigns.find(({ campaignId }) => campaignId === id)];
  const inList = list.slice(list.indexOf(`id="campaign-${id}"`));
  const sentences = [
    /<span class="why">([\s\S]*?)<\/span>/.exec(page.replace(/<p class="note-brief[\s\S]*?<\/p>/, ''))?.[1],
    // It names the operator of a pause, and begins with a capital.
    /<span class="why">([\s\S]*?)<\/span>/.exec(inList)?.[1]?.replace('The command line paused it', 'Paused by a person'),
    /\nWaiting +(.*)/.exec(status.stdout)?.[1],
    ...programs.map((each) => each?.why ?? ''),
  ];
  return { faces: sentences.map(plain), fixes: programs.map((each) => each?.fix), status: status.stdout };
}

/** Waits until all six faces say the same; programs get the same fix. */
async function allSay(ways: Ways, id: string, says: RegExp, cause: string, action: string | null): Promise<void> {
  const isSaid = async () => says.test(plain((JSON.parse(await ways.ask(`/api/v1/campaigns/${id}`)) as Told).why ?? ''));
  await until(`${id} says ${says}`, isSaid, { everyMs: 100 });
  let found = await facesOf(ways, id);
  const areOne = async () => {
    const [first = '', ...others] = found.faces;
    if (says.test(first) && others.every((other) => other === first)) return true;
    found = await facesOf(ways, id);
    return false;
  };
  await until('every face says it', areOne, { everyMs: 250 }).catch((error: unknown) => {
    throw new Error(`${id}: ${JSON.stringify(found.faces, null, 2)}`, { cause: error });
  });
  const fix = { cause, todo: expect.stringMatching(/\.$/) as string, action };
  expect(found.fixes).toEqual([fix, fix, fix]);
  expect(new Set(found.fixes.map((each) => each?.todo)).size).toBe(1);
  expect(found.status).toMatch(/\nTo do {5}\S.*\.\n/);
}

/** Monday, 15:00 UTC. */
const monday = Date.UTC(2026, 0, 5, 15);

test('no worker, closed hours, a used-up cap or budget, busy lines, a pause and a service that is away are told in one sentence each', async () => {
  // Talks of half a real minute keep lines busy while six faces are read.
  const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
  const world = await createWorld({ speed: 60, epochMs: monday, meanTalkSeconds: 1_800, outcomeMix });
  const start = async (name: string, yaml: string[], lines: string[], hours = 'any') => {
    const id = `${world.id}-${name}`;
    const path = world.writeCampaign({ id, yaml, lines });
    const file = world.read('campaign.yaml').replace('hours: any', `hours: ${hours}`).replace('list.csv', `${id}.csv`);
    writeFileSync(path, file);
    writeFileSync(world.path(`${id}.csv`), world.read('list.csv'));
    expect(await world.run('start', path)).toMatchObject({ code: 0 });
    return id;
  };
  const url = await world.serve();
  const token = await world.token('console', 'read');
  const headers = { authorization: `Bearer ${token}`, cookie: await signIn(url, token) };
  const ways: Ways = {
    run: (...args) => world.run(...args),
    ask: async (path) => (await fetch(`${url}${path}`, { headers })).text(),
  };
  const busy = '+12125550101,Ana';
  const first = await start('first', ['retry: { max_attempts: 1 }'], [busy]);
  await allSay(ways, first, /^no worker is running for this database$/, 'no_worker', null);

  await world.work();
  const stateOf = async (id: string) => (JSON.parse(await ways.ask(`/api/v1/campaigns/${id}`)) as { state: string }).state;
  await until('it is done', async () => (await stateOf(first)) === 'completed', { everyMs: 100 });
  const capped = await start('capped', ['caps: [{ calls: 1, within: 24h }]'], [busy]);
  const closed = await start('closed', [], [`${numberAt(61)},Eve`], '{ sun: 09:00-17:00 }');
  const budget = 'retry: { max_attempts: 1, max_attempts_per_number: 1, reset_after: 24h }';
  const spent = await start('spent', [budget, 'ends_at: 2026-02-01T00:00:00Z'], [busy]);
  await allSay(ways, capped, /^a frequency cap is used up$/, 'frequency_cap', null);
  await allSay(ways, spent, /^a retry's budget of attempts is used up$/, 'attempt_budget', null);
  await allSay(ways, closed, /^outside calling hours$/, 'outside_hours', null);

  const people = Array.from({ length: 60 }, (_, index) => `${numberAt(index)},Row${index}`);
  const full = await start('full', ['pacing: { max_concurrent_calls: 3, batch_size: 3 }'], people);
  await allSay(ways, full, /^calling: 3 of 3 lines$/, 'capacity', 'limits');
  for (let reads = 0; reads < 20; reads += 1) {
    const { why } = JSON.parse(await ways.ask(`/api/v1/campaigns/${full}`)) as Told;
    expect(why).toMatch(/^calling: [0-3] of 3 lines$|^\d calls? planned but not sent yet/);
  }
  expect(await world.run('pause', full)).toMatchObject({ code: 0 });
  await allSay(ways, full, /^paused by a person$/, 'paused', 'resume');
  expect(await world.run('resume', full)).toMatchObject({ code: 0 });
  await world.sandbox.close();
  await allSay(ways, full, /service (at \S+ )?(could|can)not be reached|service could not be reached/i, 'service', null);
});

test('what the database alone tells is one sentence on every face', async () => {
  const ledger = await createLedger();
  const store = await openStore({ sqlitePath: ledger.path('carillon.db') });
  onTestFinished(() => store.close());
  const settings = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const console = await ConsoleWorld.over(store, settings, (limitMs) => openTemporal({}, readConfig(settings), limitMs));
  const ask = async (path: string) => {
    if (!path.startsWith('/api/')) return (await console.get(path)).text;
    return JSON.stringify((await console.api.ask(`GET ${path}`, { role: 'read' })).body);
  };
  const at = { campaignId: 'spring', now: noon + 3 * minuteMs };
  const move = (to: Parameters<typeof changeCampaignState>[2]) => async (by: Store) => {
    await by.transaction(async (tx) => {
      await changeCampaignState(tx, at, { to: 'running' });
      await changeCampaignState(tx, at, to);
    });
  };
  const decide = async (by: Store) => {
    await move({ to: 'running' })(by);
    await endCampaign(by);
    const unresolved = { recipientId: 'spring/2', outcome: 'unresolved', reason: 'not_told_apart' } as const;
    await by.transaction((tx) => finishRecipients(tx, at, [unresolved]));
  };
  const breaker = '9 of 10 calls failed, and breaker.failure_share is 50 %. It resumes by itself after its cool-down.';
  const refused = 'The service refuses the API key (401): set SVC_API_KEY';
  type Case = [change: (by: Store) => Promise<void>, says: RegExp, cause: string, action: string | null];
  const cases: Case[] = [
    [async () => {}, /^Temporal at 127\.0\.0\.1:1 cannot be used/i, 'temporal', null],
    [move({ to: 'paused', reason: 'paused by a person' }), /^paused by a person$/, 'paused', 'resume'],
    [move({ to: 'paused', reason: refused }), /^paused: The service refuses the API key/, 'key_refused', 'resume'],
    [
      move({ to: 'paused', reason: breaker, resumeAt: noon + 60 * minuteMs }),
      /^paused: 9 of 10 calls failed, and breaker/,
      'breaker',
      'resume',
    ],
    [move({ to: 'failed', reason: 'the database was restored' }), /^failed: the database was restored$/, 'failed', null],
    [decide, /^all calls are done, but 1 row is undecided$/, 'undecided', 'decide'],
  ];
  for (const [change, says, cause, action] of cases) {
    await change(store);
    const ways = { run: (...args: string[]) => ledger.run(...args), ask };
    await allSay(ways, 'spring', says, cause, action);
  }
});

import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openTemporal } from '../../src/operations/control/control.ts';
import { readConfig } from '../../src/shared/config.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { changeCampaignState } from '../../src/ledger/rows/campaigns.ts';
import { finishRecipients } from '../../src/ledger/rows/recipients.ts';
import { createLedger, endCampaign } from '../interfaces/cli/campaign-ledger.ts';
import { createWorld, numberAt, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { ConsoleWorld } from '../interfaces/console/console-world.ts';
import { noon } from '../ledger/scenario.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';
import type { Store } from '../../src/ledger/tx.ts';

/** The API and the page of the world's database, as one token asks. */
async function serve(world: CampaignWorld) {
  const made = await world.run('token', 'create', 'console', '--role', 'read', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the API listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url } = JSON.parse(ready) as { url: string };
  const headers = { authorization: `Bearer ${token}`, cookie: await signIn(url, token) };
  return async (path: string): Promise<string> => (await fetch(`${url}${path}`, { headers })).text();
}

/** The sentence alone: since when, how often and until when differ from one moment to the next. */
function plain(sentence = ''): string {
  const text = sentence
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .trim();
  const [said = ''] = text.split(/ \(\d+ tr|, since |, until /);
  return `${said.charAt(0).toLowerCase()}${said.slice(1)}`.replace(/\.$/, '');
}

/** The command line, and what a path of API or page answers. */
interface Ways {
  run: (...args: string[]) => Promise<{ stdout: string }>;
  ask: (path: string) => Promise<string>;
}

/** What each face says why nobody is called. */
async function facesOf({ run, ask }: Ways, id: string): Promise<Record<string, string>> {
  const [page, list] = [await ask(`/campaigns/${id}`), await ask('/?show=all')];
  const [api, apiList] = [await ask(`/api/v1/campaigns/${id}`), await ask('/api/v1/campaigns')];
  const [status, json] = [await run('status', id), await run('status', id, '--json')];
  const whyOf = (text: string) => (JSON.parse(text) as { why?: string | null }).why ?? '';
  const { campaigns } = JSON.parse(apiList) as { campaigns: { campaignId: string; why: string | null }[] };
  const inList = list.slice(list.indexOf(`id="campaign-${id}"`));
  const said = {
    page: /<span class="why">([\s\S]*?)<\/span>/.exec(page.replace(/<p class="note-brief[\s\S]*?<\/p>/, ''))?.[1],
    list: /<span class="why">([\s\S]*?)<\/span>/.exec(inList)?.[1],
    api: whyOf(api),
    apiList: campaigns.find(({ campaignId }) => campaignId === id)?.why ?? '',
    status: /\nWaiting +(.*)/.exec(status.stdout)?.[1],
    statusJson: whyOf(json.stdout),
  };
  return Object.fromEntries(Object.entries(said).map(([face, sentence]) => [face, plain(sentence)]));
}

/** Waits until all six faces say the same, and that. */
async function allSay(ways: Ways, id: string, says: RegExp): Promise<void> {
  let faces: Record<string, string> = {};
  await until(
    `every face says ${says}`,
    async () => {
      faces = await facesOf(ways, id);
      return new Set(Object.values(faces)).size === 1 && says.test(faces['api'] ?? '');
    },
    // What took long to read is told once more for a while.
    { everyMs: 250 },
  ).catch((error: unknown) => {
    throw new Error(`${id}: ${JSON.stringify(faces, null, 2)}`, { cause: error });
  });
  expect(Object.keys(faces)).toHaveLength(6);
}

/** What mends it: the same for programs and at the command line, which says it in its own words. */
async function fixIs({ run, ask }: Ways, id: string, cause: string, action: string | null): Promise<void> {
  const { fix } = JSON.parse(await ask(`/api/v1/campaigns/${id}`)) as { fix: { todo: string | null } | null };
  expect(fix).toEqual({ cause, todo: expect.stringMatching(/\.$/), action });
  const { campaigns } = JSON.parse(await ask('/api/v1/campaigns')) as { campaigns: { campaignId: string; fix: unknown }[] };
  expect(campaigns.find(({ campaignId }) => campaignId === id)?.fix).toEqual(fix);
  expect(JSON.parse((await run('status', id, '--json')).stdout)).toMatchObject({ fix });
  expect((await run('status', id)).stdout).toMatch(/\nTo do {5}\S.*\.\n/);
}

test('without a worker, and without the service, every face names the same cause', async () => {
  const world = await createWorld();
  world.writeCampaign({
    rows: 60,
    yaml: ['pacing: { max_concurrent_calls: 50, batch_size: 5, starts_per_minute: 5 }'],
  });
  expect(await world.run('start', world.campaignPath)).toMatchObject({ code: 0 });
  const ways = { run: (...args: string[]) => world.run(...args), ask: await serve(world) };
  await allSay(ways, world.id, /^no worker is running for this database$/);
  await fixIs(ways, world.id, 'no_worker', null);
  await world.work();
  await until('calls are placed', () => world.sandbox.calls().length > 0);
  await world.sandbox.close();
  await allSay(ways, world.id, /service (at \S+ )?(could|can)not be reached|service could not be reached/i);
  await fixIs(ways, world.id, 'service', null);
});

/** A Monday, 15:00 UTC. */
const monday = Date.UTC(2026, 0, 5, 15);

test('closed hours, a used-up cap or budget, busy lines and a pause are told in one sentence each', async () => {
  // Talks of half a minute of ours: the lines stay busy while six faces are read, however busy the machine is.
  const outcomeMix = { answered: 1, busy: 0, no_answer: 0, voicemail: 0, failed: 0 };
  const world = await createWorld({ speed: 60, epochMs: monday, meanTalkSeconds: 1_800, outcomeMix });
  const start = async (id: string, yaml: string[], lines: string[], hours = 'any') => {
    const path = world.writeCampaign({ id, yaml, lines });
    writeFileSync(path, world.read('campaign.yaml').replace('hours: any', `hours: ${hours}`));
    writeFileSync(path, world.read('campaign.yaml').replace('list.csv', `${id}.csv`));
    writeFileSync(world.path(`${id}.csv`), world.read('list.csv'));
    expect(await world.run('start', path)).toMatchObject({ code: 0 });
  };
  const busy = '+12125550101,Ana';
  const people = Array.from({ length: 60 }, (_, index) => `${numberAt(index)},Row${index}`);
  await world.work();
  const ways = { run: (...args: string[]) => world.run(...args), ask: await serve(world) };
  const [first, capped, spent, closed, full] = ['first', 'capped', 'spent', 'closed', 'full'].map((name) => `${world.id}-${name}`) as [
    string, string, string, string, string,
  ]; // prettier-ignore
  await start(first, ['retry: { max_attempts: 1 }'], [busy]);
  await until('it is done', async () => /"state": ?"completed"/.test((await world.run('status', first, '--json')).stdout));
  await start(capped, ['caps: [{ calls: 1, within: 24h }]'], [busy]);
  await start(closed, [], [`${numberAt(61)},Eve`], '{ sun: 09:00-17:00 }');
  const budget = 'retry: { max_attempts: 1, max_attempts_per_number: 1, reset_after: 24h }';
  await start(spent, [budget, 'ends_at: 2026-02-01T00:00:00Z'], [busy]);
  await allSay(ways, capped, /^a frequency cap is used up$/);
  await fixIs(ways, capped, 'frequency_cap', null);
  await allSay(ways, spent, /^a retry's budget of attempts is used up$/);
  await fixIs(ways, spent, 'attempt_budget', null);
  await allSay(ways, closed, /^outside calling hours$/);
  await fixIs(ways, closed, 'outside_hours', null);
  await start(full, ['pacing: { max_concurrent_calls: 3, batch_size: 3 }'], people);
  await allSay(ways, full, /^calling: 3 of 3 lines$/);
  await fixIs(ways, full, 'capacity', 'limits');
  expect(await world.run('pause', full)).toMatchObject({ code: 0 });
  await allSay(ways, full, /^paused by a person$/);
  await fixIs(ways, full, 'paused', 'resume');
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
    await allSay(ways, 'spring', says);
    await fixIs(ways, 'spring', cause, action);
  }
});

test('while all lines are busy there is one sentence', async () => {
  const world = await createWorld({ speed: 300 });
  const yaml = ['pacing: { max_concurrent_calls: 3, batch_size: 3 }', 'retry: { max_attempts: 1 }'];
  world.writeCampaign({ rows: 40, yaml });
  expect(await world.run('start', world.campaignPath)).toMatchObject({ code: 0 });
  const ask = await serve(world);
  await world.work();
  const said = new Set<string | null>();
  await until(
    'few are left',
    async () => {
      const body = JSON.parse(await ask(`/api/v1/campaigns/${world.id}`)) as {
        done: number;
        waiting: number;
        why: string | null;
      };
      if (body.done > 4 && body.waiting > 6) said.add(body.why);
      return body.waiting <= 6 && body.done > 4;
    },
    { everyMs: 5 },
  );
  for (const why of said) expect(why).toMatch(/^calling: [0-3] of 3 lines$/);
});

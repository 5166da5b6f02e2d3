import { expect, test } from 'vitest';
import { createWorld, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { signIn } from '../support/sign-in.ts';
import { until } from '../support/until.ts';

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

/** What each face says why nobody is called. */
async function facesOf(world: CampaignWorld, ask: (path: string) => Promise<string>): Promise<Record<string, string>> {
  const { id } = world;
  const [detail, list, api, status] = await Promise.all([
    ask(`/campaigns/${id}`),
    ask('/'),
    ask(`/api/v1/campaigns/${id}`),
    world.run('status', id),
  ]);
  return {
    page: plain(/<p class="why">([\s\S]*?)<\/p>/.exec(detail)?.[1]),
    list: plain(/data-label="Why nobody is called"[^>]*>([\s\S]*?)<\/td>/.exec(list)?.[1]),
    api: plain((JSON.parse(api) as { why: string }).why),
    command: plain(/\nWaiting +(.*)/.exec(status.stdout)?.[1]),
  };
}

test('without a worker, and without the service, command, API and page name the same cause', async () => {
  const world = await createWorld();
  world.writeCampaign({
    rows: 60,
    yaml: ['pacing: { max_concurrent_calls: 50, batch_size: 5, starts_per_minute: 5 }'],
  });
  expect(await world.run('start', world.campaignPath)).toMatchObject({ code: 0 });
  const ask = await serve(world);
  const all = async (says: RegExp) =>
    until(`every face says ${says}`, async () => {
      const faces = await facesOf(world, ask);
      return new Set(Object.values(faces)).size === 1 && says.test(faces['api'] ?? '') && faces;
    });
  expect(Object.keys(await all(/^no worker is running for this database$/))).toHaveLength(4);
  await world.work();
  await until('calls are placed', () => world.sandbox.calls().length > 0);
  await world.sandbox.close();
  await all(/service (at \S+ )?(could|can)not be reached|service could not be reached/i);
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
    { everyMs: 5, limitMs: 180_000 },
  );
  expect([...said]).toEqual(['it calls as many people at a time as max_concurrent_calls allows: the next when a call ends']);
});

import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld, numberAt, proven, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { until } from '../support/until.ts';

interface Added {
  status: number;
  retryAfter: string | null;
  rows: { result: string; row: number | null; code: string | null; column: string | null }[];
}

/** Sends cells to the API of the world's database. */
async function serve(world: CampaignWorld) {
  const made = await world.run('token', 'create', 'the web form', '--role', 'operate', '--json');
  const { token } = JSON.parse(made.stdout) as { token: string };
  const server = world.begin('serve', '--port', '0', '--json');
  const ready = await until('the API listens', () => /\{.*"ready".*\}/.exec(server.io.written().stdout)?.[0]);
  const { url } = JSON.parse(ready) as { url: string };
  let keys = 0;
  return async (rows: readonly Record<string, string>[]): Promise<Added> => {
    keys += 1;
    const response = await fetch(`${url}/api/v1/campaigns/${world.id}/rows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': `lead-${keys}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rows: rows.map((cells) => ({ cells })) }),
    });
    const body = (await response.json()) as { rows?: Added['rows'] };
    return { status: response.status, retryAfter: response.headers.get('retry-after'), rows: body.rows ?? [] };
  };
}

const lead = (at: number) => ({ lead: `lead-${at}`, phone: numberAt(at), name: `Guest ${String.fromCodePoint(97 + at)}` });

test('a campaign begins with an empty list, calls whoever is added once, and ends when it is drained', async () => {
  const leads = Array.from({ length: 20 }, (_, at) => at);
  const people = leads.map((at) => ({ number: numberAt(at), mood: 'friendly' as const }));
  const world = await createWorld({ speed: 600, world: { people } });
  const { id } = world;
  const basis = [
    `id: ${id}`,
    'agent_id: agent_reminders',
    'from_phone_number_id: pn_main',
    'list: { file: list.csv, phone: phone, id: lead }',
    'hours: any',
    'law: off',
    'breaker: off',
    'retry: { max_attempts: 1 }',
  ].join('\n');
  writeFileSync(world.path('list.csv'), 'lead,phone,name\n');
  writeFileSync(world.path('wrong.yaml'), `${basis}\nstays_open: {}\n`);
  const refused = { code: 2, stderr: expect.stringMatching(/wrong\.yaml:9.*stays_open.*expires_after/s) };
  expect(await world.run('check', world.path('wrong.yaml'))).toMatchObject(refused);
  const file = world.path('leads.yaml');
  writeFileSync(file, `${basis}\nstays_open: { expires_after: 300d, newest_first: true }\n`);
  writeFileSync(world.path('pilot.yaml'), `${basis}\nstays_open: { expires_after: 2h }\npilot: { rows: 5 }\n`);
  expect(await world.run('start', world.path('pilot.yaml'))).toMatchObject({ code: 2, stderr: expect.stringContaining('has no rows yet') });
  expect(await world.run('check', file)).toMatchObject({ code: 0, stdout: expect.stringContaining('Ready to start with an empty list') });
  expect(await world.run('rehearse', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('has no rows yet') });
  expect(await world.run('start', file)).toMatchObject({ code: 0 });
  const send = await serve(world);

  // Before there is a worker, by several at once, and each twice.
  const clients = [0, 1, 2, 3].map(async (client) => {
    const answers: Added[] = [];
    for (const at of leads.filter((one) => one % 4 === client)) answers.push(await send([lead(at)]), await send([lead(at)]));
    return answers;
  });
  const answers = (await Promise.all(clients)).flat();
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const results = answers.flatMap(({ rows }) => rows.map(({ result }) => result));
  expect([results.filter((result) => result === 'accepted').length, results.filter((result) => result === 'known').length]).toEqual([
    20, 20,
  ]);
  // What cannot be used is told for each row, and the others are taken.
  const mixed = await send([
    { ...lead(3), phone: numberAt(3) },
    { lead: 'lead-x', phone: 'none', name: 'X' },
    { phone: '+12125550188', name: 'Y' },
    { lead: 'lead-y', phone: numberAt(4), name: 'Z' },
    { lead: 'lead-z', fone: '+12125550187' },
  ]);
  expect(mixed.rows.map(({ result, code, column }) => [result, code, column])).toEqual([
    ['known', null, null],
    ['failed', 'invalid_phone', 'phone'],
    ['failed', 'missing_id', 'lead'],
    ['failed', 'duplicate_phone', 'phone'],
    ['failed', 'unknown_column', 'fone'],
  ]);
  expect(world.sandbox.calls()).toEqual([]);

  await world.work();
  const status = async () => JSON.parse((await world.run('status', id, '--json')).stdout) as { state: string; why: string | null };
  await until('all are called, and more are awaited', async () => /waits for rows/.test((await status()).why ?? ''));
  expect(world.sandbox.calls().map(({ to }) => to).sort()).toEqual(people.map(({ number }) => number).sort()); // prettier-ignore

  // One more, at the command line, while it waits.
  const one = ['add', id, '--id', 'lead-20', '--set', `phone=${numberAt(20)}`, '--set', 'name=Zoe'];
  expect(await world.run(...one)).toMatchObject({ code: 0, stdout: expect.stringContaining('Row 21') });
  expect(await world.run(...one)).toMatchObject({ code: 0, stdout: expect.stringContaining('is known already') });
  await until('she is called', () => world.sandbox.calls().some(({ to }) => to === numberAt(20)));
  expect(await world.run('add', id, '--set', 'phone=1')).toMatchObject({ code: 2, stderr: expect.stringContaining('was not added') });
  await until('more are awaited', async () => /waits for rows/.test((await status()).why ?? ''));

  expect(await world.run('drain', id, '--yes')).toMatchObject({ code: 0 });
  await until('its end', async () => (await status()).state === 'completed');
  expect((await send([lead(19)])).status).toBe(409);
  expect(world.sandbox.calls()).toHaveLength(21);
  expect(await world.run('verify', id)).toMatchObject(proven);
});

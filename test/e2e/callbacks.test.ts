import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { hourMs } from '../support/campaign-rules.ts';
import { until } from '../support/until.ts';

/** So late may a promised call be, a minute of real time: under load nothing is sooner for certain. */
const lateMs = 10 * hourMs;
const [ana, ben, chloe] = ['+12125550131', '+13125550132', '+16025550133'];
const people = [
  { number: ana, mood: 'friendly' as const, answers: { wants_callback: true, callback_at: 'in 60 minutes' } },
  { number: ben, mood: 'friendly' as const, answers: { wants_callback: false, callback_at: 'never' } },
  { number: chloe, mood: 'friendly' as const, answers: { wants_callback: true, callback_at: 'when the garden is done' } },
];

interface Listed {
  callbacks: { row: number; state: string; dueAt: string | null; said: string | null; reason: string | null; madeBy: string | null }[];
}

test('a new campaign of init calls people back as they asked, and as an operator says; what is not clear is left to a person', async () => {
  const world = await createWorld({ world: { people } });
  await world.work();
  const folder = world.path('spring-calls');
  expect(await world.run('init', folder, '--with', 'callbacks')).toMatchObject({ code: 0 });
  const file = `${folder}/campaign.yaml`;
  const id = `${world.id}-calls`;
  // At any hour, or the test would have to wait for the morning.
  const text = readFileSync(file, 'utf8')
    .replace(/^holidays: .*\n/m, '')
    .replace(/^hours:\n(?: {2}.*\n)+/m, 'hours: any\nlaw: off\nadvanced: { analysis_wait: 2m }\n');
  expect(text).toContain('late: 30m');
  writeFileSync(
    file,
    text
      .replace('late: 30m', 'late: 10h')
      .replace(/^id: .*$/m, `id: ${id}`)
      .replace(/^caps:\n.*\n/m, ''),
  );
  writeFileSync(
    `${folder}/recipients.csv`,
    `id,first_name,phone,day,time\n1,Ana,${ana},Monday,9 am\n2,Ben,${ben},Monday,10 am\n3,Chloe,${chloe},Monday,11 am\n`,
  );
  expect(await world.run('check', file)).toMatchObject({ code: 0 });
  expect(await world.run('start', file)).toMatchObject({ code: 0 });
  const listed = async () => JSON.parse((await world.run('callback', 'list', id, '--json')).stdout) as Listed;
  await until('two call backs', async () => (await listed()).callbacks.length >= 2);
  expect((await listed()).callbacks.find(({ row }) => row === 3)).toMatchObject({
    state: 'unclear',
    reason: 'not_understood',
    said: expect.stringMatching(/^when the garden is done/i),
    dueAt: null,
  });

  // Ben has said that he needs no call; an operator promises him one.
  await until('a talk with Ben', async () =>
    (await world.run('results', id, '--outcome', 'completed', '-o', '-')).stdout.includes(ben ?? ''),
  );
  const now = Math.ceil(Math.max(...world.sandbox.calls().map(({ acceptedAt }) => acceptedAt)) / 1000) * 1000;
  const at = new Date(now + 6 * hourMs).toISOString();
  expect(await world.run('callback', 'set', id, '--id', '2', '--at', at)).toMatchObject({ code: 0, stdout: expect.stringContaining(at) });
  expect(await world.run('callback', 'set', id, '--id', '9', '--at', at)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no row with the id 9'),
  });
  expect(await world.run('callback', 'set', id, '--row', '2', '--at', '17:00')).toMatchObject({ code: 2 });
  expect(await world.run('callback', 'set', id, '--row', '2', '--at', '2020-01-01 17:00')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('that time has passed'),
  });
  expect((await listed()).callbacks.find(({ row }) => row === 2)).toMatchObject({ state: 'open', madeBy: 'the command line' });
  expect(await world.run('callback', 'cancel', id, '--row', '3', '--id', '3', '--yes')).toMatchObject({ code: 2 });
  expect(await world.run('callback', 'cancel', id, '--id', '3', '--yes')).toMatchObject({ code: 0 });
  expect(await world.run('callback', 'cancel', id, '--row', '3', '--yes')).toMatchObject({ code: 2 });

  expect((await world.run('run', file)).code).toBe(0);
  const callsTo = (number: string | undefined) =>
    world.sandbox.calls().filter(({ to }) => to === number).toSorted((a, b) => a.acceptedAt - b.acceptedAt); // prettier-ignore
  expect(callsTo(chloe)).toHaveLength(1);
  const [, second, ...more] = callsTo(ben);
  expect(more).toEqual([]);
  expect(second?.acceptedAt).toBeGreaterThanOrEqual(Date.parse(at));
  expect(second?.acceptedAt).toBeLessThan(Date.parse(at) + lateMs);
  // Three promises, each an hour after the talk before it; with the fourth wish a person decides.
  const calls = callsTo(ana);
  expect(calls).toHaveLength(4);
  for (const [index, call] of calls.entries()) {
    const before = calls[index - 1]?.endedAt;
    if (before == null) continue;
    expect(call.acceptedAt).toBeGreaterThanOrEqual(before + hourMs - 1_000);
    expect(call.acceptedAt).toBeLessThan(before + hourMs + lateMs);
  }
  const { callbacks } = JSON.parse((await world.run('status', id, '--json')).stdout) as { callbacks: object };
  expect(callbacks).toMatchObject({ open: 0, overdue: 0, unclear: 1, ended: { kept: 4, missed: 0, cancelled: 1 } });
  expect((await world.run('status', id)).stdout).toMatch(/Callbacks +kept 4 · cancelled 1 · unclear 1/);
  expect((await world.run('report', id)).stdout).toContain('Call backs: kept 4 · cancelled 1 · unclear 1');
  expect(JSON.parse((await world.run('report', id, '--json')).stdout)).toMatchObject({ callbacks: { ended: { kept: 4 } } });
  const results = (await world.run('results', id, '-o', '-')).stdout;
  expect(results).toMatch(/callback_at,callback_state/);
  expect(await world.run('callback', 'set', id, '--row', '2', '--at', at)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is completed'),
  });
  expect(await world.run('verify', id)).toMatchObject(proven);
});

import { expect, test } from 'vitest';
import { createWorld, proven, until, type CampaignWorld } from '../interfaces/cli/campaign-world.ts';
import { hiddenFields } from '../interfaces/console/console-world.ts';
import { signIn } from '../support/sign-in.ts';

interface Answer {
  status: number;
  text: string;
}

/** A browser in which somebody has signed in. */
async function openBrowser(world: CampaignWorld, origin: string, name: string) {
  const { stdout } = await world.run('token', 'create', name, '--role', 'operate');
  const cookie = await signIn(origin, stdout.trim());
  const path = `${origin}/campaigns/${world.id}`;
  const ask = async (wish: string, fields?: Record<string, string>): Promise<Answer> => {
    const answer = await fetch(`${path}/${wish}`, {
      ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
      redirect: 'manual',
    });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    /** Opens the form of a button, which is pressed later. */
    open: async (wish: string) => hiddenFields((await ask(wish)).text),
    press: ask,
  };
}

test('two people who press opposite buttons at once are each told the truth, and twice is once', async () => {
  const world = await createWorld();
  await world.run('start', world.writeCampaign({ rows: 3, yaml: ['starts_at: 2099-01-01T00:00:00Z'] }));
  await world.work();
  const server = world.begin('serve', '--port', '0', '--json');
  await until(() => server.io.written().stdout.includes('"ready":true'));
  const { url } = JSON.parse(server.io.written().stdout) as { url: string };
  const [anna, ben] = [await openBrowser(world, url, 'front desk'), await openBrowser(world, url, 'night console')];
  const state = async () => (JSON.parse((await world.run('status', world.id, '--json')).stdout) as { state: string }).state;

  const pauseOfBefore = await anna.open('pause');
  expect((await ben.press('pause', await ben.open('pause'))).status).toBe(303);
  const resume = await ben.open('resume');
  const [paused, resumed] = await Promise.all([anna.press('pause', pauseOfBefore), ben.press('resume', resume)]);
  expect(paused.status).toBe(303);
  // Whoever came later has their way; a resume on sight of an earlier pause does not undo a later one.
  if (resumed.status === 409) expect(resumed.text).toContain('Last changed by');
  else expect(resumed.status).toBe(303);
  expect(['paused', 'scheduled']).toContain(await state());
  if (resumed.status === 409) expect(await state()).toBe('paused');

  const [drain, cancel] = [await anna.open('drain'), await ben.open('cancel')];
  // Each of them presses twice, and the answers to one button are of the same change.
  const ended = await Promise.all([
    anna.press('drain', drain),
    ben.press('cancel', cancel),
    anna.press('drain', drain),
    ben.press('cancel', cancel),
  ]);
  for (const { status, text } of ended) {
    expect([303, 409]).toContain(status);
    if (status === 409) expect(text).toMatch(/role="alert"/);
  }
  await until(async () => ['completed', 'cancelled'].includes(await state()));
  const log = (await world.run('events', world.id, '--json')).stdout.trim().split('\n');
  const acts = log.map((line) => JSON.parse(line) as { type: string; text: string });
  const done = acts.flatMap(({ type, text }) => (type === 'operator.acted' ? [text] : []));
  // Whatever the order: each change that was made stands there once, under the name of who made it.
  expect(done.toSorted()).toEqual([...new Set(done)].toSorted());
  expect(done).toEqual(expect.arrayContaining(['front desk: pause', 'night console: pause']));
  expect(done.some((act) => act === 'front desk: drain' || act === 'night console: cancel')).toBe(true);
  const late = await ben.press('cancel', { ...cancel, key: 'much later' });
  expect(late).toMatchObject({ status: 409, text: expect.stringMatching(/has ended.*Last changed by/s) });
  server.interrupt();
  await server.ended;
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { Rehearse } from '../../../src/operations/control/control.ts';
import { openTestStore } from '../../ledger/test-stores.ts';
import { until } from '../../support/until.ts';
import { ApiWorld } from '../api/api-world.ts';
import { DraftWorld, goodCalls } from './draft-world.ts';
import { rehearsedReport } from './rehearsed-report.ts';

/** The page over a rehearsal that says and answers what the test wants. */
async function openWorld() {
  const world = await DraftWorld.over(await openTestStore('sqlite'));
  const asked: Parameters<Rehearse>[0][] = [];
  let end: (answer: object | string) => void = () => {};
  world.console.api.context.rehearse = (ask) => {
    asked.push(ask);
    return new Promise((resolve) => (end = resolve));
  };
  const begin = async (path: string) => {
    const answer = await world.console.post(`${path}/rehearsal`, {});
    if (answer.status === 303) await until('it has begun', () => asked.length > 0);
    return answer;
  };
  const shows = (path: string, words: string) =>
    until(`the page says ${words}`, async () => (await world.console.get(`${path}/rehearsal`)).text.includes(words));
  return { world, console: world.console, asked, begin, shows, end: (answer: object | string) => end(answer) };
}

test('a draft is rehearsed with its own two files, told of on the way, and its report stays until it is changed', async () => {
  const { world, console, asked, begin, shows, end } = await openWorld();
  const path = await world.prepare();
  expect((await console.get(`${path}/check`)).text).toContain('Rehearse it');
  expect((await console.get(`${path}/rehearsal`)).text).toContain('Nothing has been rehearsed.');
  expect(await begin(path)).toMatchObject({ status: 303, headers: { location: `${path}/rehearsal` } });
  const [ask] = asked;
  if (ask === undefined) throw new Error('nothing was rehearsed');
  expect(ask.rows).toBe(200);
  expect(readFileSync(ask.path, 'utf8')).toContain('id: autumn');
  expect(readFileSync(`${dirname(ask.path)}/list.csv`, 'utf8')).toContain('+12125550131');
  ask.onLine('Tue 15 Jan 12:00 UTC  1 of 3 done <b>');
  await shows(path, '1 of 3 done &lt;b&gt;');
  expect((await console.get(`${path}/check`)).text).toContain('See how far it is');
  expect((await console.get(`${path}/rehearsal`)).text).toContain('Stop the rehearsal');

  end({ ...rehearsedReport, ok: false, faults: ['1 row has no outcome <script>'] });
  await shows(path, 'Not as it should be: 1 row has no outcome &lt;script&gt;.');
  expect(existsSync(dirname(ask.path))).toBe(false);
  const { text } = await console.get(`${path}/rehearsal`);
  expect(text).not.toContain('has been changed since');
  expect(text).not.toContain('style=');
  const check = (await console.get(`${path}/check`)).text;
  expect(check).toMatch(/Not as it should be\.\s+<a href="[^"]+\/rehearsal">See the rehearsal<\/a>/);
  expect(check).toContain('<button>Start autumn');
  // Another process has it from the database, and so has this one when it was started anew.
  const other = await ApiWorld.over(world.console.api.store);
  const cookie = await world.console.api.cookie('operate');
  const found = await other.app.inject({ url: `${path}/rehearsal`, headers: { cookie } });
  expect(found.body).toContain('Not as it should be: 1 row has no outcome');
  expect((await console.post(`${path}/calls`, { ...goodCalls, 'retry.max_attempts': '3' })).status).toBe(303);
  expect((await console.get(`${path}/rehearsal`)).text).toContain('The draft has been changed since.');
});

test('one rehearsal runs at a time, pressed twice it is one, and it can be stopped', async () => {
  const { world, console, asked, begin, shows, end } = await openWorld();
  const first = await world.prepare();
  const second = await world.prepare({ calls: { ...goodCalls, id: 'winter' } });
  await begin(first);
  expect((await begin(first)).status).toBe(303);
  expect(await begin(second)).toMatchObject({ status: 409, text: expect.stringContaining('Another draft is being') });
  expect(asked).toHaveLength(1);
  expect((await console.post(`${first}/rehearsal`, { stop: 'yes' })).status).toBe(303);
  expect(asked[0]?.signal.aborted).toBe(true);
  const folder = dirname(asked[0]?.path ?? '');
  end(`list ${folder}/list.csv: Stopped before the end of the campaign.`);
  await shows(first, 'list list.csv: Stopped before the end of the campaign.');
  expect((await begin(second)).status).toBe(303);
});

test('who may only read, or works on another draft, rehearses nothing; without the program none is offered', async () => {
  const { world, console, asked } = await openWorld();
  const path = await world.prepare();
  expect((await console.post(`${path}/rehearsal`, {}, 'read')).status).toBe(403);
  delete world.console.api.context.rehearse;
  expect((await console.get(`${path}/check`)).text).not.toContain('Rehearse it');
  expect((await console.post(`${path}/rehearsal`, {})).status).toBe(409);
  expect(asked).toEqual([]);
});

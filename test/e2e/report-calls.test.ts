import { expect, test } from 'vitest';
import { groupBy } from '../../src/rules/collections.ts';
import { createWorld, numberAt, proven } from '../interfaces/cli/campaign-world.ts';
import { until } from '../support/until.ts';

interface Told {
  calls: { calls: number };
  attempt: { value: number; calls: number }[];
  disposition: { value: string; calls: number }[];
  caller: { calls: number }[];
  funnel: { called: number; notCalled: Record<string, number> };
  course: { points: { starts: number }[] };
}

/** The service refuses these before it queues anything, and with them whatever else is in their request. */
const refused = ['+12125550120', '+13125550120', '+14155550120'];

test('what a report calls a call is one of the service, and its table of attempts counts them person by person', async () => {
  const world = await createWorld();
  const people = Array.from({ length: 24 }, (_, index) => numberAt(index));
  const lines = [...people.slice(0, 8), ...refused, ...people.slice(8)].map((number, index) => `${number},Row${index}`);
  const retry = 'retry: { max_attempts: 3, busy: 2m, no_answer: 2m, unreached: 2m, voicemail: 2m, failed: 2m }';
  world.writeCampaign({ lines, yaml: ['pacing: { max_concurrent_calls: 27, batch_size: 9 }', retry] });
  expect(await world.run('start', world.campaignPath)).toMatchObject({ code: 0 });
  await world.work();
  const status = async () => JSON.parse((await world.run('status', world.id, '--json')).stdout) as { state: string };
  await until('it has ended', async () => (await status()).state === 'completed', { everyMs: 500 });

  const calls = world.sandbox.calls();
  const perPerson = groupBy(calls, ({ to }) => to);
  const nth = [...perPerson.values()].flatMap((own) => own.map((_, index) => index + 1));
  const placed = [1, 2, 3].map((value) => ({ value, calls: nth.filter((each) => each === value).length }));
  // A world that can break it: people were given back and called again, and some are called more than once.
  expect((await world.run('events', world.id, '--json')).stdout).toMatch(/"attempt\.released".*"attemptId":"[^"]*\/[4-9]"/s);
  expect(placed.every((line) => line.calls > 0)).toBe(true);

  const report = JSON.parse((await world.run('report', world.id, '--json')).stdout) as Told;
  expect(report.calls.calls).toBe(calls.length);
  expect(report.attempt).toMatchObject(placed);
  expect(report.attempt).toHaveLength(placed.length);
  const sum = (each: { calls: number }[]) => each.reduce((total, line) => total + line.calls, 0);
  expect(sum(report.disposition)).toBe(calls.length);
  expect(sum(report.caller)).toBe(calls.length);
  expect(report.funnel).toMatchObject({ called: people.length, notCalled: { undialable: refused.length } });
  expect(report.course.points.reduce((total, { starts }) => total + starts, 0)).toBe(calls.length);
  const told = JSON.parse((await world.run('status', world.id, '--json')).stdout) as { callers: { calls: number }[] };
  expect(sum(told.callers)).toBe(calls.length);
  const [, said = ''] = /\nCalls +(.*)/.exec((await world.run('status', world.id)).stdout) ?? [];
  const counted = said.split(' · ').map((part) => Number(part.split(' ').at(-1)));
  expect(counted.reduce((total, count) => total + count, 0)).toBe(calls.length);
  expect(await world.run('verify', world.id)).toMatchObject(proven);
});

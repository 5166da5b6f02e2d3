import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FictionalNumbers } from '../../src/list/fictional-numbers.ts';
import { readEvents } from '../../src/ledger/events.ts';
import { openStore } from '../../src/ledger/open-ledger.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { createWorld, proven } from '../interfaces/cli/campaign-world.ts';
import { isFull, seedFactor } from '../support/depth.ts';
import { killedCommand, lostRequests } from '../support/killed-command.ts';
import { until } from '../support/until.ts';

const rows = isFull ? (seedFactor > 1 ? 10_000 : 3_000) : 1_500;
/** Four times, over a sample of 400, with `SEED_FACTOR=2`. */
const [sample, kills] = isFull && seedFactor > 1 ? [400, 4] : [100, 2];

interface Status {
  state: string;
  pilot: { sample: number; state: string; rows: number; called: number };
}

test(`of ${rows} rows the sample alone is called before somebody decides, though workers are killed`, async () => {
  const random = new Random('pilot under kills');
  const world = await createWorld({ seed: 37, concurrency: 100, faults: lostRequests });
  const { id } = world;
  const spare = new FictionalNumbers('pilot');
  const people = Array.from({ length: rows }, (_, at) => ({ number: spare.take('+12125550121') ?? '', name: `Guest ${at % 700}` }));
  writeFileSync(world.path('list.csv'), `phone,name\n${people.map(({ number, name }) => `${number},${name}`).join('\n')}\n`);
  writeFileSync(
    world.path('pilot.yaml'),
    [
      `id: ${id}`,
      'agent_id: agent_reminders',
      'from_phone_number_id: pn_main',
      'list: { file: list.csv, phone: phone }',
      "first_message: 'Hello {{ name }}, a reminder.'",
      'hours: any',
      'law: off',
      'breaker: off',
      'retry: { max_attempts: 1 }',
      'pacing: { max_concurrent_calls: 40 }',
      `pilot: { rows: ${sample} }`,
      '',
    ].join('\n'),
  );
  const started = await world.run('start', world.path('pilot.yaml'));
  expect(started, started.stderr).toMatchObject({ code: 0 });
  const called = () => [...new Set(world.sandbox.calls().map(({ to }) => to))];
  const status = async () => JSON.parse((await world.run('status', id, '--json')).stdout) as Status;
  const drawn = async () => {
    const store = await openStore({ sqlitePath: world.env['CARILLON_DB'] ?? '' }, 'as-is');
    const events = await readEvents(store.db, id, { afterSeq: 0, limit: 10, types: ['pilot.drawn'] });
    await store.close();
    return events.map(({ data }) => (data as { rows: readonly number[] }).rows);
  };

  const worker = killedCommand(world.env, ['worker', '--json'], '"ready":true');
  await worker.begin();
  for (let nth = 1; nth <= kills; nth += 1) {
    const enough = Math.floor(((nth - random.next()) * sample) / (kills + 1));
    await until(`${enough} calls`, () => world.sandbox.calls().length >= enough);
    await worker.killAndBegin();
  }
  await until('the end of the pilot', async () => (await status()).state === 'paused');
  expect((await status()).pilot).toMatchObject({ sample: 1, state: 'asked', rows: sample });
  const [numbers, ...others] = await drawn();
  expect(others).toEqual([]);
  const chosen = new Set(numbers?.map((row) => people[row - 1]?.number));
  expect(chosen.size).toBe(sample);
  const first = called();
  expect(first.filter((number) => !chosen.has(number))).toEqual([]);
  // A request that died with its worker may have reached nobody: its people are a person's to decide, and are not called again.
  const left = world.path('unresolved.jsonl');
  expect(await world.run('results', id, '--outcome', 'unresolved', '--format', 'jsonl', '--output', left)).toMatchObject({ code: 0 });
  const unresolved = readFileSync(left, 'utf8').trim().split('\n').filter(Boolean).map((line) => JSON.parse(line) as { cells: { phone: string } }); // prettier-ignore
  const doubtful = unresolved.map(({ cells }) => cells.phone);
  expect([...chosen].filter((number) => !first.includes(number ?? '')).filter((number) => !doubtful.includes(number ?? ''))).toEqual([]);
  expect(first.length).toBeGreaterThan(sample / 2);

  expect(await world.run('resume', id)).toMatchObject({ code: 0 });
  await until('others are called', () => called().length > first.length + 40);
  await worker.killAndBegin();
  await until('more are called', () => called().length > first.length + 200);
  expect(await world.run('cancel', id, '--yes')).toMatchObject({ code: 0 });
  await until('its end', async () => (await status()).state === 'cancelled');
  const rang = world.sandbox.calls().flatMap(({ to, result }) => (result === 'failed' ? [] : [to]));
  expect(rang.filter((to, at) => rang.indexOf(to) !== at)).toEqual([]);
  const verified = await world.run('verify', id);
  expect(verified, verified.stdout).toMatchObject(proven);
});

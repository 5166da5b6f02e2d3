import { spawnSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';
import type * as BatchStates from '../../src/ledger/batch-state.ts';
import { databases, help, parseFlags, runChaos } from './command.ts';
import { designOf } from './design.ts';
import { emptyWeaves, runCase } from './run-weaves.ts';
import { scenarios, type Scenario } from './scenarios.ts';
import { mostLines } from './story.ts';
import { openPlace } from './places.ts';

/** The guard of "never call twice", disabled: every process that asks hears that it was itself that moved the batch. */
vi.mock('../../src/ledger/batch-state.ts', (): typeof BatchStates => ({
  compareAndSetBatch: async (tx, batchId, { to }) => {
    await tx.updateTable('batches').set({ state: to }).where('batch_id', '=', batchId).execute();
    return true;
  },
}));

test('without the compare-and-set, a second worker at the request of a submit is caught dialling twice, and told in few lines', async () => {
  const place = await openPlace('sqlite');
  const cases = await designOf(place, scenarios[0] as Scenario);
  const weaves = emptyWeaves();
  for (const each of cases) {
    if (each.kind !== 'beside' || each.intervention.beside?.act !== 'submit') continue;
    await runCase(place, each, weaves);
    if (weaves.broken.length > 0) break;
  }
  const [story = ''] = weaves.broken;
  expect(story).toContain('two calls at once');
  expect(story).toContain('submit (beside)');
  expect(story.split('\n').length).toBeLessThanOrEqual(mostLines);
});

function run(...args: string[]) {
  const [told, asked] = [[] as string[], parseFlags(args)];
  if (asked === null) throw new Error('it asks for help');
  const stopping = new AbortController();
  const tell = (line: string): void => {
    told.push(line);
    stopping.abort();
  };
  return { told, ended: runChaos(asked, { tell, progress: () => {}, stop: stopping.signal }) };
}

test('what is broken is told at once, and a run that is broken off prints what it had', async () => {
  const { told, ended } = run('--seeds', '400', '--database', 'sqlite');
  const { text, isBroken } = await ended;
  expect(isBroken).toBe(true);
  expect(told).toHaveLength(1);
  expect(told[0]?.split('\n').length).toBeLessThanOrEqual(mostLines);
  expect(text).toMatch(/^sqlite, \d+ s, broken off after \d+ of 400: \d+ campaigns .* 1 broken/);
  expect(text).toMatch(/^\d+ of \d+ cells reached/m);
});

test('the command ends with 2 on wrong usage', () => {
  const args = ['--import', 'tsx', 'test/chaos/main.ts', '--seed', '42'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: '--seed goes with --seeds. See npm run chaos -- --help.\n' });
});

test.each([
  { args: ['--api', 'telephone'], says: '--api is "telephone"; it must be one of contract, batch-calling, campaigns.' },
  { args: ['--database', 'oracle'], says: '--database is "oracle"; it must be one of sqlite, postgres.' },
  { args: ['--seeds', 'many'], says: '--seeds takes a whole number from 1, not "many".' },
  { args: ['--per-cell', '0'], says: '--per-cell takes a whole number from 1, not "0".' },
  { args: ['--seeds', '3', '--every', '5'], says: 'are for the design: leave --seeds out' },
  { args: ['--every', '5', '--per-cell', '1'], says: '--every and --per-cell both say which cases are run' },
  { args: ['--part', '3/2'], says: '--part is a part such as 1/2, not "3/2".' },
  { args: ['--scenario', 'stormy'], says: 'There is no scenario "stormy".' },
  { args: ['--sedes', '3'], says: "Unknown option '--sedes'." },
])('chaos names what is wrong with $args', ({ args, says }) => {
  expect(() => parseFlags(args)).toThrow(says);
});

test('chaos runs the whole design on both databases unless it is told otherwise', () => {
  expect(parseFlags([])).toMatchObject({ api: 'contract', databases, design: { scenarios, choice: { every: 1 } }, seeds: [] });
  expect(parseFlags(['--seeds', '2', '--seed', '42', '--database', 'postgres'])).toMatchObject({
    databases: ['postgres'],
    design: null,
    seeds: [42, 43],
  });
  expect(parseFlags(['--api', 'campaigns', '--scenario', 'waiting, and pause', '--per-cell', '2'])).toMatchObject({
    api: 'campaigns',
    design: { scenarios: [{ name: 'waiting, and pause' }], choice: { perCell: 2 } },
  });
  expect([0, 1, 2, 3].filter(parseFlags(['--part', '2/2'])?.isOurs ?? (() => false))).toEqual([1, 3]);
});

test('every example in the help of chaos is one that it takes', () => {
  const examples = [...(help.split('Examples:')[1] ?? '').matchAll(/npm run chaos -- (.*?)(?: {2}|$)/gm)];
  expect(examples.length).toBeGreaterThan(3);
  for (const [, flags = ''] of examples)
    expect(parseFlags([...flags.matchAll(/"(.*?)"|\S+/g)].map(([all, quoted]) => quoted ?? all))).not.toBeNull();
});

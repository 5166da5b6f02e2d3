import { campaignWorkflowId } from '../../src/rules/ids.ts';
import { notePlayed } from '../support/played.ts';
import { until } from '../support/until.ts';
import { drawDisturbances, isOfNetwork, strike, type Disturbance } from './disturbances.ts';
import { ClerkWork } from './clerk-work.ts';
import type { Deed, Evidence, Row } from '../world/judge/evidence.ts';
import { judge } from '../world/judge/judge.ts';
import { cellsOf, drawList, type Listed } from '../world/population.ts';
import { scanWorld } from './scan.ts';
import type { ServerPrograms } from './server-programs.ts';
import { batchSize, budget, campaignId, withWorld, type ResultLine, type World } from './world.ts';

/** Longest standstill of dialling after a kill, on an otherwise idle machine. */
const standstillLimitMs = 60_000;
/** The same after an unannounced network fault: a connection silent for a minute is given up. */
const silenceLimitMs = 120_000;
/** Beside the kills of each process. */
const moreDisturbances = 3;
/** Batches after a kill before dialling counts as going on: one may have been in flight. */
const batchesOfProof = 2;
const endLimitMs = 600_000;

interface ShapeEnd {
  story: string[];
  broken: string[];
}

/** Requests that the service has taken since, by its own real clock. */
async function takenSince(world: World, since: number): Promise<number> {
  const calls = await world.calls(200).catch(() => []);
  return new Set(calls.filter(({ realAcceptedAt }) => realAcceptedAt > since).map(({ requestId }) => requestId)).size;
}

async function untilTaken(world: World, since: number, wanted: { batches: number; limitMs: number }): Promise<void> {
  const { batches } = wanted;
  const what = `the service has taken ${batches} more batches`;
  const limits = { limitMs: since + wanted.limitMs - Date.now(), everyMs: 100 };
  await until(what, async () => (await takenSince(world, since)) >= batches, limits);
}

async function untilEnd(world: World): Promise<void> {
  const handle = world.client.workflow.getHandle(campaignWorkflowId(campaignId, 1));
  const isOver = async () => (await handle.describe().catch(() => null))?.status.name === 'COMPLETED';
  await until('the campaign ends', isOver, { limitMs: endLimitMs, everyMs: 500 });
}

async function eventText(world: World, story: readonly string[], error: Error): Promise<never> {
  const { stdout, stderr } = await world.carillon('status', campaignId);
  throw new Error(`${error.message}\n${story.join('\n')}\n${stdout}${stderr}`, { cause: error });
}

const mustBe = { callable: {}, bad: { mustBe: 'rejected' }, barred: { mustBe: 'suppressed' } };
const actedAs = { suppress: 'suppressed', withdraw: 'cancelled' };

/** The list with the operators' acts on its rows, and the results file. */
function rowsOfList(people: readonly Listed[], results: readonly ResultLine[], deeds: readonly Deed[]): Pick<Evidence, 'rows' | 'finals'> {
  const rows = people.map((person, at): Row => {
    const deed = deeds.find(({ number, end }) => number === person.phone && end !== 'refused');
    const acted = deed === undefined ? {} : { acted: actedAs[deed.act] };
    return { campaignId, row: at + 1, numbers: [person.phone], cells: cellsOf(person), ...mustBe[person.kind], ...acted };
  });
  const finals = results.map(({ row, cells, outcome }) => {
    const ids = { campaign_id: campaignId, row_number: row, recipient_id: `${campaignId}/${row}`, external_id: null };
    return { ...ids, e164: cells['phone'] ?? null, state: 'done', outcome, reason: null, cells };
  });
  return { rows, finals };
}

/** Plays a campaign in the production shape with seeded kills; verifies calls, list and results. */
export async function runShape(input: {
  seed: number;
  rows: number;
  programs: ServerPrograms;
  /** Longest standstill of dialling after a disturbance, in real ms; default: one minute, two after a network fault. */
  limitMs?: number;
  /** Default: as the seed draws them. */
  disturbances?: readonly Disturbance[];
}): Promise<ShapeEnd> {
  const { disturbances = drawDisturbances(input.seed, moreDisturbances) } = input;
  const people = drawList(input.seed, input.rows);
  return withWorld({ ...input, people }, async (world) => {
    const begun = Date.now();
    const story: string[] = [];
    const tell = (last: string) => (error: Error) => eventText(world, [...story, last], error);
    const clerks = new ClerkWork(world.office, { campaignId, seed: input.seed, people });
    const acts: Promise<void>[] = [];
    let gotOver = begun;
    for (const [nth, disturbance] of disturbances.entries()) {
      const limitMs = input.limitMs ?? (isOfNetwork(disturbance.kind) ? silenceLimitMs : standstillLimitMs);
      await untilTaken(world, gotOver, { batches: disturbance.after, limitMs }).catch(tell(`before: ${disturbance.kind}`));
      // Every other time their serving process is killed in the middle.
      const quietly = clerks.actQuietly({ kills: nth % 2 === 0 });
      acts.push(nth === 0 ? quietly.then(() => clerks.makeSmaller(batchSize - 1)) : quietly);
      for (const act of acts) act.catch(() => {});
      const { what, at, afterwards } = await strike(world, disturbance);
      await untilTaken(world, at, { batches: batchesOfProof, limitMs }).catch(tell(`after: ${disturbance.kind}`));
      gotOver = Date.now();
      const seconds = ((gotOver - at) / 1000).toFixed(1);
      story.push(`${Math.round((at - begun) / 1000)} s ${disturbance.kind} (${what}): ${seconds} s`);
      await afterwards();
      if (nth !== 1) continue;
      await Promise.all(acts);
      await clerks.pressOpposite().catch(tell('two people press opposite buttons'));
      gotOver = Date.now();
    }
    await Promise.all(acts);
    await untilEnd(world).catch(tell('at the end'));
    const calls = await world.calls();
    notePlayed({ campaigns: 1, calls: calls.length });
    const results = await world.results();
    const { deeds, pauses, smaller, counts } = clerks;
    const found = judge({
      calls,
      ...rowsOfList(people, results, deeds),
      endings: 'by calls alone',
      faults: [],
      seen: clerks.broken,
      denials: 0,
      budgets: [{ campaignId, ...budget, more: 0 }],
      // One request may have been in flight.
      closed: pauses.map(({ from, to: until }) => ({ why: 'dialled while paused', by: 'real', from, until, spare: 1 })),
      sizes: smaller,
      doubt: { by: 'number', most: batchSize * disturbances.length },
      deeds,
      changes: { logged: await world.countChanges(), ...counts },
    });
    const broken = found.map(({ rule, to, what }) => `${rule}${to === null ? '' : ` ${to}`}: ${what}`);
    const verified = await world.carillon('verify', campaignId);
    if (verified.code !== 0) broken.push(`carillon verify: ${verified.stdout}${verified.stderr}`);
    const status = JSON.parse(await world.must('status', campaignId, '--json')) as { state: string };
    if (status.state !== 'completed') broken.push(`The campaign is ${status.state}: it needs a hand`);
    const scan = await scanWorld(world, people);
    broken.push(...scan);
    const unresolved = results.filter(({ outcome }) => outcome === 'unresolved').length;
    story.push(`${people.length} rows, ${calls.length} calls, ${unresolved} rows left to an operator; changes: ${JSON.stringify(counts)}`);
    return { story, broken };
  });
}

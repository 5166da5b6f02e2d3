import { fetch } from 'undici';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { keyHeaders } from '../../src/rules/service-api.ts';
import type { RunningSandbox } from '../../src/sandbox/start.ts';
import { Drive } from './drive.ts';
import type { Outcome } from './outcome.ts';
import type { World } from './inputs/draw-world.ts';
import { countGivenUp, gatherWorld, placedCalls, type Ledger } from './gather.ts';
import { judge, type Breach } from './judge/judge.ts';
import { judgePairs } from './judge/never-twice.ts';
import { isCutLine, wordingOf } from '../../src/rules/correlation/line-words.ts';

export interface Figures {
  seeds: number;
  rows: number;
  calls: number;
  retries: number;
  unresolved: number;
  /** Rows that nobody was reached for although attempts were left. */
  givenUp: number;
  /** Most presses of the operator in one campaign run. */
  presses: number;
  /** Broken promises, by rule. */
  breaches: Record<string, number>;
  brokenSeeds: number;
  /** Second calls that a single straggler among the records led to. */
  stragglers: number;
  /** By the words that were spoken before the opening line was cut off. */
  cut: Record<number, CutLines>;
  ticks: number;
  realMs: number;
}

export interface WorldRun {
  figures: Map<string, Figures>;
  /** A text for each seed that broke a promise: the world and the story of each person. */
  broken: string[];
}

export async function runWorlds(worlds: AsyncIterable<World> | Iterable<World>): Promise<WorldRun> {
  const run: WorldRun = { figures: new Map(), broken: [] };
  for await (const world of worlds) await runWorld(world, run);
  return run;
}

async function runWorld(world: World, { figures, broken }: WorldRun): Promise<void> {
  const records = new Map<string, string>();
  const begunAt = performance.now();
  const atEnd = async (sandbox: RunningSandbox): Promise<void> => {
    // Only what a story needs is read.
    const calls = sandbox.calls();
    const pairs = [...judgePairs({ calls: placedCalls(calls), rows: [], finals: [], faults: [] })];
    for (const call of calls)
      if (pairs.some(({ to }) => to === call.to)) records.set(call.callId, await readRecord(sandbox, call, keyHeaders[world.api]));
  };
  const outcome = await new Drive({ ...world.mix, atEnd }).run();
  const { calls } = outcome;
  const breaches = judge(gatherWorld(world, outcome));
  const promised = breaches.filter(({ straggler }) => straggler !== true);
  if (promised.length > 0) broken.push(tell(world, promised, calls, records));
  const known = figures.get(world.name);
  const now = figuresOf(world, outcome, breaches, performance.now() - begunAt);
  figures.set(world.name, known === undefined ? now : add(known, now));
}

function figuresOf(world: World, { ledger, calls, ticks, resumes }: Outcome, breaches: Breach[], realMs: number): Figures {
  const ours = calls.filter(({ batchId }) => batchId !== null);
  const promised = breaches.filter(({ straggler }) => straggler !== true);
  const byRule: Record<string, number> = {};
  for (const { rule } of promised) byRule[rule] = (byRule[rule] ?? 0) + 1;
  return {
    seeds: 1,
    rows: world.mix.campaigns.reduce((sum, { rows }) => sum + rows.length, 0),
    calls: ours.length,
    retries: ours.filter(({ nth }) => nth > 1).length,
    unresolved: ledger.recipients.filter(({ outcome }) => outcome === 'unresolved').length,
    givenUp: countGivenUp(world, calls),
    presses: resumes,
    breaches: byRule,
    brokenSeeds: promised.length > 0 ? 1 : 0,
    stragglers: breaches.length - promised.length,
    cut: countCutLines(ledger),
    ticks,
    realMs,
  };
}

function add(a: Figures, b: Figures): Figures {
  const sum = Object.fromEntries(
    Object.entries(a).map(([name, value]) => [name, typeof value === 'number' ? value + b[name as 'rows'] : value]),
  ) as unknown as Figures;
  const breaches = { ...a.breaches };
  for (const [rule, count] of Object.entries(b.breaches)) breaches[rule] = (breaches[rule] ?? 0) + count;
  return { ...sum, breaches, cut: addCutLines(a.cut, b.cut), presses: Math.max(a.presses, b.presses) };
}

export function addUp(figures: Iterable<Figures>): Figures | undefined {
  return [...figures].reduce<Figures | undefined>((sum, each) => (sum === undefined ? each : add(sum, each)), undefined);
}

async function readRecord(sandbox: RunningSandbox, { conversationId }: CallTruth, keyHeader: string): Promise<string> {
  if (conversationId === null) return 'no record';
  const address = `${sandbox.url}/v1/convai/conversations/${conversationId}`;
  const record = (await (await fetch(address, { headers: { [keyHeader]: 'sk_sandbox_ok' } })).json()) as {
    transcript?: { speaker: string; text: string }[];
    metadata?: { start_time?: string; duration?: number; phone_call?: { external_number?: string } };
  };
  const { transcript, metadata = {} } = record;
  const line = transcript?.find(({ speaker }) => speaker === 'agent')?.text;
  const words = transcript === undefined ? 'no transcript' : (line ?? `no line, ${transcript.length} turns`);
  return `${metadata.start_time?.slice(11, 19)}, ${metadata.duration} s, ${metadata.phone_call?.external_number ?? 'no number'}, "${words}"`;
}

/** What befell whom, and what the records showed of it. */
function tell(world: World, breaches: Breach[], calls: readonly CallTruth[], records: Map<string, string>): string {
  const { dialect, world: setting, listOrder } = world.mix.sandbox;
  const at = (instant: number | null): string => (instant === null ? '-' : new Date(instant).toISOString().slice(11, 19));
  const lines = [`world ${world.name}, seed ${world.seed}, ${world.api}: ${dialect}, ${listOrder}, ${JSON.stringify(setting?.records)}`];
  lines.push(...breaches.filter(({ to }) => to === null).map(({ rule, what }) => `  ${rule}: ${what}`));
  for (const to of new Set(breaches.flatMap((breach) => breach.to ?? []))) {
    lines.push(`  ${world.people.find(({ e164 }) => e164 === to)?.name} ${to}`);
    for (const { rule, what } of breaches.filter((breach) => breach.to === to)) lines.push(`    ${rule}: ${what}`);
    for (const call of calls.filter((each) => each.to === to)) {
      const who = call.batchId === null ? 'a call of somebody else' : `dial ${call.nth} (${call.requestId})`;
      const end = `${call.result}${call.optedOut ? ', asked never to be called again' : ''}`;
      lines.push(
        `    ${who}: accepted ${at(call.acceptedAt)}, rang ${at(call.dialedAt)}, over ${at(call.endedAt)}, ${end}; listed ${at(call.listedAt)}: ${records.get(call.callId) ?? 'not read'}`,
      );
    }
  }
  return lines.join('\n');
}

export function formatFigures(figures: Map<string, Figures>): string {
  const head = ['world', 'seeds', 'broken', 'rows', 'calls', 'retries', 'unresolved', 'given up', 'presses', 'stragglers', 'ms/seed'];
  const body = [...figures].map(([name, f]) => [
    name,
    ...[f.seeds, f.brokenSeeds, f.rows, f.calls, f.retries].map(String),
    `${((100 * f.unresolved) / f.rows).toFixed(1)} %`,
    `${((100 * f.givenUp) / f.rows).toFixed(1)} %`,
    ...[f.presses, f.stragglers, Math.round(f.realMs / f.seeds)].map(String),
    Object.entries(f.breaches)
      .map(([rule, count]) => `${count} ${rule}`)
      .join(', '),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ');
  return [head, ...body].map(line).join('\n');
}

/** Records whose opening line was cut off after so many words, and rows left in doubt that one of them may belong to. */
interface CutLines {
  records: number;
  rows: number;
}

/** By the number of words that were spoken. A row in doubt about several records counts at each of them. */
function countCutLines({ conversations, attempts, recipients }: Ledger): Record<number, CutLines> {
  const ours = [...new Set(attempts.flatMap(({ opening_line: line }) => wordingOf(line) ?? []))];
  const wordsOf = new Map<string, number>();
  for (const { conversation_id: id, facts } of conversations) {
    const shown = wordingOf((JSON.parse(facts) as { openingLine: string | null }).openingLine);
    if (shown !== null && ours.some((own) => isCutLine(shown, own))) wordsOf.set(id, shown.words.length);
  }
  const cut: Record<number, CutLines> = {};
  const at = (words: number) => (cut[words] ??= { records: 0, rows: 0 });
  for (const words of wordsOf.values()) at(words).records += 1;
  for (const { recipient_id: id, outcome } of recipients) {
    if (outcome !== 'unresolved') continue;
    const candidates = attempts
      .filter((attempt) => attempt.recipient_id === id)
      .flatMap((attempt) => JSON.parse(attempt.candidates ?? '[]') as string[]);
    for (const words of new Set(candidates.flatMap((each) => wordsOf.get(each) ?? []))) at(words).rows += 1;
  }
  return cut;
}

function addCutLines(a: Record<number, CutLines>, b: Record<number, CutLines>): Record<number, CutLines> {
  const sum = { ...a };
  for (const [words, { records, rows }] of Object.entries(b)) {
    const known = sum[Number(words)] ?? { records: 0, rows: 0 };
    sum[Number(words)] = { records: known.records + records, rows: known.rows + rows };
  }
  return sum;
}

/** A table of the lines that were cut off, as text; the rows in doubt also as a part of all rows. */
export function formatCutLines(cut: Record<number, CutLines>, rows: number): string {
  const body = Object.entries(cut).map(([words, each]) => [
    words.padStart(11),
    String(each.records).padStart(7),
    `${each.rows} (${((100 * each.rows) / rows).toFixed(1)} %)`.padStart(15),
  ]);
  return [['words spoken', 'records', '  rows in doubt'], ...body].map((row) => row.join('  ')).join('\n');
}

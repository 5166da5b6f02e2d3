import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { isCutLine, wordingOf } from '../../src/rules/correlation/line-words.ts';
import { Drive } from './drive.ts';
import { countGivenUp, gatherWorld, type Ledger } from './gather.ts';
import type { World } from './inputs/draw-world.ts';
import { judge, type Breach, type Rule } from './judge/judge.ts';

export interface Figures {
  rows: number;
  retries: number;
  unresolved: number;
  /** Rows that nobody was reached for although attempts were left. */
  givenUp: number;
  /** Presses of the operator. */
  presses: number;
  /** Records cut off after the name was spoken, and rows in doubt that may own one. */
  cut: { records: number; rows: number };
}

/** `story`: the promises that it broke, with what befell whom. */
export async function runWorld(world: World): Promise<{ figures: Figures; broken: Rule[]; story: string }> {
  const outcome = await new Drive(world.mix).run();
  // What a single straggler among the records led to is a stated remainder.
  const breaches = judge(gatherWorld(world, outcome)).filter(({ straggler }) => straggler !== true);
  const { calls, ledger, resumes } = outcome;
  const figures = {
    rows: world.mix.campaigns.reduce((sum, { rows }) => sum + rows.length, 0),
    retries: calls.filter(({ batchId, nth }) => batchId !== null && nth > 1).length,
    unresolved: ledger.recipients.filter((row) => row.outcome === 'unresolved').length,
    givenUp: countGivenUp(world, calls),
    presses: resumes,
    cut: countCutLines(ledger),
  };
  const broken = [...new Set(breaches.map(({ rule }) => rule))];
  return { figures, broken, story: breaches.length === 0 ? '' : tell(world, breaches, calls) };
}

function tell(world: World, breaches: readonly Breach[], calls: readonly CallTruth[]): string {
  const { dialect, world: setting, listOrder } = world.mix.sandbox;
  const at = (instant: number | null): string => (instant === null ? '-' : new Date(instant).toISOString().slice(11, 19));
  const lines = [`world ${world.name}, seed ${world.seed}, ${world.api}: ${dialect}, ${listOrder}, ${JSON.stringify(setting?.records)}`];
  for (const to of new Set(breaches.map((breach) => breach.to))) {
    if (to !== null) lines.push(`  ${world.people.find(({ e164 }) => e164 === to)?.name} ${to}`);
    for (const { rule, what } of breaches.filter((breach) => breach.to === to)) lines.push(`    ${rule}: ${what}`);
    for (const call of calls.filter((each) => each.to === to)) {
      const who = call.batchId === null ? 'a call of somebody else' : `dial ${call.nth} (${call.requestId})`;
      const end = `${call.result}${call.optedOut ? ', asked never to be called again' : ''}`;
      lines.push(
        `    ${who}: accepted ${at(call.acceptedAt)}, rang ${at(call.dialedAt)}, over ${at(call.endedAt)}, ${end}; listed ${at(call.listedAt)}`,
      );
    }
  }
  return lines.join('\n');
}

/** A row in doubt about several records counts once for each number of words that they hold. */
function countCutLines({ conversations, attempts, recipients }: Ledger): Figures['cut'] {
  const ours = [...new Set(attempts.flatMap(({ opening_line: line }) => wordingOf(line) ?? []))];
  const wordsOf = new Map<string, number>();
  for (const { conversation_id: id, facts } of conversations) {
    const words = wordingOf((JSON.parse(facts) as { openingLine: string | null }).openingLine);
    // The second word is the name.
    if (words !== null && words.words.length >= 2 && ours.some((own) => isCutLine(words, own))) wordsOf.set(id, words.words.length);
  }
  let rows = 0;
  for (const { recipient_id: id, outcome } of recipients) {
    if (outcome !== 'unresolved') continue;
    const own = attempts.filter((attempt) => attempt.recipient_id === id);
    const candidates = own.flatMap((attempt) => JSON.parse(attempt.candidates ?? '[]') as string[]);
    rows += new Set(candidates.flatMap((each) => wordsOf.get(each) ?? [])).size;
  }
  return { records: wordsOf.size, rows };
}

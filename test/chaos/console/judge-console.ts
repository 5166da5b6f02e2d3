import { actsThatEnd } from '../acts.ts';
import { stands, type Effect } from '../effect-log.ts';
import { editOf } from '../scenarios.ts';
import type { Breach } from '../judge-ending.ts';
import type { Ending } from '../small-campaign.ts';
import { isKept, isOpen, type Asked, type Try } from './person.ts';

/**
 * What became of requests to the API: one that was answered was carried out, once; one that was refused, or repeated, changed nothing. It
 * goes by the lists of numbers and rows, by who was called, and by what transactions wrote to the log.
 */
export function* judgeConsole(ending: Ending): Generator<Breach> {
  const { asked, seen } = ending.person;
  for (const what of seen) yield { rule: 'done by a repetition', to: null, what };
  for (const each of asked) {
    yield* judgeTries(ending.effects, each);
    if (each.answer === null) yield { rule: 'no end', to: each.number, what: `${each.act} was never answered` };
  }
  yield* judgeLists(ending);
}

function* judgeTries(effects: readonly Effect[], asked: Asked): Generator<Breach> {
  const { act, sending, tries, number: to } = asked;
  const told = (what: string): string => `${act}, sent ${sending}: ${what}`;
  let kept: number | null = null;
  for (const [nth, each] of tries.entries()) {
    const { status, code, isReplayed, together } = each;
    const written = writtenBy(effects, each);
    if (status === 500) yield { rule: 'a defect', to, what: told('500') };
    const isRefused = status >= 400 && !isOpen(each);
    // What another sending wrote at the same time is its own.
    if (isRefused && !together && written.length > 0)
      yield { rule: 'done though refused', to, what: told(`${status} ${code} wrote ${written.join('; ')}`) };
    if ((isReplayed || kept !== null) && !together && written.length > 0)
      yield { rule: 'done by a repetition', to, what: told(`try ${nth + 1} wrote ${written.join('; ')}`) };
    // One that found the database away tells nothing, and did nothing.
    const isLost = isOpen(each) && written.length === 0;
    if (kept !== null && !isLost && code !== 'key_reused' && !(isReplayed && status === kept))
      yield { rule: 'done by a repetition', to, what: told(`${kept}, then ${status}${isReplayed ? ' again' : ''}`) };
    if (act === 'stale resume' && status < 300)
      yield { rule: 'done though refused', to, what: told('a pause was undone by whoever had not seen it') };
    if (sending === 'read only' && status !== 403)
      yield { rule: 'done though refused', to, what: told(`${status} to somebody who may only look`) };
    if (sending === 'key reused' && kept !== null && !isLost && !isReplayed && code !== 'key_reused')
      yield { rule: 'done by a repetition', to, what: told(`${status} under a key that was used`) };
    if (!together && isKept(status)) kept ??= status;
  }
  const twins = tries.filter(({ together }) => together);
  if (twins.filter(({ status, isReplayed }) => status < 300 && !isReplayed).length > 1)
    yield { rule: 'done by a repetition', to, what: told('both were carried out') };
}

/** Transactions that wrote to the log while it was answered, by what they wrote. */
function writtenBy(effects: readonly Effect[], { from, to, who }: Try): string[] {
  const own = effects.slice(from, to).filter((effect) => effect.who === who && stands(effect));
  return own.flatMap(({ what }) => (what.startsWith('commit ') ? [what.slice('commit '.length)] : []));
}

/** The lists at the end, against what was answered. */
function* judgeLists({ ledger, person, standing, sandbox, scenario }: Ending): Generator<Breach> {
  const { asked } = person;
  const called = new Set(sandbox.calls().map(({ to }) => to));
  // An opt-out takes the place of a person's entry.
  const listed = new Set(ledger.suppressions.map(({ e164 }) => e164));
  const barred = ledger.suppressions.filter(({ source }) => source.startsWith('person'));
  /** Of which somebody may have been told, or nobody knows. */
  const maybe = new Set([...standing.tried, ...asked.filter(mayBeDone).map(({ number }) => number)]);
  for (const { act, number: to, answer } of asked) {
    if (to === null || answer === null || answer >= 300) continue;
    if (act === 'suppress' && !listed.has(to))
      yield { rule: 'answered, and not done', to, what: 'the do-not-call list has no such number' };
    const row = ledger.recipients.find(({ e164 }) => e164 === to);
    if (act === 'withdraw' && standing.withdrawn.has(to) && row?.outcome !== 'cancelled' && !called.has(to))
      yield { rule: 'answered, and not done', to, what: `withdrawn, and ends as ${row?.outcome}` };
  }
  for (const { e164 } of barred)
    if (!standing.stopped.has(e164) && !maybe.has(e164))
      yield { rule: 'done though refused', to: e164, what: 'it stands on the do-not-call list' };
  const mayHaveEnded = standing.ended !== null || standing.redials > 0 || asked.some((each) => isEnd(each) && mayBeDone(each));
  // A row may have another number, of which nobody was told.
  const numbersOf = (id: string | null) =>
    [...standing.rows, ...editOf(scenario)].flatMap((row) => (row.externalId === id ? [row.e164] : []));
  for (const { e164, outcome, external_id: id } of mayHaveEnded ? [] : ledger.recipients)
    if (outcome === 'cancelled' && e164 !== null && !numbersOf(id).some((each) => standing.stopped.has(each) || maybe.has(each)))
      yield { rule: 'done though refused', to: e164, what: 'its row was withdrawn' };
}

function isEnd({ act }: Asked): boolean {
  return actsThatEnd.some((each) => each === act);
}

function mayBeDone({ begun, tries }: Asked): boolean {
  return begun > tries.length || tries.some(isOpen);
}

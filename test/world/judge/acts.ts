import type { Breach } from './judge.ts';
import type { Asked, Evidence, Try } from './evidence.ts';

/** A request may have been on its way for so long. */
const onItsWayMs = 30_000;
const outcomeOf = { suppress: 'suppressed', withdraw: 'cancelled' };

/** What was answered was done, and what was refused was not: by the lists, the calls and the rows. */
export function* judgeDeeds({ deeds = [], stopped, rows, finals, calls }: Evidence): Generator<Breach> {
  for (const { act, number: to, end, at } of deeds) {
    const own = calls.filter((call) => call.to === to);
    const outcome = finals.find(({ e164 }) => e164 === to)?.outcome;
    if (end === 'done' && at !== undefined && own.some(({ realAcceptedAt }) => realAcceptedAt > at + onItsWayMs))
      yield { rule: 'called though stopped by a person', to, what: `after its ${act} was answered` };
    const what = `${act}, and ends as ${outcome}`;
    const isListed = act === 'suppress' && stopped !== undefined;
    const isDone = isListed ? stopped.listed.includes(to) : own.length > 0 || outcome === outcomeOf[act];
    if (end === 'done' && !isDone) yield { rule: 'answered, and not done', to, what };
    if (end === 'refused' && outcome === outcomeOf[act]) yield { rule: 'done though refused', to, what };
  }
  if (stopped === undefined) return;
  for (const to of stopped.byPerson.filter((number) => !stopped.maybe.includes(number)))
    yield { rule: 'done though refused', to, what: 'it stands on the do-not-call list' };
  for (const { e164: to, outcome, external_id: id } of stopped.mayHaveEnded ? [] : finals) {
    const numbers = rows.flatMap((row) => (row.id === id ? row.numbers : []));
    if (outcome === 'cancelled' && to !== null && !numbers.some((number) => stopped.maybe.includes(number)))
      yield { rule: 'done though refused', to, what: 'its row was withdrawn' };
  }
}

export function* judgeChanges({ changes }: Evidence): Generator<Breach> {
  if (changes === undefined) return;
  const { logged, carriedOut, unheard } = changes;
  const what = `${logged} changes in the log, ${carriedOut} answered, ${unheard} unheard`;
  if (logged < carriedOut) yield { rule: 'answered, and not done', to: null, what };
  if (logged > carriedOut + unheard) yield { rule: 'done by a repetition', to: null, what };
}

/** Whether nobody knows what became of it. */
const isOpen = ({ status, code }: Try) => status >= 500 || code === 'under_way';
/** Whether the same request is answered so for good. */
const isKept = (status: number) => status < 300 || status === 422;

/** A request that was refused or repeated changed nothing, by what was written while it was answered. */
export function* judgeAsked({ asked = [] }: Evidence): Generator<Breach> {
  for (const each of asked) {
    const { act, sending, number: to, answered } = each;
    for (const [rule, what] of judgeTries(each)) yield { rule, to, what: `${act}, sent ${sending}: ${what}` };
    if (!answered) yield { rule: 'no end', to, what: `${act} was never answered` };
  }
}

function* judgeTries({ act, sending, tries }: Asked): Generator<[Breach['rule'], string]> {
  let kept: number | null = null;
  for (const each of tries) {
    const { status, code, isReplayed, together, written } = each;
    const wrote = !together && written.length > 0 ? `${status} ${code} wrote ${written.join('; ')}` : null;
    if (status === 500) yield ['a defect', '500'];
    if (status >= 400 && !isOpen(each) && wrote !== null) yield ['done though refused', wrote];
    if ((isReplayed || kept !== null) && wrote !== null) yield ['done by a repetition', wrote];
    // One that found the database away tells nothing, and did nothing.
    const isLost = isOpen(each) && written.length === 0;
    // Under a key that was used nothing is carried out, and the same request is answered as before.
    if (kept !== null && !isLost && code !== 'key_reused' && !(isReplayed && status === kept))
      yield ['done by a repetition', `${kept}, then ${status}${isReplayed ? ' again' : ''}`];
    if (act === 'stale resume' && status < 300) yield ['done though refused', 'a pause was undone by whoever had not seen it'];
    if (sending === 'read only' && status !== 403) yield ['done though refused', `${status} to somebody who may only look`];
    if (!together && isKept(status)) kept ??= status;
  }
  if (tries.filter(({ together, status, isReplayed }) => together && status < 300 && !isReplayed).length > 1)
    yield ['done by a repetition', 'both were carried out'];
}

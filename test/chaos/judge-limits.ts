import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { hourMs } from '../support/campaign-rules.ts';
import type { Breach } from './judge-ending.ts';
import { expiresAfterMs, houseWithinMs, pilotRows } from './scenarios.ts';
import type { Ending } from './small-campaign.ts';

/** From what the ledger allowed in time to its request. */
const graceMs = 15_000;

/** Who may be called before a pilot is decided about, until when a row that was added, and how often by all. */
export function* judgeLimits(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  yield* judgePilot(ending, calls);
  // Whoever dials by a clock that is an hour wrong counts hours by it.
  if (ending.done.some(({ clockByMs }) => clockByMs !== undefined)) return;
  yield* judgeAdded(ending, calls);
  yield* judgeHours(ending, calls);
}

/** Where in the effect log a call was allowed. */
function markOf({ effects }: Ending, { requestId }: CallTruth): number {
  const at = effects.findIndex(({ posting }) => posting === requestId);
  return at === -1 ? Infinity : at;
}

function* judgePilot(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, standing } = ending;
  if (scenario.pilot !== true) return;
  const decided = standing.pilotDecided ?? Infinity;
  const before = calls.filter((call) => markOf(ending, call) < decided);
  const idOf = (number: string) => standing.rows.find(({ e164 }) => e164 === number)?.externalId;
  const called = new Set(before.map(({ to }) => idOf(to)));
  if (called.size > pilotRows)
    yield {
      rule: 'called before the pilot was decided about',
      to: before.at(-1)?.to ?? null,
      what: `${called.size} people, ${pilotRows} in the sample`,
    };
}

function* judgeAdded(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, standing, effects } = ending;
  if (scenario.staysOpen !== true) return;
  for (const [id, mark] of standing.added) {
    const until = (effects[mark - 1]?.at ?? Infinity) + expiresAfterMs;
    const numbers = standing.rows.flatMap(({ externalId, e164 }) => (externalId === id ? [e164] : []));
    const late = calls.find(({ to, acceptedAt }) => numbers.includes(to) && acceptedAt > until + graceMs);
    if (late !== undefined) yield { rule: 'called after its time', to: late.to, what: `${id}, ${(late.acceptedAt - until) / 1000} s late` };
  }
}

function* judgeHours(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, standing } = ending;
  const inOrder = calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt);
  for (const [index, call] of inOrder.entries()) {
    const within = (ms: number) => inOrder.slice(0, index).filter(({ acceptedAt }) => acceptedAt > call.acceptedAt - ms + graceMs);
    if (scenario.perHour !== undefined && within(hourMs).length >= scenario.perHour)
      yield { rule: 'too many calls of a number', to: call.to, what: `${within(hourMs).length + 1} in an hour` };
    const isHeld = standing.houseSince !== null && markOf(ending, call) >= standing.houseSince;
    if (isHeld && within(houseWithinMs).some(({ to }) => to === call.to))
      yield { rule: 'called against the house rules', to: call.to, what: 'a second call within an hour' };
  }
}

import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { isTakenBack, judgeCalls, type CallRule } from '../judge/judge-calls.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { wrongForMs } from './clock-steps.ts';
import { judgeConsole } from './console/judge-console.ts';
import type { Ending } from './small-campaign.ts';
import { stands } from './effect-log.ts';
import { judgeLimits } from './judge-limits.ts';
import { askedBackMs, rulesOf, saidBack, type Scenario } from './scenarios.ts';

/** A promise that was broken, and whom it befell. */
export interface Breach {
  rule:
    | CallRule
    | 'called though stopped by a person'
    | 'dialled while paused'
    | 'rang after it was to be taken back'
    | 'in doubt without cause'
    | 'called too often'
    | 'called though on no list'
    | 'a request sent twice'
    | 'not one outcome'
    | 'wrong outcome'
    | 'answered, and not done'
    | 'done though refused'
    | 'done by a repetition'
    | 'a defect'
    | 'no end'
    | 'called before what was promised'
    | 'a promise kept late'
    | 'a promise lost'
    | 'called before the pilot was decided about'
    | 'called after its time'
    | 'too many calls of a number'
    | 'called against the house rules'
    | 'needs a hand';
  /** A number of the list, or null. */
  to: string | null;
  what: string;
}

/**
 * What the service knows of its calls and requests, joined with the numbers of the list, and what persons had said by then. What the
 * product took a record for is not asked; of its tables only the rows' outcomes are read.
 */
export function judgeEnding(ending: Ending): Breach[] {
  // A fence of a process that died calls nobody for 30 days, and then the number that calls are made from.
  const all = ending.sandbox.calls().filter(({ requestId, dialedAt }) => requestId !== null || dialedAt !== null);
  const calls = all.filter((call) => call.batchId !== null && !isTakenBack(call));
  return [
    ...judgePeople(ending, calls),
    ...judgeRequests(ending),
    ...judgeOrders(ending, calls),
    ...judgeRows(ending, calls),
    ...judgePromises(ending, calls),
    ...judgeLimits(ending, calls),
    ...(ending.api === 'contract' ? [] : judgeReported(ending, calls)),
    ...judgeConsole(ending),
  ];
}

/** Numbers that belong to one person: a row whose number was corrected has two. */
function peopleOf({ standing: { rows } }: Ending): string[][] {
  const byId = new Map<string, string[]>();
  for (const { externalId, e164 } of rows) byId.set(externalId, [...(byId.get(externalId) ?? []), e164]);
  return [...byId.values()];
}

function* judgePeople(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, standing } = ending;
  const people = peopleOf(ending);
  const most = rulesOf(scenario).retry.maxAttempts;
  for (const call of calls) if (!people.flat().includes(call.to)) yield { rule: 'called though on no list', to: call.to, what: tell(call) };
  for (const numbers of people) {
    const own = calls.filter(({ to }) => numbers.includes(to));
    // The number that was called before a correction has attempts of its own.
    // After a call back that is not answered there are attempts as from the first.
    const promised = scenario.callsBack === true ? most : 0;
    const allowed = most * numbers.length + promised + standing.redials + countDenied(ending);
    if (own.length > allowed) yield { rule: 'called too often', to: own[0]?.to ?? null, what: `${own.length} calls` };
    for (const { rule, earlier, later } of judgeCalls(
      own,
      () => 'the same person',
      (call) => call === firstAsking(scenario, own),
    ))
      yield { rule, to: later.to, what: `${tell(later)} after ${tell(earlier)}` };
  }
}

/** The call in which a person asked first to be called back: that is done once. */
function firstAsking({ callsBack }: Scenario, own: readonly CallTruth[]): CallTruth | undefined {
  const answered = own.filter(({ result }) => result === 'answered').toSorted((a, b) => a.acceptedAt - b.acceptedAt);
  return callsBack === true ? answered.find(({ collected }) => collected['callback_at'] === saidBack) : undefined;
}

/** Whoever asked to be called back is called in their time or never, and if never, the ledger tells why. */
function* judgePromises(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, effects, standing } = ending;
  for (const numbers of peopleOf(ending)) {
    const own = calls.filter(({ to }) => numbers.includes(to));
    const asking = firstAsking(scenario, own);
    if (asking?.endedAt == null) continue;
    const due = asking.endedAt + askedBackMs;
    const until = due + (rulesOf(scenario).callback?.lateMs ?? 0);
    const next = own.filter(({ acceptedAt }) => acceptedAt > asking.acceptedAt).toSorted((a, b) => a.acceptedAt - b.acceptedAt);
    const [first] = next;
    if (first !== undefined && first.acceptedAt < due) yield { rule: 'called before what was promised', to: first.to, what: tell(first) };
    // An operator may have them called at any later time.
    const isLate = first !== undefined && first.acceptedAt >= until + graceMs && standing.redials === 0;
    if (isLate) yield { rule: 'a promise kept late', to: first.to, what: tell(first) };
    const isTold = effects.some((effect) => stands(effect) && effect.transitions.some((each) => ends.includes(each)));
    if (first === undefined && !isTold) yield { rule: 'a promise lost', to: asking.to, what: tell(asking) };
  }
}
const ends = ['promise open → missed', 'promise open → cancelled', 'promise · → unclear'];
/** From what the ledger allowed in time to its request. */
const graceMs = 15_000;

/** Calls that the service said it would not make, and of which it may show no record: a stated remainder. */
function countDenied({ api, scenario }: Ending): number {
  // A look-up that was proven shows them.
  if (api !== 'contract' && scenario.unproven !== true) return 0;
  return scenario.troubles.filter(({ effect }) => {
    if (!('when' in effect) || effect.when !== 'after') return false;
    return effect.type === 'rate_limited' || (effect.type === 'error' && (effect.status ?? 500) < 500);
  }).length;
}

function* judgeRequests({ sandbox }: Ending): Generator<Breach> {
  const seen = new Set<string>();
  for (const { operation, requestId } of sandbox.journal()) {
    if (operation !== 'batch_calls' || requestId === null) continue;
    if (seen.has(requestId)) yield { rule: 'a request sent twice', to: null, what: requestId };
    seen.add(requestId);
  }
}

/** What persons said before the transaction that let a call be made. */
function* judgeOrders({ effects, standing }: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const dialled = new Map(effects.flatMap(({ posting }, index) => (posting === null ? [] : [[posting, index] as const])));
  for (const call of calls) {
    const at = dialled.get(call.requestId ?? '');
    if (at === undefined) {
      yield {
        rule: 'called though on no list',
        to: call.to,
        what: `${tell(call)} of a request that nothing in the ledger allowed`,
      };
      continue;
    }
    const stoppedAt = standing.stopped.get(call.to);
    if (stoppedAt !== undefined && at >= stoppedAt) yield { rule: 'called though stopped by a person', to: call.to, what: tell(call) };
    if (standing.ended !== null && at >= standing.ended)
      yield { rule: 'called though stopped by a person', to: call.to, what: `${tell(call)}, ended before` };
    if (standing.pauses.some(({ from, to }) => at >= from && at < to))
      yield { rule: 'dialled while paused', to: call.to, what: tell(call) };
  }
}

function* judgeRows(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { ledger, standing, faults } = ending;
  for (const what of new Set(faults)) yield { rule: 'no end', to: null, what };
  for (const what of standing.presses) yield { rule: 'needs a hand', to: null, what };
  const ids = new Set(standing.rows.map(({ externalId }) => externalId));
  if (ledger.recipients.length !== ids.size)
    yield { rule: 'not one outcome', to: null, what: `${ledger.recipients.length} rows, ${ids.size} on the list` };
  for (const id of ids) {
    const rows = ledger.recipients.filter((row) => row.external_id === id);
    const [row] = rows;
    if (rows.length !== 1 || row?.state !== 'done' || row.outcome === null) {
      yield {
        rule: 'not one outcome',
        to: row?.e164 ?? null,
        what: `${id}: ${rows.length} rows, ${row?.state}, ${row?.outcome}`,
      };
      continue;
    }
    const numbers = standing.rows.flatMap((each) => (each.externalId === id ? [each.e164] : []));
    const own = calls.filter(({ to }) => numbers.includes(to));
    const reached = own.some(({ result }) => result === 'answered');
    const optedOut = own.some((call) => call.optedOut);
    const fits =
      row.outcome === 'completed'
        ? reached && !optedOut
        : row.outcome === 'opted_out'
          ? optedOut
          : row.outcome === 'unresolved' || !reached || firstAsking(ending.scenario, own) !== undefined;
    if (!fits) yield { rule: 'wrong outcome', to: row.e164, what: `${row.outcome}, ${reached ? '' : 'not '}reached` };
  }
}

/** What only a service is held to that reports its calls: what was to be taken back does not ring, nobody is in doubt for nothing. */
function* judgeReported(ending: Ending, calls: readonly CallTruth[]): Generator<Breach> {
  const { scenario, standing, ledger, effects, done } = ending;
  // A collect, and what it waited for.
  const lateMs = done.reduce((sum, { beside, clockByMs }) => sum + (beside?.lateMs ?? 0) + (clockByMs === undefined ? 0 : wrongForMs), 0);
  const graceMs = 5 * minuteMs + lateMs;
  const instantOf = (mark: number | null | undefined): number => (mark == null ? Infinity : (effects[mark - 1]?.at ?? Infinity));
  for (const call of calls) {
    const stoppedAt = Math.min(instantOf(standing.stopped.get(call.to)), instantOf(standing.ended));
    if ((call.dialedAt ?? 0) > stoppedAt + graceMs) yield { rule: 'rang after it was to be taken back', to: call.to, what: tell(call) };
  }
  const left = ledger.recipients.filter(({ outcome }) => outcome === 'unresolved').map((row) => row.recipient_id);
  const isPartial = scenario.troubles.some(({ effect }) => effect.type === 'partial');
  for (const id of new Set([...standing.doubted, ...left])) {
    const dials = ledger.dials.filter(({ attemptId }) => attemptId.startsWith(`${id}/`));
    const isCalled = ({ batchId, k, e164 }: (typeof dials)[number]) =>
      calls.some((call) => call.requestId === `${batchId}/${k}` && call.to === e164);
    // A request that was not carried out, or of which the service left this one out, and of which nobody can know.
    if ((isPartial || scenario.unproven === true) && !dials.every(isCalled)) continue;
    const row = ledger.recipients.find((each) => each.recipient_id === id);
    yield { rule: 'in doubt without cause', to: row?.e164 ?? null, what: `${id}: ${row?.reason}` };
  }
}

function tell({ requestId, result, acceptedAt }: CallTruth): string {
  return `call of ${requestId} at ${new Date(acceptedAt).toISOString().slice(11, 19)} (${result ?? 'under way'})`;
}

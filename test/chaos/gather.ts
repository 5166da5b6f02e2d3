import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { minuteMs } from '../support/campaign-rules.ts';
import { placedCalls } from '../world/gather.ts';
import { callsByPerson } from '../world/judge/calls.ts';
import type { Asked, Call, Deed, Evidence, Row } from '../world/judge/evidence.ts';
import type { Cap } from '../world/judge/limits.ts';
import type { Closed } from '../world/judge/not-then.ts';
import { actsThatEnd } from './acts.ts';
import { isOpen, type Asked as Sent } from './console/person.ts';
import { stands } from './effect-log.ts';
import { askedBack, campaignId, editOf, expiresAfterMs, houseWithinMs, pilotRows, rulesOf } from './scenarios.ts';
import type { Ending } from './small-campaign.ts';
import { wrongForMs } from '../world/faults.ts';

const graceMs = 15_000;

/** The service's calls and requests, and the operators' acts; from tables only the rows' outcomes. */
export function gatherEnding(ending: Ending): Evidence {
  const { api, scenario, sandbox, ledger, standing, faults, person, effects, done } = ending;
  const { presses, redials, doubted } = standing;
  const rows = rowsOf(ending);
  // A dead process's fence places no call for 30 days, then one to the caller number.
  const log = placedCalls(sandbox.calls()).filter(({ requestId, dialedAt }) => requestId !== null || dialedAt !== null);
  const allowed = new Map(effects.flatMap(({ posting }, index) => (posting === null ? [] : [[posting, index] as const])));
  const calls = log.map((call) => ({ ...call, allowed: allowed.get(call.requestId ?? '') ?? null }));
  const { retry } = rulesOf(scenario);
  // An unanswered callback restarts the attempts.
  const more = (scenario.callsBack === true ? retry.maxAttempts : 0) + redials + deniedOf(ending);
  // A process whose clock is an hour off counts hours by it.
  const isClockWrong = done.some(({ clockByMs }) => clockByMs !== undefined);
  const unseen = scenario.unproven === true || scenario.troubles.some(({ effect }) => effect.type === 'partial');
  return {
    calls: scenario.callsBack === true ? withPromises(ending, calls, rows) : calls,
    rows,
    finals: ledger.recipients,
    endings: 'by calls',
    faults,
    seen: person.seen,
    presses,
    requests: sandbox.journal().flatMap(({ operation, requestId }) => (operation === 'batch_calls' ? [requestId] : [])),
    budgets: [{ campaignId, attempts: retry.maxAttempts, uncounted: 0, more }],
    closed: closedOf(ending, isClockWrong),
    caps: isClockWrong ? [] : capsOf(ending),
    pilots: scenario.pilot === true ? [{ campaignId, by: 'allowed', decidedAt: standing.pilotDecided ?? Infinity, sample: pilotRows }] : [],
    asked: person.asked.map((each) => askedOf(ending, each)),
    ...actsOf(ending),
    ...(api === 'contract'
      ? {}
      : { doubt: { by: 'requests', unseen, overOnly: false, partial: [], doubted: [...doubted], dials: ledger.dials } }),
  };
}

function rowsOf({ standing }: Ending): Row[] {
  const rows = new Map<string, Row>();
  for (const { externalId: id, e164, row } of standing.rows)
    rows.set(id, { campaignId, row, id, numbers: [...(rows.get(id)?.numbers ?? []), e164] });
  return [...rows.values()];
}

/** Calls that the service denied and may have no record of. */
function deniedOf({ api, scenario }: Ending): number {
  // A proven look-up shows them.
  if (api !== 'contract' && scenario.unproven !== true) return 0;
  return scenario.troubles.filter(({ effect }) => {
    if (!('when' in effect) || effect.when !== 'after') return false;
    return effect.type === 'rate_limited' || (effect.type === 'error' && (effect.status ?? 500) < 500);
  }).length;
}

const ends = ['promise open → missed', 'promise open → cancelled', 'promise · → unclear'];

function withPromises({ scenario, effects, standing }: Ending, calls: readonly (Call & CallTruth)[], rows: readonly Row[]): Call[] {
  const isTold = effects.some((effect) => stands(effect) && effect.transitions.some((each) => ends.includes(each)));
  const asking = callsByPerson({ calls, rows }).map((own) =>
    own.find((call) => call.result === 'answered' && (call as CallTruth).collected['callback_in'] === askedBack),
  );
  return calls.map((call) => {
    if (!asking.includes(call)) return call;
    const from = (call.endedAt ?? 0) + askedBack * minuteMs;
    const until = standing.redials > 0 ? Infinity : from + (rulesOf(scenario).callback?.lateMs ?? 0) + graceMs;
    return { ...call, again: { from, until, told: isTold } };
  });
}

/** Operators' acts before the transaction that allowed a call, and what must not ring any more. */
function closedOf({ api, standing, effects, done }: Ending, isClockWrong: boolean): Closed[] {
  const { stopped, ended, pauses, added, rows } = standing;
  const stops: Pick<Closed, 'from' | 'numbers'>[] = [...stopped].map(([number, from]) => ({ from, numbers: [number] }));
  if (ended !== null) stops.push({ from: ended });
  const instantOf = (mark: number): number => effects[mark - 1]?.at ?? Infinity;
  // A collect and its waits.
  const lateMs = done.reduce((sum, { beside, clockByMs }) => sum + (beside?.lateMs ?? 0) + (clockByMs === undefined ? 0 : wrongForMs), 0);
  const rung = stops.map(({ from, ...who }) => ({ ...who, from: instantOf(from) + 5 * minuteMs + lateMs + 1 }));
  const late = [...added].map(([id, mark]) => {
    const numbers = rows.flatMap(({ externalId, e164 }) => (externalId === id ? [e164] : []));
    return { numbers, from: instantOf(mark) + expiresAfterMs + graceMs + 1 };
  });
  return [
    ...stops.map((each) => ({ why: 'called though stopped by a person', by: 'allowed', ...each }) as const),
    ...pauses.map(({ from, to: until }) => ({ why: 'dialled while paused', by: 'allowed', from, until }) as const),
    ...(api === 'contract' ? [] : rung).map((each) => ({ why: 'rang after it was taken back', by: 'rang', ...each }) as const),
    ...(isClockWrong ? [] : late).map((each) => ({ why: 'called after its time', by: 'accepted', ...each }) as const),
  ];
}

function capsOf({ scenario: { perHour }, standing: { houseSince } }: Ending): Cap[] {
  const hourly = { withinMs: houseWithinMs - graceMs, by: 'accepted' } as const;
  const since = { by: 'allowed', at: houseSince ?? Infinity } as const;
  return [
    { ...hourly, why: 'too many calls of a number', of: 'all', most: perHour ?? Infinity },
    { ...hourly, why: 'called against the house rules', of: 'number', most: 1, since },
  ];
}

function askedOf({ effects }: Ending, { act, sending, number, answer, tries }: Sent): Asked {
  const told = tries.map(({ from, to, who, ...each }) => {
    const own = effects.slice(from, to).filter((effect) => effect.who === who && stands(effect));
    return { ...each, written: own.flatMap(({ what }) => (what.startsWith('commit ') ? [what.slice('commit '.length)] : [])) };
  });
  return { act, sending, number, answered: answer !== null, tries: told };
}

function mayBeDone({ begun, tries }: Sent): boolean {
  return begun > tries.length || tries.some(isOpen);
}

function actsOf({ ledger, person, standing, scenario }: Ending): Pick<Evidence, 'deeds' | 'stopped'> {
  const { asked } = person;
  const deeds = asked.flatMap(({ act, number, answer }): Deed[] => {
    if (number === null || answer === null || answer >= 300 || (act !== 'suppress' && act !== 'withdraw')) return [];
    return act === 'withdraw' && !standing.withdrawn.has(number) ? [] : [{ act, number, end: 'done' }];
  });
  // Perhaps stopped: by an answered request, or one of unknown outcome.
  const maybe = [...standing.stopped.keys(), ...standing.tried, ...asked.filter(mayBeDone).flatMap(({ number }) => number ?? [])];
  // An unanswered edit may have changed a row's number.
  for (const { externalId: id, e164 } of editOf(scenario))
    if (maybe.includes(e164)) maybe.push(...standing.rows.flatMap((row) => (row.externalId === id ? [row.e164] : [])));
  const isEnd = ({ act }: Sent) => actsThatEnd.some((each) => each === act);
  const mayHaveEnded = standing.ended !== null || standing.redials > 0 || asked.some((each) => isEnd(each) && mayBeDone(each));
  // An opt-out replaces an operator's entry.
  const listed = ledger.suppressions.map(({ e164 }) => e164);
  const byPerson = ledger.suppressions.flatMap(({ source, e164 }) => (source.startsWith('person') ? [e164] : []));
  return { deeds, stopped: { listed, byPerson, maybe, mayHaveEnded } };
}

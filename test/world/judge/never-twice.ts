import type { Breach, Rule } from './judge.ts';
import { callsByPerson, campaignOf, groupBy, inOrder, tell } from './calls.ts';
import type { Call, Evidence } from './evidence.ts';

/** One person may answer two campaigns; an opt-out holds for all of them. */
function ruleBroken(earlier: Call, later: Call): Rule | null {
  if (later.acceptedAt < (earlier.endedAt ?? Infinity)) return 'two calls at once';
  if (earlier.optedOut) return 'called after an opt-out';
  const [one, other] = [campaignOf(earlier), campaignOf(later)];
  const isOneCampaign = one === undefined || other === undefined || one === other;
  return earlier.result === 'answered' && isOneCampaign && earlier.again === undefined ? 'called after an answer' : null;
}

export function* judgePairs(evidence: Evidence): Generator<Breach> {
  const { makesTwice, calls, settleMs = Infinity } = evidence;
  for (const own of callsByPerson(evidence))
    for (const [at, later] of own.entries())
      for (const earlier of own.slice(0, at)) {
        const rule = ruleBroken(earlier, later);
        // That the service made two batches of a request, nobody can undo.
        if (rule === null || (makesTwice === true && earlier.requestId === later.requestId)) continue;
        const straggler = isStraggler(earlier, calls, settleMs);
        yield { rule, to: later.to, what: `${tell(later)} after ${tell(earlier)}`, ...(straggler ? { straggler } : {}) };
      }
}

function isStraggler({ listedAt, endedAt, dialedAt }: Call, calls: readonly Call[], settleMs: number): boolean {
  if (listedAt === null || endedAt === null || listedAt <= endedAt + settleMs) return false;
  return calls.some((other) => (other.dialedAt ?? 0) > (dialedAt ?? 0) && (other.listedAt ?? Infinity) < listedAt);
}

/** Nobody is called when the attempts at their row are used up. */
export function* judgeBudgets({ budgets = [], calls, rows }: Evidence): Generator<Breach> {
  for (const { campaignId, attempts, uncounted, more } of budgets)
    for (const { numbers } of rows.filter((row) => row.campaignId === campaignId)) {
      const own = inOrder(calls).filter((call) => numbers.includes(call.to) && campaignOf(call) === campaignId);
      let [counted, failedInARow] = [0, 0];
      for (const { result } of own.slice(0, -1)) {
        failedInARow = result === 'failed' ? failedInARow + 1 : 0;
        if (result !== 'failed' || failedInARow > uncounted) counted += 1;
      }
      // The number that was called before a correction has attempts of its own.
      if (counted >= attempts * numbers.length + more)
        yield { rule: 'called too often', to: own[0]?.to ?? null, what: `${own.length} calls` };
    }
}

export function* judgeRequests({ requests = [], calls, denials = Infinity }: Evidence): Generator<Breach> {
  const names = requests.filter((name) => name !== null);
  for (const what of names.filter((name, at) => names.indexOf(name) !== at)) yield { rule: 'a request sent twice', to: null, what };
  const named = calls.filter(({ requestId }) => requestId !== null);
  const taken = groupBy(named, ({ requestId }) => requestId?.split('/').slice(0, -1).join('/'));
  const again = [...taken].flatMap(([batch, some]) => {
    const times = new Set(some.map(({ batchId }) => batchId)).size;
    return times > 1 ? [{ what: `${batch} was taken ${times} times`, more: times - 1 }] : [];
  });
  if (again.reduce((sum, { more }) => sum + more, 0) > denials)
    for (const { what } of again) yield { rule: 'a batch taken twice', to: null, what };
  for (const call of calls)
    if (call.requestId === null || call.allowed === null) yield { rule: 'called without a request', to: call.to, what: tell(call) };
}

import type { Breach } from './judge.ts';
import { callsByPerson, campaignOf, tell } from './calls.ts';
import type { Evidence } from './evidence.ts';

/** Who asked for a call back gets it then, once, from that campaign and no earlier call, or a reason is on record. */
export function* judgeCallBacks(evidence: Evidence): Generator<Breach> {
  for (const own of callsByPerson(evidence))
    for (const [at, asking] of own.entries()) {
      const { again, endedAt, to } = asking;
      if (again === undefined || endedAt === null) continue;
      const { from, until, told } = again;
      const next = own.slice(at + 1);
      const isOwn = (call: (typeof own)[number]) => campaignOf(call) === campaignOf(asking);
      const early = next.find(({ acceptedAt }) => acceptedAt < from);
      if (early !== undefined) yield { rule: 'called before what was promised', to, what: `${tell(early)} after ${tell(asking)}` };
      const inTime = next.filter(({ acceptedAt }) => acceptedAt >= from && acceptedAt < until);
      const [first] = inTime;
      if (first !== undefined && !isOwn(first) && until < Infinity)
        yield { rule: 'another campaign called first', to, what: `${tell(first)} after ${tell(asking)}` };
      const kept = inTime.filter(isOwn);
      // What the first of them came to is judged by itself.
      if (kept.length > 1 && kept[0]?.again === undefined && until < Infinity)
        yield { rule: 'a promise kept twice', to, what: `${kept.length} calls after ${tell(asking)}` };
      const late = kept.length > 0 ? undefined : next.find((call) => isOwn(call) && call.acceptedAt >= until);
      if (late !== undefined) yield { rule: 'a promise kept late', to, what: `${tell(late)} after ${tell(asking)}` };
      else if (kept.length === 0 && early === undefined && !told) yield { rule: 'a promise lost', to, what: tell(asking) };
    }
}

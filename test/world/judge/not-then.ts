import type { Breach } from './judge.ts';
import { campaignOf, dateOf, isWithin, tell, type By } from './calls.ts';
import type { Call, Evidence } from './evidence.ts';

export const reasonsToClose = [
  'called though on no list',
  'called though stopped by a person',
  'dialled while paused',
  'rang after it was taken back',
  'called without consent',
  'called out of hours',
  'called after its time',
  'called against the house rules',
  'called though another campaign goes first',
] as const;

/** Calls that must not be; `campaignId`, `numbers`: only such; `spare`: so many requests may be on their way. */
export interface Closed {
  why: (typeof reasonsToClose)[number];
  campaignId?: string;
  numbers?: readonly string[];
  by: By;
  from: number;
  until?: number;
  spare?: number;
}

export function* judgeClosed({ calls, closed = [] }: Evidence): Generator<Breach> {
  for (const each of closed) {
    const { why: rule, by, from, until = Infinity, spare = 0 } = each;
    const hits = calls.filter((call) => isMeant(each, call) && dateOf(call, by) >= from && dateOf(call, by) < until);
    if (new Set(hits.map(({ requestId }) => requestId)).size > spare)
      for (const call of hits) yield { rule, to: call.to, what: tell(call) };
  }
}

function isMeant({ campaignId, numbers }: Closed, call: Call): boolean {
  return numbers?.includes(call.to) !== false && (campaignId === undefined || campaignOf(call) === campaignId);
}

/** Whom no list has, or only one that says they cannot be called. */
export function* judgeListed({ calls, rows }: Evidence): Generator<Breach> {
  const listed = new Set(rows.flatMap(({ numbers, mustBe }) => (mustBe === undefined ? numbers : [])));
  for (const call of calls) if (!listed.has(call.to)) yield { rule: 'called though on no list', to: call.to, what: tell(call) };
}

/** By when the telephone rang: that is what a row's hours are about. */
export function* judgeHours({ calls, rows }: Evidence): Generator<Breach> {
  for (const { campaignId, numbers, hours, zones = [] } of rows) {
    if (hours == null) continue;
    for (const call of calls.filter((each) => numbers.includes(each.to) && campaignOf(each) === campaignId))
      if (!zones.every((zone) => isWithin(hours, zone, dateOf(call, 'rang'))))
        yield { rule: 'called out of hours', to: call.to, what: `${tell(call)}, row of ${hours} in ${zones.join(', ')}` };
  }
}

/** By the do-not-call list as the ledger has it, and when it allowed the request. */
export function* judgeSuppressed({ books }: Evidence): Generator<Breach> {
  for (const { attemptId, e164, at } of books?.dials ?? []) {
    const campaignId = books?.attempts.find((row) => row.attempt_id === attemptId)?.campaign_id;
    for (const entry of books?.suppressions ?? []) {
      const applies = entry.e164 === e164 && (entry.scope === 'account' || entry.scope === campaignId);
      if (applies && entry.created_at < at && (entry.expires_at === null || entry.expires_at > at))
        yield { rule: 'dialled though suppressed', to: e164, what: `${attemptId} at ${at}` };
    }
  }
}

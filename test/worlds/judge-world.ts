import type { ConversationFacts } from '../../src/rules/conversation-facts.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import type { Deed } from '../world/mix.ts';
import type { Outcome } from '../world/outcome.ts';
import { campaignOf, isTakenBack, isWithin, judgeCalls, type CallRule } from '../judge/judge-calls.ts';
import type { Trial } from '../judge/judge.ts';
import type { Ledger } from '../judge/ledger.ts';
import { settleMs, type World } from '../world/inputs/draw-world.ts';

export interface Breach {
  rule: CallRule | 'not one outcome' | 'no end' | 'rang after it was taken back' | 'in doubt without cause';
  /** Whom it befell; null where it is about the campaign. */
  to: string | null;
  /** The record that would have told came later than everything newer, and than anybody waits: a stated remainder. */
  straggler: boolean;
  what: string;
}

/** What the service knows of its calls, joined with the numbers of the list; which call the product took a record for is not asked. */
export function judgeWorld(world: World, calls: readonly CallTruth[], recipients: Ledger['recipients']): Breach[] {
  const ours = calls.filter((call) => call.batchId !== null && !isTakenBack(call));
  const breaches: Breach[] = [];
  for (const { campaignId, rows } of world.mix.campaigns) {
    const stored = recipients.filter((row) => row.campaign_id === campaignId);
    const open = stored.filter((row) => row.state !== 'done' || row.outcome === null);
    if (stored.length !== rows.length || open.length > 0)
      breaches.push({
        rule: 'not one outcome',
        to: open[0]?.e164 ?? null,
        straggler: false,
        what: `${campaignId}: ${stored.length} of ${rows.length} rows are there, ${open.length} of them without an outcome`,
      });
  }
  for (const { rule, earlier, later } of judgeCalls(ours, undefined, (call) => asksAgain(world, call))) {
    // That the service made two batches of a request, nobody can undo.
    if (world.reported?.isTwice === true && earlier.requestId === later.requestId) continue;
    const straggler = isStraggler(earlier, ours);
    breaches.push({ rule, to: later.to, straggler, what: `${nameOf(later)} after ${nameOf(earlier)}` });
  }
  return breaches;
}

/** By what the person said, whatever its record shows: such talks do not end their row in a world that has a rule for them. */
export function asksAgain({ mix }: World, { collected }: CallTruth): boolean {
  const asked = mix.campaigns[0]?.rules.results?.find(({ next }) => next !== undefined)?.value;
  return asked != null && asked.values.some((value) => value === collected[asked.key]);
}

export function nameOf({ requestId, nth }: CallTruth): string {
  return `dial ${nth} (${requestId})`;
}

function isStraggler(call: CallTruth, calls: readonly CallTruth[]): boolean {
  const { listedAt, endedAt, dialedAt } = call;
  if (listedAt === null || endedAt === null || listedAt <= endedAt + settleMs) return false;
  return calls.some((other) => (other.dialedAt ?? 0) > (dialedAt ?? 0) && (other.listedAt ?? Infinity) < listedAt);
}

/** Rows that nobody was reached for although the campaign had attempts left: what doubt cost. */
export function countGivenUp(world: World, calls: readonly CallTruth[]): number {
  let givenUp = 0;
  for (const { campaignId, rules, rows } of world.mix.campaigns)
    for (const { e164 } of rows) {
      const own = calls.filter((call) => !isTakenBack(call) && call.to === e164 && campaignOf(call) === campaignId);
      const reached = own.some(({ result }) => result === 'answered' || result === 'voicemail');
      if (!reached && own.length < rules.retry.maxAttempts) givenUp += 1;
    }
  return givenUp;
}

/** What only a service that reports its calls can be held to: what was taken back does not ring, and nobody is in doubt for nothing. */
export function judgeReported(world: World, calls: readonly CallTruth[], { trial, deeds }: Pick<Outcome, 'trial' | 'deeds'>) {
  const { reported } = world;
  if (reported === null) return [];
  const ours = calls.filter((call) => call.batchId !== null && !isTakenBack(call));
  const late = reported.graceMs === null ? [] : findLate(world, ours, deeds, reported.graceMs);
  const breaches = late.map((call): Breach => {
    return { rule: 'rang after it was taken back', to: call.to, straggler: false, what: nameOf(call) };
  });
  for (const row of reported.isDoubtful ? [] : trial.ledger.recipients.filter(({ outcome }) => outcome === 'unresolved'))
    if (!mayDoubt(world, calls, trial, row))
      breaches.push({ rule: 'in doubt without cause', to: row.e164, straggler: false, what: `${row.recipient_id}: ${row.reason}` });
  return breaches;
}

function findLate({ mix }: World, calls: readonly CallTruth[], deeds: readonly Deed[], graceMs: number): CallTruth[] {
  return calls.filter((call) => {
    const rang = call.dialedAt ?? 0;
    const plan = mix.campaigns.find(({ campaignId }) => campaignId === campaignOf(call));
    const hours = plan?.rows.find(({ e164 }) => e164 === call.to)?.hours ?? null;
    if (rang >= (plan?.rules.endsAt ?? Infinity)) return true;
    if (hours !== null && !isWithin(hours, 'America/New_York', rang)) return true;
    const wishes = deeds.filter(({ at, of }) => (of === plan?.campaignId || of === call.to) && at <= rang);
    const isForbidden = wishes.some(({ change, at }) => ['suppress', 'cancel', 'drain'].includes(change) && rang > at + graceMs);
    const last = wishes.findLast(({ change }) => change !== 'suppress');
    return isForbidden || (last?.change === 'pause' && rang > last.at + graceMs);
  });
}

/** By the service's own log: whether there is a reason that nobody knows what became of a person's last call. */
function mayDoubt({ api, mix }: World, calls: readonly CallTruth[], trial: Trial, row: Ledger['recipients'][number]): boolean {
  // A mark that no list shows is no proof against a record that fits, as long as too few have shown that ours name themselves.
  const ours = new Set(calls.flatMap(({ batchId, conversationId }) => (batchId === null ? [] : [conversationId])));
  const isOurs = ({ conversation_id: id, facts }: Trial['ledger']['conversations'][number]): boolean =>
    ours.has(id) || (JSON.parse(facts) as ConversationFacts).direction === 'inbound';
  const isMarkProof = mix.provenLagMs !== undefined && trial.ledger.conversations.every(isOurs);
  const own = trial.ledger.dials.filter(({ attemptId }) => attemptId.startsWith(`${row.recipient_id}/`));
  return own.some(({ batchId, k, e164 }) => {
    const requestId = `${batchId}/${k}`;
    const call = calls.find((each) => each.requestId === requestId && each.to === e164 && !isTakenBack(each));
    // The request was never carried out; or the service left this one out of it.
    if (call === undefined) return trial.partialReplies.has(requestId) || (api === 'batch-calling' && !isMarkProof);
    // All that is told of it is that it is over.
    return call.conversationId === null && api === 'batch-calling' && mix.sandbox.batchCalling?.unanswered === 'completed';
  });
}

import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { campaignOf, judgeCalls, type CallRule } from '../judge/judge-calls.ts';
import type { Ledger } from '../judge/ledger.ts';
import { settleMs, type World } from './draw-world.ts';

export interface Breach {
  rule: CallRule | 'not one outcome' | 'no end';
  /** Whom it befell; null where it is about the campaign. */
  to: string | null;
  /** The record that would have told came later than everything newer, and than anybody waits: a stated remainder. */
  straggler: boolean;
  what: string;
}

/** What the service knows of its calls, joined with the numbers of the list; which call the product took a record for is not asked. */
export function judgeWorld(world: World, calls: readonly CallTruth[], recipients: Ledger['recipients']): Breach[] {
  const ours = calls.filter(({ batchId }) => batchId !== null);
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
  for (const { rule, earlier, later } of judgeCalls(ours)) {
    const straggler = isStraggler(earlier, ours);
    breaches.push({ rule, to: later.to, straggler, what: `${nameOf(later)} after ${nameOf(earlier)}` });
  }
  return breaches;
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
      const own = calls.filter((call) => call.to === e164 && campaignOf(call) === campaignId);
      const reached = own.some(({ result }) => result === 'answered' || result === 'voicemail');
      if (!reached && own.length < rules.retry.maxAttempts) givenUp += 1;
    }
  return givenUp;
}

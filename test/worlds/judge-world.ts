import type { CallTruth } from '../../src/sandbox/records/call-truth.ts';
import type { Ledger } from '../judge/ledger.ts';
import { settleMs, type World } from './draw-world.ts';

export interface Breach {
  rule: 'called after an answer' | 'called after an opt-out' | 'two calls at once' | 'not one outcome' | 'no end';
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
  for (const to of new Set(ours.map((call) => call.to))) {
    const own = ours.filter((call) => call.to === to).sort((a, b) => a.acceptedAt - b.acceptedAt);
    for (const [index, earlier] of own.entries())
      for (const later of own.slice(index + 1)) {
        const rule = ruleBroken(earlier, later);
        if (rule === null) continue;
        const straggler = isStraggler(earlier, ours);
        breaches.push({ rule, to, straggler, what: `${nameOf(later)} after ${nameOf(earlier)}` });
      }
  }
  return breaches;
}

function ruleBroken(earlier: CallTruth, later: CallTruth): Breach['rule'] | null {
  const endedAt = earlier.endedAt ?? Infinity;
  if (later.acceptedAt < endedAt) return 'two calls at once';
  if (earlier.optedOut) return 'called after an opt-out';
  return earlier.result === 'answered' && campaignOf(earlier) === campaignOf(later) ? 'called after an answer' : null;
}

/** The caller's own name for the request; which records belong to it is another matter. */
function campaignOf({ requestId }: CallTruth): string | undefined {
  return requestId?.split('/')[0];
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

import type { TestCallRow } from '../../../list/test-call-row.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { judgeEligibility, type Eligibility } from '../../../rules/attempts/eligibility.ts';
import { calendarsFor } from '../../../rules/hours/legal-hours.ts';
import type { Store } from '../../../ledger/open-ledger.ts';
import { readCaps } from '../../../ledger/limits/placed-calls.ts';
import { findSuppressed } from '../../../ledger/rows/suppressions.ts';
import { instantText } from '../../../shared/input/times.ts';

/** Thrown when the rules of a campaign forbid a test call now; nothing was imported, nobody was called. */
export class TestCallRefusedError extends Error {
  override readonly name = 'TestCallRefusedError' as const;
  readonly exitCode = 1;
}

/** Asks before anything is begun what the dial transaction will ask again. Throws TestCallRefusedError. */
export async function refuseForbiddenCall(
  store: Store,
  call: { campaignId: string; rules: CampaignRules; row: TestCallRow; now: number; path: string },
): Promise<void> {
  const { campaignId, rules, row, now } = call;
  const { e164, zones, country, regions } = row;
  const suppressed = await findSuppressed(store.db, { campaignId, now }, [e164]);
  const callee = { e164, person: null, place: { country, regions } };
  const capsAllowAt = await readCaps(store.db, rules, { callees: [callee], now });
  const verdict = judgeEligibility({
    at: now,
    endsAt: rules.endsAt,
    calendars: calendarsFor(rules, { country, regions }),
    zones,
    marginMs: rules.timing.dispatchMarginMs,
    suppressed: suppressed.has(e164),
    numberBusy: false,
    capsAllowAt: capsAllowAt(callee),
    budgetAllowsAt: now,
    attempted: false,
  });
  if (verdict.verdict === 'dial') return;
  throw new TestCallRefusedError(`${explain(verdict, rules)} Nobody was called.`);
}

const ownPhone = 'For a phone of your own --any-hour leaves hours and law out.';

function explain(verdict: Exclude<Eligibility, { verdict: 'dial' }>, rules: CampaignRules): string {
  if (verdict.verdict === 'wait') {
    const from = instantText(verdict.until);
    if (verdict.reason === 'frequency_cap')
      return `The frequency caps of the campaign or of the law allow no call to this number before ${from}.`;
    return `The calling hours of the campaign or of the law are closed for this number until ${from}. ${ownPhone}`;
  }
  switch (verdict.reason) {
    case 'suppressed':
      return 'This number is on the do-not-call list; carillon suppress check shows the entry, carillon suppress remove takes it off.';
    case 'unknown_timezone':
      return `No time zone is known for this number, so its calling hours are not known either. ${ownPhone}`;
    case 'no_open_window_before_end':
      return `No window opens for this number before the campaign ends. ${ownPhone}`;
    case 'campaign_end':
    case 'row_expired':
      return `The campaign ends ${instantText(rules.endsAt ?? 0)}, and nothing is dialled in the time of advanced.dispatch_margin before that.`;
    case 'capped_until_end':
      return 'The frequency caps of the campaign or of the law allow no call to this number before its end.';
    case 'attempts_used_up':
      return 'The budget of attempts to this number is used up.';
  }
}

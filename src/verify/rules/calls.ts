import { isIdle } from '../book.ts';
import { numberOf, type AuditedAccountRules, type AuditedRules } from '../judged-rules.ts';
import { hashRow } from '../row-book.ts';
import { brokenCap, auditHours } from './hours.ts';
import { dialled, type Rule } from './rule.ts';

/** Independent of the campaign's history. */
export const callRules = {
  dialled_twice: {
    promise: 'no request repeats a call unless the one before it is proven to have queued nothing',
    on: {
      'batch.posting': ({ batch, k }) =>
        batch.k > 0 &&
        !isIdle(batch.verdicts[batch.k - 1]) &&
        `request ${k} of batch ${batch.batchId} began although ${batch.k} may have been carried out`,
      ...dialled(({ attempt }) => attempt.state !== null && 'was placed again after its end'),
    },
  },
  calls_overlap: {
    promise: 'no number is dialled while another call to it is open, in whatever campaign',
    on: dialled(({ book, event, number }) => {
      const other = book.numbers.open.get(number);
      return other !== undefined && other !== event.attemptId && `began while ${other} to the same number was open`;
    }),
  },
  outside_hours: {
    promise: 'every call lies within start, end and expiry, hours and holidays of campaign and house, and law, in every zone of the number',
    on: dialled(({ book, campaign, event, data }) => {
      const closed = Array.isArray(data['zones']) ? auditHours(campaign.rules, event, book.numbers.house) : null;
      return closed !== null && `was placed ${closed}`;
    }),
  },
  row_forged: {
    promise: 'every call goes to the number of its row, and the row is where and who the list said',
    on: dialled(({ book: { rowKey }, campaign, recipientId, row, data }) => {
      const known = campaign.rowBook.of(row);
      if (known === undefined || rowKey === null) return null;
      // The other fields are the row's facts.
      const { k: _, screened: _screened, ...facts } = data;
      return (
        hashRow(rowKey, recipientId, facts, known.version) !== known.hash &&
        'went to another number, person, place or time than its row of the list has'
      );
    }),
  },
  suppressed_dialled: {
    promise: 'no number on the do-not-call list is dialled',
    on: dialled(
      ({ book, event: { campaignId, at }, number }) =>
        book.numbers.isSuppressed(number, campaignId, at) && 'went to a number on the do-not-call list',
    ),
  },
  without_consent: {
    promise: 'nobody is called without a consent that holds, where the campaign asks for it, or after taking it back for its purpose',
    on: dialled(({ book, campaign: { rules }, event: { at }, number, data }) => {
      const isRevoked = book.numbers.isRevoked(number, rules.purpose, at);
      const how = isRevoked ? 'after consent was taken back' : againstConsent(rules, numberOf(data['consentedAt']), at);
      return how !== null && `was placed ${how}`;
    }),
  },
  cap_exceeded: {
    promise: 'no number and no person rings more often than the caps of campaign, house and law allow, over all campaigns',
    on: dialled((line) => {
      const broken = brokenCap(line);
      return broken !== null && `was placed before ${broken} allowed it`;
    }),
  },
  house_broken: {
    promise: 'no campaign calls that lacks what the house rules require',
    on: dialled(({ book, campaign: { rules } }) => {
      const lacked = lackedBy(rules, book.numbers.house);
      return lacked !== null && `was placed by a campaign without ${lacked}, which the house requires`;
    }),
  },
  house_differs: { promise: 'the house rules are what the log says: they were not changed in silence' },
} satisfies Record<string, Rule>;

/** Null: it is valid, or none is required. */
function againstConsent({ consent, timing }: AuditedRules, given: number | null, at: number): string | null {
  if (consent === null) return null;
  if (given === null) return 'without a consent';
  if (given > at) return 'before its consent was given';
  return consent.maxAgeMs !== null && at + timing.dispatchMarginMs >= given + consent.maxAgeMs ? 'with a consent that was too old' : null;
}

/** Null: nothing is lacking. */
function lackedBy({ consent, optOut, dispositions }: AuditedRules, accountRules: AuditedAccountRules | null): string | null {
  if (accountRules?.requires.consent === true && consent === null) return 'consent';
  const hears = optOut.length > 0 || dispositions.some((rule) => (rule as { disposition?: unknown }).disposition === 'opted_out');
  return accountRules?.requires.optOut === true && !hears ? 'opt_out' : null;
}

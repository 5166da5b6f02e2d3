import { budgetAllowsAt, type AttemptBudget } from '../../domain/attempts/attempt-budget.ts';
import type { Queries } from '../open-ledger.ts';
import { firstPostedAfter, lastPostedAt } from './placed-calls.ts';

/** A recipient about to be dialled, as far as budgets are concerned. */
export interface Budgeted {
  recipientId: string;
  e164: string;
  /** Attempts that used up the budget. */
  counted: number;
  /** Attempts up to this number belong to an earlier budget. */
  budgetFrom: number;
}

const valuesPerQuery = 500;

/**
 * Tells of each recipient when the budgets of attempts allow one more; null: never. Reads nothing where neither a number's budget nor
 * a renewal asks for it.
 */
export async function readBudgets(
  tx: Queries,
  budget: AttemptBudget,
  recipients: readonly Budgeted[],
  now: number,
): Promise<(recipient: Budgeted) => number | null> {
  const since = budget.resetAfterMs === null ? -1 : now - budget.resetAfterMs;
  const dialled = recipients.filter(({ counted }) => counted > 0);
  const own =
    budget.resetAfterMs === null
      ? null
      : await countedSince(
          tx,
          'recipient_id',
          dialled.map(({ recipientId }) => recipientId),
          since,
        );
  const shared =
    budget.maxAttemptsPerNumber === null
      ? null
      : await countedSince(
          tx,
          'e164',
          recipients.map(({ e164 }) => e164),
          since,
        );
  return ({ recipientId, e164, counted, budgetFrom }) => {
    const byRecipient =
      own === null
        ? Array.from({ length: counted }, () => 0)
        : (own.get(recipientId) ?? []).filter(({ number }) => number > budgetFrom).map(({ at }) => at);
    const byNumber = (shared?.get(e164) ?? []).map(({ at }) => at);
    return budgetAllowsAt(budget, { byRecipient, byNumber }, now);
  };
}

async function countedSince(
  tx: Queries,
  column: 'recipient_id' | 'e164',
  values: readonly string[],
  since: number,
): Promise<Map<string, { at: number; number: number }[]>> {
  const counted = new Map<string, { at: number; number: number }[]>();
  for (let start = 0; start < values.length; start += valuesPerQuery) {
    const rows = await tx
      .selectFrom('attempts')
      .select([column, 'number', lastPostedAt.as('at')])
      .where(column, 'in', values.slice(start, start + valuesPerQuery))
      .where('posted_at', '>', firstPostedAfter(since))
      .where('state', '=', 'settled')
      .where('counted', '=', 1)
      .execute();
    for (const row of rows) {
      const of = counted.get(row[column]) ?? [];
      of.push({ at: row.at, number: row.number });
      counted.set(row[column], of);
    }
  }
  return counted;
}

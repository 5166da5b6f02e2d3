import { budgetAllowsAt, type AttemptBudget } from '../../rules/attempts/attempt-budget.ts';
import { groupBy } from '../../rules/collections.ts';
import { readInParts } from '../parts.ts';
import type { Queries } from '../tx.ts';
import { firstPostedAfter, lastPostedAt } from './placed-calls.ts';

export interface Budgeted {
  recipientId: string;
  e164: string;
  counted: number;
  budgetFrom: number;
}

/** When budgets of attempts allow each recipient one more; null: never. Reads nothing unless a number's budget or a renewal asks. */
export async function readBudgets(
  db: Queries,
  budget: AttemptBudget,
  { recipients, now }: { recipients: readonly Budgeted[]; now: number },
): Promise<(recipient: Budgeted) => number | null> {
  const since = budget.resetAfterMs === null ? -1 : now - budget.resetAfterMs;
  const dialled = recipients.filter(({ counted }) => counted > 0).map(({ recipientId }) => recipientId);
  const numbers = recipients.map(({ e164 }) => e164);
  const own = budget.resetAfterMs === null ? null : await countedSince(db, { column: 'recipient_id', values: dialled, since });
  const shared = budget.maxAttemptsPerNumber === null ? null : await countedSince(db, { column: 'e164', values: numbers, since });
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
  db: Queries,
  { column, values, since }: { column: 'recipient_id' | 'e164'; values: readonly string[]; since: number },
): Promise<Map<string, { at: number; number: number }[]>> {
  const rows = await readInParts(values, (part) =>
    db
      .selectFrom('attempts')
      .select([column, 'number', lastPostedAt.as('at')])
      .where(column, 'in', part)
      .where('posted_at', '>', firstPostedAfter(since))
      .where('state', '=', 'settled')
      .where('counted', '=', 1)
      .execute(),
  );
  return groupBy(rows, (row) => row[column]);
}

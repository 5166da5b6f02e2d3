import { budgetAllowsAt } from '../domain/attempt-budget.ts';
import type { CampaignEvent } from '../store/events.ts';
import type { AttemptBook, CampaignBook } from './campaign-book.ts';
import { calleeOf } from './judge-call.ts';
import type { LogRule } from './log-rules.ts';
import type { NumberBook } from './number-book.ts';

/** Whether the budgets of recipient and number had an attempt left when this call was placed. */
export function judgeBudget(
  campaign: CampaignBook,
  numbers: NumberBook,
  { recipientId }: AttemptBook,
  event: CampaignEvent,
): [LogRule, string][] {
  const { retry } = campaign.rules;
  const byRecipient = [...(campaign.counted.get(recipientId) ?? [])].map(({ postedAt }) => postedAt ?? 0);
  const byNumber = numbers.countedTo(calleeOf(event).number);
  const allowedAt = budgetAllowsAt(retry, { byRecipient, byNumber }, event.at);
  if (allowedAt !== null && allowedAt <= event.at) return [];
  return [['budget_exceeded', `call ${event.attemptId} was placed although all attempts were used up`]];
}

/** An attempt uses up its recipient's budget, or does so no more; one of an earlier budget has no bearing on this one. */
export function countAttempt(campaign: CampaignBook, attempt: AttemptBook, counts: boolean): void {
  attempt.counted = counts;
  if (attempt.budget !== (campaign.budgets.get(attempt.recipientId) ?? 0)) return;
  const counted = campaign.counted.get(attempt.recipientId) ?? new Set();
  if (counts) counted.add(attempt);
  else counted.delete(attempt);
  campaign.counted.set(attempt.recipientId, counted);
}

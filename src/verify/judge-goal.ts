import type { AttemptBook, CampaignBook, JudgedLine } from './campaign-book.ts';
import type { Violate } from './log-rules.ts';

/** A talk came to something, or its end was corrected (`by` -1). */
export function countGoal(campaign: CampaignBook, { result }: AttemptBook, by: 1 | -1): void {
  const { goals, rules, rounds } = campaign;
  if (!rules.results.some(({ result: name, goal }) => name === result && goal === true)) return;
  goals.count += by;
  if (rules.stopAt !== null && goals.count >= rules.stopAt.goal) goals.round ??= rounds;
}

export function noteGoalReached({ campaign: { goals }, violate }: JudgedLine): void {
  if (goals.round === null || goals.told)
    violate('cause_missing', `the goal is told as reached, with ${goals.count} talks that came to it`);
  goals.told = true;
}

/** Whether the goal is reached in this round: whom a person has called again in a later one is called. */
export function hasGoal({ goals, rounds }: CampaignBook): boolean {
  return goals.round !== null && goals.round === rounds;
}

/** Nobody is called after the goal but whom a call back was promised. */
export function judgeGoal({ campaign, event, violate }: JudgedLine, recipientId: string): void {
  if (!hasGoal(campaign)) return;
  for (const promise of campaign.promises.values()) if (promise.recipientId === recipientId && promise.ended === null) return;
  violate('goal_exceeded', `call ${event.attemptId} was placed after the goal was reached, and nobody had promised it`);
}

export function judgeUntoldGoal({ goals }: CampaignBook, violate: Violate): void {
  if (goals.round !== null && !goals.told) violate('log_incomplete', `the goal was reached with ${goals.count} talks, and nothing says so`);
}

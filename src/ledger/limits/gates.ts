import { countGate, gateText, gateTrips, type Gate, type GateCounts, type GateMarks } from '../../rules/gates.ts';
import { goalsOf } from '../../rules/talk-results.ts';
import { readAggregates } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { At, Queries, Tx } from '../tx.ts';
import { updateCampaign } from '../updates.ts';
import { openAttemptStates } from '../../rules/ledger.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { countRows } from '../reads.ts';

/**
 * Pauses the campaign if an `always` gate trips; returns whether it did. Gates are evaluated at `min` and at each doubling, and restart
 * after a pause.
 */
export async function tripGates(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  const { campaignId, rules } = campaign;
  const gates = (rules.gates ?? []).filter(({ always }) => always);
  if (gates.length === 0 || campaign.pilot?.state === 'calling') return false;
  const counts = await countAll(tx, campaignId);
  const goals = goalsOf(rules.results);
  const marks: Record<string, GateMarks[string]> = { ...campaign.gates };
  let isMarked = false;
  for (const gate of gates) {
    const key = keyOf(gate);
    const all = countGate(gate, counts, goals);
    const mark = marks[key] ?? { of: 0, hits: 0, next: gate.min };
    const since = { of: all.of - mark.of, hits: all.hits - mark.hits };
    if (since.of < mark.next) continue;
    isMarked = true;
    const { measure } = gate;
    const trips = gateTrips(gate, since);
    const reading = { measure, ...since, verdict: trips ? ('trips' as const) : ('holds' as const) };
    await appendEvents(tx, [{ at: now, campaignId, type: 'gate.read', data: reading }]);
    marks[key] = trips ? { ...all, next: gate.min } : { ...mark, next: 2 * since.of };
    if (!trips) continue;
    await updateCampaign(tx, campaignId, { gates: JSON.stringify(marks) });
    const reason = `A gate has tripped: ${gateText(gate, reading)}. Find the cause, then resume.`;
    return changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
  }
  if (isMarked) await updateCampaign(tx, campaignId, { gates: JSON.stringify(marks) });
  return false;
}

/** Earlier calls concern another agent, or the operator has reviewed them. */
export async function restartGates(tx: Tx, { campaignId, rules }: Campaign): Promise<void> {
  const gates = (rules.gates ?? []).filter(({ always }) => always);
  if (gates.length === 0) return;
  const counts = await countAll(tx, campaignId);
  const goals = goalsOf(rules.results);
  const marks = gates.map((gate) => [keyOf(gate), { ...countGate(gate, counts, goals), next: gate.min }] as const);
  await updateCampaign(tx, campaignId, { gates: JSON.stringify(Object.fromEntries(marks)) });
}

function keyOf({ measure, of, atLeast, atMost }: Gate): string {
  return `${measure}/${of}/${atLeast ?? ''}/${atMost ?? ''}`;
}

async function countAll(tx: Tx, campaignId: string): Promise<GateCounts> {
  const counts = { dispositions: {} as Record<string, number>, results: {} as Record<string, number> };
  for (const { kind, value, count } of await readAggregates(tx, campaignId, ['disposition', 'result']))
    counts[kind === 'result' ? 'results' : 'dispositions'][value] = count;
  return counts;
}

async function countGoals(db: Queries, campaignId: string, { results }: Pick<CampaignRules, 'results'>): Promise<number> {
  const goals = goalsOf(results);
  const counts = await readAggregates(db, campaignId, ['result']);
  return counts.reduce((sum, { value, count }) => sum + (goals.has(value) ? count : 0), 0);
}

/** In the transaction of the call that reached the goal, so that later dials see it. Later corrections change nothing. */
export async function noteGoal(tx: Tx, { campaignId, now }: At, rules: CampaignRules): Promise<void> {
  if (rules.stopAt === undefined) return;
  const goals = await countGoals(tx, campaignId, rules);
  if (goals < rules.stopAt.goal) return;
  const reached = await tx
    .updateTable('campaigns')
    .set((eb) => ({ goal_round: eb.ref('round') }))
    .where('campaign_id', '=', campaignId)
    .where('goal_round', 'is', null)
    .executeTakeFirst();
  if (reached.numUpdatedRows === 1n) await appendEvents(tx, [{ at: now, campaignId, type: 'goal.reached', data: { goals } }]);
}

/** Calls that may start even if each reaches the goal; null: no limit. */
export async function goalAllowance(db: Queries, { campaignId, rules, goal }: Campaign): Promise<number | null> {
  const { stopAt } = rules;
  if (stopAt?.overshoot !== 'none' || goal !== 'missing') return null;
  const attempts = db.selectFrom('attempts').where('campaign_id', '=', campaignId);
  const open = await countRows(attempts.where('state', 'in', openAttemptStates));
  // Only an unread record can still bring a result.
  const unread = db.selectFrom('conversations').innerJoin('attempts', 'attempts.attempt_id', 'conversations.attempt_id');
  const pendingResults = await countRows(
    unread.where('final', '=', 0).where('attempts.campaign_id', '=', campaignId).where('attempts.state', '=', 'settled'),
  );
  return Math.max(0, stopAt.goal - (await countGoals(db, campaignId, rules)) - open - pendingResults);
}

/** Whether rows wait that are spared because the goal is reached. */
export async function isAnyoneSpared(db: Queries, { campaignId, goal }: Pick<Campaign, 'campaignId' | 'goal'>): Promise<boolean> {
  if (goal !== 'reached') return false;
  const waiting = db.selectFrom('recipients').select('row_number').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  return (await waiting.where('promise_id', 'is', null).limit(1).executeTakeFirst()) !== undefined;
}

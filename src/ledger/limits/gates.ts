import { countGate, gateText, gateTrips, type Gate, type GateCounts, type GateMarks } from '../../rules/gates.ts';
import { goalsOf } from '../../rules/talk-results.ts';
import { readAggregates } from '../aggregates.ts';
import { appendEvents } from '../events.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { Tx } from '../tx.ts';
import { updateCampaign } from '../updates.ts';

/**
 * Pauses a campaign for which a gate that is always asked trips; answers whether it did. Each is asked at `min` and at each doubling; after
 * a pause it starts anew.
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

/** From here on these gates count anew: what was before is said of another agent, or a person has seen it. */
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

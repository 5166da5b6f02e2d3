import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { gateText, countGate, readGate, type GateCounts, type PilotRules } from '../../rules/gates.ts';
import { goalsOf } from '../../rules/talk-results.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import { restartGates } from './gates.ts';
import { countOutstanding, isOutstanding } from './counters.ts';
import { countRows } from '../reads.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { At, Queries, Tx, Store } from '../tx.ts';
import { updateCampaign } from '../updates.ts';

const rowsPerRead = 20_000;

/** Sampling order: stable, and independent of the list's order. */
function drawKey(campaignId: string, row: number): string {
  return createHash('sha256').update(`${campaignId}\n${row}`).digest('hex').slice(0, 16);
}

/** Rows that wait, were never called and are in no earlier sample. */
async function drawRows(tx: Tx, campaignId: string, { rows, pick }: PilotRules): Promise<number[]> {
  let best: { row: number; key: string }[] = [];
  for (let after = 0; ;) {
    const read = await tx
      .selectFrom('recipients')
      .select('row_number')
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'waiting')
      .where('called', '=', 0)
      .where('sample', 'is', null)
      .where('row_number', '>', after)
      .orderBy('row_number')
      .limit(pick === 'first' ? rows : rowsPerRead)
      .execute();
    if (pick === 'first') return read.map(({ row_number: row }) => row);
    best.push(...read.map(({ row_number: row }) => ({ row, key: drawKey(campaignId, row) })));
    if (best.length > rows) best = best.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, rows);
    after = read.at(-1)?.row_number ?? after;
    if (read.length < rowsPerRead) return best.map(({ row }) => row).sort((a, b) => a - b);
  }
}

/** No other row is called until the pilot is decided. Returns the sample's size. */
export async function drawSample(
  tx: Tx,
  { campaignId, now }: At,
  { sample, rules }: { sample: number; rules: PilotRules },
): Promise<number> {
  const rows = await drawRows(tx, campaignId, rules);
  for (let at = 0; at < rows.length; at += 500)
    await tx
      .updateTable('recipients')
      .set({ sample })
      .where('campaign_id', '=', campaignId)
      .where('row_number', 'in', rows.slice(at, at + 500))
      .execute();
  const state = rows.length === 0 ? 'passed' : 'calling';
  await updateCampaign(tx, campaignId, { pilot_state: state, pilot_sample: sample, pilot_agent: null });
  await appendEvents(tx, [{ at: now, campaignId, type: 'pilot.drawn', data: { sample, size: rows.length, rows } }]);
  return rows.length;
}

/** Every sample row was called once or never can be, and all was read to the end. */
export async function isPilotOver(db: Queries, { campaignId, pilot }: Pick<Campaign, 'campaignId' | 'pilot'>): Promise<boolean> {
  if (pilot?.state !== 'calling' || isOutstanding(await countOutstanding(db, campaignId))) return false;
  const left = db.selectFrom('recipients').select('row_number').where('campaign_id', '=', campaignId).where('sample', '=', pilot.sample);
  const uncalled = left.where((eb) => eb.or([eb('state', '=', 'open'), eb.and([eb('state', '=', 'waiting'), eb('called', '=', 0)])]));
  return (await uncalled.limit(1).executeTakeFirst()) === undefined;
}

export type PilotStatus = NonNullable<Awaited<ReturnType<typeof readPilot>>>;

export async function readPilot(db: Queries, campaign: Campaign) {
  const { campaignId, pilot } = campaign;
  if (pilot === null) return null;
  const ofSample = db.selectFrom('recipients').where('campaign_id', '=', campaignId).where('sample', '=', pilot.sample);
  const counts = { rows: await countRows(ofSample), called: await countRows(ofSample.where('called', '=', 1)) };
  /** `gates`: as text, evaluated on the current sample. */
  return { ...pilot, ...counts, gates: (await readGates(db, campaign)).map(({ text }) => text) };
}

async function readGates(db: Queries, { campaignId, rules, pilot }: Campaign) {
  const counts = await countSample(db, campaignId, pilot?.sample ?? 0);
  const goals = goalsOf(rules.results);
  return (rules.gates ?? []).map((gate) => {
    const reading = readGate(gate, countGate(gate, counts, goals));
    return { reading, text: gateText(gate, reading) };
  });
}

async function countSample(db: Queries, campaignId: string, sample: number): Promise<GateCounts> {
  const counts = { dispositions: {} as Record<string, number>, results: {} as Record<string, number> };
  const rows = await db
    .selectFrom('recipients')
    .innerJoin('attempts', 'attempts.recipient_id', 'recipients.recipient_id')
    .select(['attempts.disposition', 'attempts.result', sql<number>`count(*)`.as('count')])
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.sample', '=', sample)
    .where('attempts.state', '=', 'settled')
    .groupBy(['attempts.disposition', 'attempts.result'])
    .execute();
  for (const { disposition, result, count } of rows) {
    if (disposition !== null) counts.dispositions[disposition] = (counts.dispositions[disposition] ?? 0) + count;
    if (result !== null) counts.results[result] = (counts.results[result] ?? 0) + count;
  }
  return counts;
}

/**
 * Decides a finished pilot once: it goes on if the file says so and all gates hold, or if no row waits; else it pauses for the operator.
 * Returns whether it decided.
 */
export async function decidePilot(tx: Tx, campaign: Campaign, now: number): Promise<boolean> {
  const { campaignId, rules, pilot } = campaign;
  if (pilot === null || !(await isPilotOver(tx, campaign))) return false;
  const read = await readGates(tx, campaign);
  const waiting = tx.selectFrom('recipients').select('row_number').where('campaign_id', '=', campaignId).where('state', '=', 'waiting');
  const isAnyoneElse = (await waiting.limit(1).executeTakeFirst()) !== undefined;
  const holds = read.every(({ reading }) => reading.verdict === 'holds');
  const passed = !isAnyoneElse || (rules.pilot?.next === 'go_on' && holds);
  await updateCampaign(tx, campaignId, { pilot_state: passed ? 'passed' : 'asked' });
  const readings = read.map(({ reading }) => reading);
  await appendEvents(tx, [{ at: now, campaignId, type: 'pilot.ended', data: { sample: pilot.sample, passed, readings } }]);
  if (passed) return true;
  const status = await readPilot(tx, { ...campaign, pilot: { ...pilot, state: 'asked' } });
  await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason: pilotPauseReason(status, read) });
  return true;
}

function pilotPauseReason(status: PilotStatus | null, read: Awaited<ReturnType<typeof readGates>>): string {
  const failed = read.filter(({ reading }) => reading.verdict !== 'holds');
  const gates = read.map(
    ({ reading: { verdict }, text }) => `${text}: ${verdict === 'fails' ? 'does not hold' : verdict.replace('_', ' ')}`,
  );
  const gatesText = gates.length === 0 ? '' : ` ${gates.join('. ')}.`;
  const next =
    failed.length === 0 ? 'Look at it, then resume' : 'Find the cause, then resume; with --sample another sample is called first';
  return `The pilot is over: ${status?.called ?? 0} of ${status?.rows ?? 0} rows were called.${gatesText} ${next}.`;
}

/** After the operator's review: goes on with all rows, or with a further sample (`again`). */
export async function goOnFromPilot(tx: Tx, campaign: Campaign, { now, again }: { now: number; again: boolean }): Promise<void> {
  const { campaignId, rules, pilot } = campaign;
  if (rules.pilot === undefined || pilot === null || (pilot.state !== 'asked' && !again)) return;
  const decision = again ? 'sample' : 'go_on';
  await appendEvents(tx, [{ at: now, campaignId, type: 'pilot.decided', data: { sample: pilot.sample, decision, by: 'person' } }]);
  await restartGates(tx, campaign);
  if (again) await drawSample(tx, { campaignId, now }, { sample: pilot.sample + 1, rules: rules.pilot });
  else await updateCampaign(tx, campaignId, { pilot_state: 'passed' });
  // Forces a check of the agent, which may have changed meanwhile.
  await tx.updateTable('callers').set({ checked_at: null }).where('campaign_id', '=', campaignId).execute();
}

/** If the agent changed since the sample, the pilot's result is void and the campaign pauses, once per change. */
export async function noteAgent(
  store: Store,
  { campaignId }: Pick<Campaign, 'campaignId'>,
  { print, now }: { print: string; now: number },
) {
  await lockedTransaction(store, campaignId, async (tx) => {
    const pilot = tx.selectFrom('campaigns').select(['pilot_sample', 'pilot_state', 'pilot_agent']).where('campaign_id', '=', campaignId);
    const { pilot_sample: sample = null, pilot_state: state = null, pilot_agent: known = null } = (await pilot.executeTakeFirst()) ?? {};
    if (sample === null || known === print) return;
    await updateCampaign(tx, campaignId, { pilot_agent: print });
    if (known === null || state === 'asked') return;
    await updateCampaign(tx, campaignId, { pilot_state: 'asked' });
    await appendEvents(tx, [{ at: now, campaignId, type: 'pilot.voided', data: { sample } }]);
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason: voidedReason });
  });
}

const voidedReason =
  'The agent was changed since the pilot, so what the pilot showed holds no more. With --sample another sample is called first; ' +
  'resume alone goes on with everybody.';

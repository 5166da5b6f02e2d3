import { sql } from 'kysely';
import type { Caller, CallerFault, CallerStatus } from '../../rules/caller-choice.ts';
import { changeCampaignState, type Campaign } from '../rows/campaigns.ts';
import type { NewEvent } from '../../rules/events.ts';
import { appendEvents } from '../events.ts';
import { lockedTransaction } from '../locks.ts';
import type { Queries, Tx, Store } from '../tx.ts';
import { updateCampaign } from '../updates.ts';
import type { Row } from '../schema.ts';

type CallerRow = Row<'callers'>;
type CampaignCallers = Pick<Campaign, 'campaignId' | 'rules'>;

function selectCallers(db: Queries, campaignId: string): Promise<CallerRow[]> {
  return db.selectFrom('callers').selectAll().where('campaign_id', '=', campaignId).orderBy('position').execute();
}

/** One row per number; a number not checked yet counts as usable. */
async function ensureCallers(tx: Tx, { campaignId, rules }: CampaignCallers): Promise<CallerRow[]> {
  const { numbers } = rules.callers;
  const rows = await selectCallers(tx, campaignId);
  if (rows.length >= numbers.length) return rows;
  const facts = { e164: null, country: null, regions: null, out: 0, reason: null, checked_at: null, given: 0 };
  await tx
    .insertInto('callers')
    .values(numbers.map((id, position) => ({ campaign_id: campaignId, phone_number_id: id, position, ...facts })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return selectCallers(tx, campaignId);
}

export async function readCallersIn(tx: Tx, campaign: CampaignCallers): Promise<Caller[]> {
  const rows = await ensureCallers(tx, campaign);
  return rows
    .filter((row) => row.out === 0)
    .map((row) => ({
      phoneNumberId: row.phone_number_id,
      country: row.country,
      regions: row.regions === null ? null : (JSON.parse(row.regions) as string[]),
      given: row.given,
    }));
}

/** Nothing is sent from these numbers, and their calls prove nothing about the others. */
export async function readCallersOut(db: Queries, { campaignId }: CampaignCallers): Promise<string[]> {
  const rows = await selectCallers(db, campaignId);
  return rows.filter((row) => row.out === 1).map((row) => row.phone_number_id);
}

/** From the last check before a request. */
export interface CallerCheckAtCall {
  checkedAt: number;
  e164: string | null;
  /** Null: the service lists the number and reports no fault. */
  fault: string | null;
}

/** JSON to store with a request; null: no check is known. */
export async function readCallerCheck(tx: Tx, { campaignId }: Pick<Campaign, 'campaignId'>, phoneNumberId: string): Promise<string | null> {
  const row = (await selectCallers(tx, campaignId)).find((each) => each.phone_number_id === phoneNumberId);
  if (row?.answered_at == null) return null;
  const check: CallerCheckAtCall = { checkedAt: row.answered_at, e164: row.e164, fault: row.reason };
  return JSON.stringify(check);
}

/** Recipients that have the number already are not counted again. */
export async function giveCaller(
  tx: Tx,
  campaignId: string,
  { phoneNumberId, recipients }: { phoneNumberId: string; recipients: readonly { recipient_id: string; caller: string | null }[] },
): Promise<void> {
  const chosen = recipients.filter(({ caller }) => caller !== phoneNumberId).map((row) => row.recipient_id);
  if (chosen.length === 0) return;
  await tx.updateTable('recipients').set({ caller: phoneNumberId }).where('recipient_id', 'in', chosen).execute();
  await tx
    .updateTable('callers')
    .set((eb) => ({ given: eb('given', '+', chosen.length) }))
    .where('campaign_id', '=', campaignId)
    .where('phone_number_id', '=', phoneNumberId)
    .execute();
}

/** `due`: time for a check; `needed`: none may call, and the operator has resumed. */
export type CallerCheckTiming = 'not_yet' | 'due' | 'needed';

const failuresToCheck = 5;

async function hasManyFailures(db: Queries, campaignId: string, since: number): Promise<boolean> {
  const rows = await db
    .selectFrom('attempts')
    .select('attempt_id')
    .where('campaign_id', '=', campaignId)
    .where('settled_at', '>', since)
    .where('disposition', '=', 'failed')
    .limit(failuresToCheck)
    .execute();
  return rows.length === failuresToCheck;
}

/** Claims the next check: every `everyMs`, or `soonestMs` after the last when calls fail. One worker gets it, even if its check fails. */
export async function claimCallerCheck(
  store: Store,
  campaign: CampaignCallers,
  { everyMs, soonestMs, now }: { everyMs: number; soonestMs: number; now: number },
): Promise<CallerCheckTiming> {
  const { campaignId, rules } = campaign;
  const timingOf = (rows: readonly CallerRow[], afterMs: number): CallerCheckTiming => {
    if (rows.length > 0 && rows.every((row) => row.out === 1)) return 'needed';
    const fresh = rows.filter((row) => row.checked_at !== null && row.checked_at > now - afterMs);
    return fresh.length === rules.callers.numbers.length ? 'not_yet' : 'due';
  };
  const rows = await selectCallers(store.db, campaignId);
  const lastCheckAt = Math.max(0, ...rows.map((row) => row.checked_at ?? 0));
  let afterMs = everyMs;
  if (timingOf(rows, everyMs) === 'not_yet' && (await hasManyFailures(store.db, campaignId, lastCheckAt))) afterMs = soonestMs;
  const timing = timingOf(rows, afterMs);
  if (timing !== 'due') return timing;
  return lockedTransaction(store, campaignId, async (tx) => {
    const again = timingOf(await ensureCallers(tx, campaign), afterMs);
    if (again === 'due') await tx.updateTable('callers').set({ checked_at: now }).where('campaign_id', '=', campaignId).execute();
    return again;
  });
}

const lastCalls = 20;

async function readLastCalls(tx: Tx, campaignId: string, phoneNumberId: string): Promise<{ calls: number; failed: number }> {
  const rows = await tx
    .selectFrom('attempts')
    .innerJoin('batches', 'batches.batch_id', 'attempts.batch_id')
    .select('attempts.disposition')
    .where('attempts.campaign_id', '=', campaignId)
    .where('attempts.state', '=', 'settled')
    .where('batches.caller', '=', phoneNumberId)
    .orderBy('attempts.posted_at', 'desc')
    .limit(lastCalls)
    .execute();
  return { calls: rows.length, failed: rows.filter(({ disposition }) => disposition === 'failed').length };
}

/**
 * Takes numbers out of and into use as the service reports, and logs it. With `faults` (none may call) it pauses; the reason cites the last
 * calls of numbers just taken out.
 */
export async function noteCallers(
  store: Store,
  campaign: CampaignCallers,
  { standings, faults, now }: { standings: readonly CallerStatus[]; faults: string | null; now: number },
): Promise<void> {
  const { campaignId } = campaign;
  await lockedTransaction(store, campaignId, async (tx) => {
    const before = new Map((await ensureCallers(tx, campaign)).map((row) => [row.phone_number_id, row]));
    const events: NewEvent[] = [];
    const evidence: string[] = [];
    for (const { phoneNumberId, fault, e164, country, regions } of standings) {
      const wasOut = before.get(phoneNumberId)?.out === 1;
      const isOut = fault !== null;
      // Known facts stay when the service no longer lists the number.
      const facts = e164 === null ? {} : { e164, country, regions: regions === null ? null : JSON.stringify(regions) };
      await tx
        .updateTable('callers')
        .set({ ...facts, out: isOut ? 1 : 0, reason: fault, checked_at: now, answered_at: now })
        .where('campaign_id', '=', campaignId)
        .where('phone_number_id', '=', phoneNumberId)
        .execute();
      if (isOut && !wasOut) {
        const { calls, failed } = await readLastCalls(tx, campaignId, phoneNumberId);
        events.push({ at: now, campaignId, type: 'caller.out', data: { phoneNumberId, reason: fault, calls, failed } });
        if (calls > 0) evidence.push(`Of the last ${calls} calls of ${phoneNumberId} ${failed} failed.`);
      }
      if (wasOut && !isOut) {
        events.push({ at: now, campaignId, type: 'caller.in', data: { phoneNumberId } });
        // Restarts the breaker: earlier failures prove nothing any more.
        await updateCampaign(tx, campaignId, { dials_since: now });
      }
    }
    await appendEvents(tx, events);
    if (faults === null) return;
    const reason = [`${faults}, then resume.`, ...evidence].join(' ');
    await changeCampaignState(tx, { campaignId, now }, { to: 'paused', reason });
    // Also cancels an automatic resume: a cool-down does not fix a number.
    await tx
      .updateTable('campaigns')
      .set({ state_reason: reason, resume_at: null })
      .where('campaign_id', '=', campaignId)
      .where('state', '=', 'paused')
      .execute();
  });
}

export type CallerUse = Awaited<ReturnType<typeof readCallerUse>>[number];

const sentStates = ['posting', 'confirmed', 'unknown', 'held', 'redial', 'given_up'] as const;

export async function readCallerUse(db: Queries, { campaignId, rules }: CampaignCallers) {
  const rows = new Map((await selectCallers(db, campaignId)).map((row) => [row.phone_number_id, row]));
  const sent = await db
    .selectFrom('batches')
    // The service knows better than the request how many calls it took.
    .select(sql<number | string>`sum(case when calls_initiated < size then calls_initiated else size end)`.as('calls'))
    .select('caller')
    .where('campaign_id', '=', campaignId)
    .where('state', 'in', sentStates)
    .groupBy('caller')
    .execute();
  const callsOf = new Map(sent.map(({ caller, calls }) => [caller, Number(calls)]));
  return rules.callers.numbers.map((phoneNumberId) => {
    const row = rows.get(phoneNumberId);
    return {
      phoneNumberId,
      out: row?.out === 1 ? (row.reason as CallerFault) : null,
      checkedAt: row?.checked_at ?? null,
      calls: callsOf.get(phoneNumberId) ?? 0,
    };
  });
}

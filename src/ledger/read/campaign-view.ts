import { sql } from 'kysely';
import type { EventData } from '../../rules/events.ts';
import { hasEnded, pausedByOperator } from '../../rules/lifecycle.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { readStatus } from '../campaign/campaign-status.ts';
import { readHookStatus } from '../campaign/hook-standing.ts';
import { readAccount } from '../limits/account-pace.ts';
import { readCallerUse } from '../limits/callers.ts';
import { readLineLimits } from '../limits/line-limits.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countCallbacks } from '../rows/promises.ts';
import { readPilot } from '../limits/pilot.ts';
import { newestEvents, sqlMarkTypes } from '../events.ts';
import type { Queries } from '../tx.ts';
import { countDoubt, countUndecided } from './doubt-counts.ts';

/** State of a campaign for CLI, API, page and report. Instants are service time. */
export type CampaignView = Awaited<ReturnType<typeof readCampaignView>>;
/** Without what campaigns share, so that each of many costs no more than one. */
export type CampaignBrief = Awaited<ReturnType<typeof readCampaignBrief>>;

/** What only the operator can fix. */
export type Need =
  | { kind: 'failed'; reason: string | null }
  | { kind: 'paused'; reason: string | null }
  /** Rows with an unknown result; `apart`: of these, those with ambiguous records. */
  | { kind: 'unresolved'; rows: number; apart: number }
  | { kind: 'callbacks'; unclear: number; overdue: number }
  | { kind: 'caller_out'; phoneNumberId: string; reason: string }
  | { kind: 'hook_silent'; since: number }
  | { kind: 'hook_failed'; hook: 'on_completion' | 'on_pause' }
  | { kind: 'clocks_apart'; apartMs: number };

/** Reads aggregates and index ends: as cheap at a million rows as at ten. */
export async function readCampaignView(db: Queries, campaign: Campaign, now: number) {
  return {
    ...(await readCampaignBrief(db, campaign, now)),
    /** Null: it has ended or never started. */
    limits: isOver(campaign) ? null : await readLineLimits(db, campaign, { now }),
  };
}

export async function readCampaignBrief(db: Queries, campaign: Campaign, now: number) {
  const facts = await readFacts(db, campaign, now);
  return { ...facts, needs: needsOf(facts) };
}

async function readFacts(db: Queries, campaign: Campaign, now: number) {
  const status = await readStatus(db, campaign);
  return {
    campaign,
    status,
    callers: await readCallerUse(db, campaign),
    hooks: await readHookStatus(db, campaign),
    doubt: await countDoubt(db, campaign, { status, now }),
    /** Null: the campaign never had any. */
    callbacks: await countCallbacks(db, campaign.campaignId, now),
    /** Null: the campaign has no pilot. */
    pilot: await readPilot(db, campaign),
    /** Real ms by which the service's clock is ahead of a worker's, if that stops dialling; else 0. */
    clocksApartMs: isOver(campaign) ? 0 : (await readAccount(db, campaign.accountId)).clocksApartMs,
  };
}

/** Ended, or never started. */
function isOver(campaign: Campaign): boolean {
  return hasEnded(campaign) || campaign.round === 0;
}

function needsOf({ campaign, callers, hooks, doubt, callbacks, clocksApartMs: apartMs }: Awaited<ReturnType<typeof readFacts>>): Need[] {
  const { state, stateReason: reason } = campaign;
  const rows = countUndecided(doubt.unresolved);
  const ended = hasEnded(campaign);
  const { unclear = 0, overdue = 0 } = callbacks ?? {};
  const needs: readonly (Need | false)[] = [
    state === 'failed' && { kind: 'failed', reason },
    state === 'paused' && reason !== pausedByOperator && { kind: 'paused', reason },
    rows > 0 && { kind: 'unresolved', rows, apart: doubt.unresolved[notToldApart] ?? 0 },
    !ended && unclear + overdue > 0 && { kind: 'callbacks', unclear, overdue },
    ...callers.map(({ phoneNumberId, out }) => !ended && out !== null && ({ kind: 'caller_out', phoneNumberId, reason: out } as const)),
    hooks.silentSince !== null && { kind: 'hook_silent', since: hooks.silentSince },
    hooks.completion === 'failed' && { kind: 'hook_failed', hook: 'on_completion' },
    hooks.pause === 'failed' && { kind: 'hook_failed', hook: 'on_pause' },
    apartMs !== 0 && { kind: 'clocks_apart', apartMs },
  ];
  return needs.filter((need) => need !== false);
}

/** Instants are service time. */
export type LastActs = Awaited<ReturnType<typeof readLastActs>>;

/** Found without reading the lines of calls. */
export async function readLastActs(db: Queries, campaignId: string) {
  const marks = newestEvents(db, campaignId)
    .select(['at', 'data'])
    .where(sql<boolean>`type in (${sql.raw(sqlMarkTypes)})`);
  const changed = await marks.where('type', '=', 'campaign.state').limit(1).executeTakeFirst();
  const acted = await marks
    .where('type', '=', 'operator.acted')
    // Viewing is no change.
    .where('data', 'not like', '%"action":"%_shown"%')
    .limit(1)
    .executeTakeFirst();
  return {
    /** Null: unchanged since the import. */
    changed: changed === undefined ? null : { at: changed.at, ...(JSON.parse(changed.data ?? '{}') as EventData['campaign.state']) },
    /** Null: no operator has changed anything. */
    acted: acted === undefined ? null : { at: acted.at, ...(JSON.parse(acted.data ?? '{}') as EventData['operator.acted']) },
  };
}

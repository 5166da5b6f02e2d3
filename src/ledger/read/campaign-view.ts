import { sql } from 'kysely';
import type { EventData } from '../../rules/events.ts';
import { hasEnded, pausedByPerson } from '../../rules/lifecycle.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { readStatus } from '../campaign/campaign-status.ts';
import { readHookStanding } from '../campaign/hook-standing.ts';
import { readAccount } from '../limits/account-pace.ts';
import { readCallerUse } from '../limits/callers.ts';
import { readLineLimits } from '../limits/line-limits.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countPromises } from '../rows/promises.ts';
import { readPilot } from '../limits/pilot.ts';
import { newestEvents, sqlMarkTypes } from '../events.ts';
import type { Queries } from '../tx.ts';
import { countDoubt, countUndecided } from './doubt-counts.ts';

/** How a campaign stands, for whoever asks: command, API, page and report take it from here. Instants are service time. */
export type CampaignView = Awaited<ReturnType<typeof readCampaignView>>;
/** The same without what a campaign shares with others: as cheap for each of many campaigns as for one. */
export type CampaignBrief = Awaited<ReturnType<typeof readCampaignBrief>>;

/** What only a person can set right. */
export type Need =
  | { kind: 'failed'; reason: string | null }
  | { kind: 'paused'; reason: string | null }
  /** Rows of which nobody knows what became of them; `apart`: of these, those whose records were not told apart. */
  | { kind: 'unresolved'; rows: number; apart: number }
  /** Promises whose time is not clear, or has passed. */
  | { kind: 'callbacks'; unclear: number; overdue: number }
  | { kind: 'caller_out'; phoneNumberId: string; reason: string }
  | { kind: 'hook_silent'; since: number }
  | { kind: 'hook_failed'; hook: 'on_completion' | 'on_pause' }
  | { kind: 'clocks_apart'; apartMs: number };

/** Reads aggregates and the small ends of indexes: as cheap at a million rows as at ten. */
export async function readCampaignView(db: Queries, campaign: Campaign, now: number) {
  return {
    ...(await readCampaignBrief(db, campaign, now)),
    /** Calls that may be on the line; null once it has ended. */
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
    hooks: await readHookStanding(db, campaign),
    doubt: await countDoubt(db, campaign, { status, now }),
    /** Promises to call people back; null: the campaign never had any. */
    callbacks: await countPromises(db, campaign.campaignId, now),
    /** How the sample stands that is called first, or was; null: the campaign has no pilot. */
    pilot: await readPilot(db, campaign),
    /** By how many real milliseconds the service's clock is too far ahead of a worker's for anybody to be dialled; 0: it is not. */
    clocksApartMs: isOver(campaign) ? 0 : (await readAccount(db, campaign.accountId)).clocksApartMs,
  };
}

/** Nothing is dialled unless somebody starts it. */
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
    state === 'paused' && reason !== pausedByPerson && { kind: 'paused', reason },
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

/** Since when a campaign is in its state, and who last changed anything in it. Instants are service time. */
export type LastActs = Awaited<ReturnType<typeof readLastActs>>;

/** Reads the newest lines of each kind, found without a walk through those of the calls. */
export async function readLastActs(db: Queries, campaignId: string) {
  const marks = newestEvents(db, campaignId)
    .select(['at', 'data'])
    .where(sql<boolean>`type in (${sql.raw(sqlMarkTypes)})`);
  const changed = await marks.where('type', '=', 'campaign.state').limit(1).executeTakeFirst();
  const acted = await marks
    .where('type', '=', 'operator.acted')
    // Whoever has looked has changed nothing.
    .where('data', 'not like', '%"action":"%_shown"%')
    .limit(1)
    .executeTakeFirst();
  return {
    /** Null: its state has not changed since it was imported. */
    changed: changed === undefined ? null : { at: changed.at, ...(JSON.parse(changed.data ?? '{}') as EventData['campaign.state']) },
    /** Null: nobody has changed anything. */
    acted: acted === undefined ? null : { at: acted.at, ...(JSON.parse(acted.data ?? '{}') as EventData['operator.acted']) },
  };
}

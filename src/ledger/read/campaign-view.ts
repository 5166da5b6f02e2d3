import { hasEnded, pausedByPerson } from '../../rules/lifecycle.ts';
import { notToldApart } from '../../rules/disposition.ts';
import { readStatus, type CampaignStatus } from '../campaign/campaign-status.ts';
import { readHookStanding, type HookStanding } from '../campaign/hook-standing.ts';
import { readAccount } from '../limits/account-pace.ts';
import { readCallerUse, type CallerUse } from '../limits/callers.ts';
import { readLineLimits, type LineLimits } from '../limits/line-limits.ts';
import type { Campaign } from '../rows/campaigns.ts';
import { countPromises, type PromiseCounts } from '../rows/promises.ts';
import { readPilot, type PilotStanding } from '../limits/pilot.ts';
import type { Queries } from '../tx.ts';
import { countDoubt, countUndecided, type DoubtCounts } from './doubt-counts.ts';

/** How a campaign stands, for whoever asks: command, API, page and report take it from here. Instants are service time. */
export interface CampaignView extends CampaignBrief {
  /** Calls that may be on the line; null once it has ended. */
  limits: LineLimits | null;
}

/** The same without what a campaign shares with others: as cheap for each of many campaigns as for one. */
export interface CampaignBrief {
  campaign: Campaign;
  status: CampaignStatus;
  callers: CallerUse[];
  hooks: HookStanding;
  doubt: DoubtCounts;
  /** Promises to call people back; null: the campaign never had any. */
  callbacks: PromiseCounts | null;
  /** How the sample stands that is called first, or was; null: the campaign has no pilot. */
  pilot: PilotStanding | null;
  /** By how many real milliseconds the service's clock is too far ahead of a worker's for anybody to be dialled; 0: it is not. */
  clocksApartMs: number;
  needs: Need[];
}

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
export async function readCampaignView(db: Queries, campaign: Campaign, now: number): Promise<CampaignView> {
  return {
    ...(await readCampaignBrief(db, campaign, now)),
    limits: isOver(campaign) ? null : await readLineLimits(db, campaign, { now }),
  };
}

export async function readCampaignBrief(db: Queries, campaign: Campaign, now: number): Promise<CampaignBrief> {
  const status = await readStatus(db, campaign);
  const facts = {
    campaign,
    status,
    callers: await readCallerUse(db, campaign),
    hooks: await readHookStanding(db, campaign),
    doubt: await countDoubt(db, campaign, { status, now }),
    callbacks: await countPromises(db, campaign.campaignId, now),
    pilot: await readPilot(db, campaign),
    clocksApartMs: isOver(campaign) ? 0 : (await readAccount(db, campaign.accountId)).clocksApartMs,
  };
  return { ...facts, needs: needsOf(facts) };
}

/** Nothing is dialled unless somebody starts it. */
function isOver(campaign: Campaign): boolean {
  return hasEnded(campaign) || campaign.round === 0;
}

function needsOf(view: Omit<CampaignBrief, 'needs'>): Need[] {
  const { campaign, callers, hooks, doubt, callbacks, clocksApartMs } = view;
  const { state, stateReason: reason } = campaign;
  const rows = countUndecided(doubt.unresolved);
  return [
    ...(state === 'failed' ? [{ kind: 'failed', reason } as const] : []),
    ...(state === 'paused' && reason !== pausedByPerson ? [{ kind: 'paused', reason } as const] : []),
    ...(rows === 0 ? [] : [{ kind: 'unresolved', rows, apart: doubt.unresolved[notToldApart] ?? 0 } as const]),
    ...(callbacks === null || hasEnded(campaign) || callbacks.unclear + callbacks.overdue === 0
      ? []
      : [{ kind: 'callbacks', unclear: callbacks.unclear, overdue: callbacks.overdue } as const]),
    ...(hasEnded(campaign) ? [] : callers).flatMap(({ phoneNumberId, out }) =>
      out === null ? [] : [{ kind: 'caller_out', phoneNumberId, reason: out } as const],
    ),
    ...(hooks.silentSince === null ? [] : [{ kind: 'hook_silent', since: hooks.silentSince } as const]),
    ...(hooks.completion === 'failed' ? [{ kind: 'hook_failed', hook: 'on_completion' } as const] : []),
    ...(hooks.pause === 'failed' ? [{ kind: 'hook_failed', hook: 'on_pause' } as const] : []),
    ...(clocksApartMs === 0 ? [] : [{ kind: 'clocks_apart', apartMs: clocksApartMs } as const]),
  ];
}

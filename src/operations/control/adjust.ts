import { readAccountRulesFile } from '../../campaign/file/house-file.ts';
import type { AdjustableRules } from '../../rules/campaign-rules.ts';
import { missingRequirements, withAccountRules, type AccountRequirement } from '../../rules/house-rules.ts';
import { hasEnded } from '../../rules/lifecycle.ts';
import { readAccount } from '../../ledger/limits/account-pace.ts';
import { readAdjustEffect, type AdjustEffect } from '../../ledger/read/clock-strip.ts';
import { adjustAccount, adjustCampaign, readAdjustable, type AccountLimits, type Adjustment } from '../../ledger/limits/adjustments.ts';
import { changesAccountRules, listAccountRulesVersions, storeAccountRules } from '../../ledger/limits/house.ts';
import { goingStates, listCampaigns, type Campaign } from '../../ledger/rows/campaigns.ts';
import { readLineLimits } from '../../ledger/limits/line-limits.ts';
import { stateText } from '../../presentation/words/campaign.ts';
import { requestReplan, type NotifyFailure } from './campaign-message.ts';
import { type Control, WrongStateError } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { accountIdOf, readServiceTime } from './service.ts';

/** The first campaign not notified, and why; null: all were. */
export type UnnotifiedCampaign = { campaignId: string; why: string } | null;

async function notifyEach(control: Control, campaigns: readonly Pick<Campaign, 'campaignId'>[]): Promise<UnnotifiedCampaign> {
  for (const { campaignId } of campaigns) {
    const why = await requestReplan(control, campaignId);
    if (why !== null) return { campaignId, why };
  }
  return null;
}

interface Adjusted<Limits, After, Told = NotifyFailure> {
  changed: Adjustment<Limits>;
  notice: Told;
  limits: After;
}

/** In effect now, and in the campaign file. */
export interface CampaignLimits {
  now: AdjustableRules;
  file: AdjustableRules;
}

/** Throws UnknownCampaignError. */
export async function readCampaignLimits({ store }: Control, campaignId: string): Promise<CampaignLimits> {
  await requireCampaign(store, campaignId);
  const limits = await readAdjustable(store.db, campaignId);
  if (limits === undefined) throw new Error(`campaign ${campaignId} has gone from the database`);
  return limits;
}

/** Thrown when waiting recipients could never be called in these hours; nothing was changed. */
export class NeverOpenError extends Error {
  override readonly name = 'NeverOpenError' as const;
  readonly isBadInput = true;

  constructor(rows: number) {
    const who = rows === 1 ? '1 person who waits' : `${rows.toLocaleString('en')} people who wait`;
    super(`In these hours ${who} could never be called: the law or the end of the campaign leaves no time. Write wider hours.`);
  }
}

/** Effect of changed hours and retries on waiting recipients; changes nothing. Throws UnknownCampaignError. */
export async function previewAdjustment(
  control: Control,
  { campaignId, wish, reset }: { campaignId: string; wish: Partial<AdjustableRules>; reset: boolean },
): Promise<AdjustEffect> {
  const { store } = control;
  const campaign = await requireCampaign(store, campaignId);
  const { file } = await readCampaignLimits(control, campaignId);
  const requested = reset ? { ...file, ...wish } : wish;
  return readAdjustEffect(store.db, campaign, { wish: requested, now: await readServiceTime(control) });
}

/**
 * Changes limits, hours and retries from the next batch on. `reset`: restores the campaign file's values except those in `wish`, whose
 * bounds the caller checks. Repeating it changes nothing. Throws UnknownCampaignError, NeverOpenError, and WrongStateError when the
 * campaign has ended.
 */
export async function adjustLimits(
  control: Control,
  { campaignId, wish, reset }: { campaignId: string; wish: Partial<AdjustableRules>; reset: boolean },
): Promise<Adjusted<AdjustableRules, CampaignLimits>> {
  const { store } = control;
  const campaign = await requireCampaign(store, campaignId);
  if (reset || wish.hours !== undefined) {
    const { neverOpen } = await previewAdjustment(control, { campaignId, wish, reset });
    if (neverOpen > 0) throw new NeverOpenError(neverOpen);
  }
  const changed = await adjustCampaign(store, campaignId, { wish, reset, now: await readServiceTime(control) });
  if (changed === undefined) throw endedError(campaign);
  const notice = changesNothing(changed) ? null : await requestReplan(control, campaignId);
  return { changed, notice, limits: await readCampaignLimits(control, campaignId) };
}

function endedError(campaign: Campaign): WrongStateError {
  const { campaignId } = campaign;
  if (campaign.state === 'failed') {
    return new WrongStateError(`Campaign ${campaignId} has failed, so there is no pace to change now.`, {
      kind: 'fix_failure',
      campaignId,
    });
  }
  const why = hasEnded(campaign) ? stateText(campaign) : 'at its end';
  return new WrongStateError(
    `Campaign ${campaignId} is ${why}, so there is no pace to change. carillon retry ${campaignId} calls rows of it again; then adjust it.`,
  );
}

export function changesNothing({ to }: Adjustment<object>): boolean {
  return Object.keys(to).length === 0;
}

/** Limits of all campaigns together at the configured service. */
export interface SharedLimits extends AccountLimits {
  accountId: string;
  /** Thousandths of the limit in use, lowered after refusals. */
  pace: number;
}

/** Throws ConfigError. */
export async function readSharedLimits({ config, store }: Control): Promise<SharedLimits> {
  const accountId = accountIdOf(config);
  const { maxConcurrentCalls, keepFree, pace } = await readAccount(store.db, accountId);
  return { accountId, maxConcurrentCalls, keepFree, pace };
}

export type AccountUse = Awaited<ReturnType<typeof readAccountUse>>;

/** Open calls of running campaigns, and how many each may have. Throws ConfigError. */
export async function readAccountUse(control: Control) {
  const shared = await readSharedLimits(control);
  const { db } = control.store;
  const now = await readServiceTime(control);
  const all = await listCampaigns(db);
  const going = all.filter(({ accountId, state }) => accountId === shared.accountId && goingStates.includes(state));
  const campaigns = [];
  for (const campaign of going) {
    const { open, allowed } = await readLineLimits(db, campaign, { now });
    campaigns.push({ campaignId: campaign.campaignId, open, allowed });
  }
  return { ...shared, open: campaigns.reduce((sum, { open }) => sum + open, 0), campaigns };
}

/** Thrown when a share of the account's limit is to stay free but there is no limit; nothing was changed. */
export class NoLimitToShareError extends Error {
  override readonly name = 'NoLimitToShareError' as const;
  readonly isBadInput = true;

  constructor() {
    super('The share to keep free is a part of the limit of the account, which has none: set the limit, too.');
  }
}

/** Logged for each campaign. Repeating it changes nothing. Throws NoLimitToShareError and ConfigError. */
export async function adjustSharedLimits(
  control: Control,
  change: Partial<AccountLimits>,
): Promise<Adjusted<AccountLimits, SharedLimits, UnnotifiedCampaign>> {
  const { accountId, ...before } = await readSharedLimits(control);
  const { maxConcurrentCalls } = { ...before, ...change };
  if (change.keepFree !== undefined && maxConcurrentCalls === null) throw new NoLimitToShareError();
  const { campaigns, ...changed } = await adjustAccount(control.store, accountId, {
    wish: change,
    now: await readServiceTime(control),
  });
  const notice = await notifyEach(control, changesNothing(changed) ? [] : campaigns);
  return { changed, notice, limits: await readSharedLimits(control) };
}

export type AccountRulesView = Awaited<ReturnType<typeof readAccountRules>>;

/** `now`: null when never set; `before`: newest first, without their rules. */
export async function readAccountRules({ store }: Pick<Control, 'store'>) {
  const [now = null, ...before] = await listAccountRulesVersions(store.db);
  return { now, before: before.map(({ version, setAt }) => ({ version, setAt })) };
}

export interface AccountRulesChange {
  changed: boolean;
  version: number;
  /** Running campaigns that lack a requirement, and therefore pause. */
  lacking: { campaignId: string; lacks: AccountRequirement[] }[];
  notice: UnnotifiedCampaign;
}

/**
 * Sets the account rules, binding for all campaigns from the commit on, and notifies running ones. Repeating the same rules changes
 * nothing. `dryRun` only shows the change. Throws CampaignFileError for faults in the text, under the name `path`.
 */
export async function setAccountRules(
  control: Control,
  { path, text, dryRun }: { path: string; text?: string | undefined; dryRun: boolean },
): Promise<AccountRulesChange> {
  const now = await readServiceTime(control);
  const file = await readAccountRulesFile(path, now, text);
  const { db } = control.store;
  const [last] = await listAccountRulesVersions(db);
  const version = (last?.version ?? 0) + 1;
  const lacking = (await listCampaigns(db)).flatMap(({ campaignId, state, rules }) => {
    const lacks = goingStates.includes(state) ? missingRequirements(withAccountRules(rules, { version, ...file.rules })) : [];
    return lacks.length === 0 ? [] : [{ campaignId, lacks }];
  });
  if (dryRun) return { changed: changesAccountRules(last, file.rules), version, lacking, notice: null };
  const { campaigns, ...set } = await storeAccountRules(control.store, { ...file, now });
  return { ...set, lacking, notice: await notifyEach(control, campaigns) };
}

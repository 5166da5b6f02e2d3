import { dialsFrom } from '../../../rules/lifecycle.ts';
import { callsAmong } from '../../../rules/disposition.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { linesOf, readAccount } from '../../../ledger/limits/account-pace.ts';
import { fewestCalls, readDueShades, readTalkMs, readWaitingGroups, type DueShades } from '../../../ledger/read/rest.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { Queries } from '../../../ledger/tx.ts';
import {
  forecastRest,
  usualAssumptions,
  type CampaignForecast,
  type ForecastAssumptions,
} from '../../../campaign/preflight/campaign-forecast.ts';

export interface ConsoleForecast {
  due: DueShades;
  /** Null where nobody waits. */
  ends: (Pick<CampaignForecast, 'earliest' | 'likely' | 'slowest'> & { assumptions: ForecastAssumptions }) | null;
}

const nobody: ConsoleForecast = { due: { now: 0, hour: 0, today: 0, later: 0 }, ends: null };

/** Walks through the waiting rows, and simulates the rest of the campaign as a check does before it begins. */
export async function readForecast(
  db: Queries,
  campaign: Campaign,
  { dispositions }: Pick<CampaignStatus, 'dispositions'>,
  now: number,
): Promise<ConsoleForecast> {
  if (hasEnded(campaign) || campaign.state === 'draining') return nobody;
  const { campaignId, rules, accountId } = campaign;
  const due = await readDueShades(db, campaign, now);
  if (due.now + due.hour + due.today + due.later === 0) return { due, ends: null };
  const calls = Object.values(callsAmong(dispositions)).reduce((sum, count) => sum + count, 0);
  const answered = (dispositions['answered'] ?? 0) + (dispositions['opted_out'] ?? 0);
  const assumptions = {
    answerRate: calls < fewestCalls ? usualAssumptions.answerRate : answered / calls,
    callMs: (await readTalkMs(db, campaignId)) ?? usualAssumptions.callMs,
  };
  const ends = forecastRest({
    rules,
    assumptions,
    groups: await readWaitingGroups(db, campaign, now),
    startsAt: dialsFrom(rules, now),
    accountLines: linesOf(await readAccount(db, accountId)),
  });
  return { due, ends: { ...ends, assumptions } };
}

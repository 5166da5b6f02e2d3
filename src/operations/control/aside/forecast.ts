import { countCalls } from '../../../rules/disposition.ts';
import { dialsFrom, hasEnded } from '../../../rules/lifecycle.ts';
import { readStatus } from '../../../ledger/campaign/campaign-status.ts';
import { linesOf, readAccount } from '../../../ledger/limits/account-pace.ts';
import { fewestCalls, readTalkMs } from '../../../ledger/read/call-groups.ts';
import { readWaitingGroups } from '../../../ledger/read/waiting.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { Queries } from '../../../ledger/tx.ts';
import {
  forecastRest,
  usualAssumptions,
  type CampaignForecast,
  type ForecastAssumptions,
} from '../../../campaign/preflight/campaign-forecast.ts';

export interface ConsoleForecast {
  /** Null when no recipient waits. */
  ends: (Pick<CampaignForecast, 'earliest' | 'likely' | 'slowest'> & { assumptions: ForecastAssumptions }) | null;
}

/** Simulates the rest of the campaign from its waiting rows. */
export async function readForecast(db: Queries, campaign: Campaign, now: number): Promise<ConsoleForecast> {
  if (hasEnded(campaign) || campaign.state === 'draining') return { ends: null };
  const { campaignId, rules, accountId } = campaign;
  const groups = await readWaitingGroups(db, campaign, now);
  if (groups.length === 0) return { ends: null };
  const { calls, answered } = countCalls((await readStatus(db, campaign)).dispositions);
  const assumptions = {
    answerRate: calls < fewestCalls ? usualAssumptions.answerRate : answered / calls,
    callMs: (await readTalkMs(db, campaignId)) ?? usualAssumptions.callMs,
  };
  const accountLines = linesOf(await readAccount(db, accountId));
  return { ends: { ...forecastRest({ rules, assumptions, groups, startsAt: dialsFrom(rules, now), accountLines }), assumptions } };
}

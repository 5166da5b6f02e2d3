import type { CampaignView } from '../ledger/read/campaign-view.ts';
import { callerUseAsJson } from './callers.ts';
import { statusAsJson } from './campaign.ts';
import { hooksAsJson } from './hooks.ts';
import { pacingAsJson } from './pacing.ts';
import { standstillAsJson } from './standstill.ts';

/** How a campaign stands, for programs, before `withInstants`: the same from the command line and from the API. */
export function viewAsJson(view: CampaignView): Record<string, unknown> {
  const { campaign, status, limits, callers, hooks, doubt, clocksApartMs, standstill } = view;
  return {
    ...statusAsJson(campaign, status),
    callers: callerUseAsJson(callers),
    hooks: hooksAsJson(hooks),
    pacing: limits === null ? null : pacingAsJson(limits),
    doubt,
    clocksApartMs,
    standstill: standstillAsJson(standstill),
  };
}

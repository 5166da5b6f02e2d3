import type { Forecast } from '../../../rules/forecast/forecast.ts';
import { dialsFrom } from '../../../rules/campaign-rules.ts';
import { callsAmong } from '../../../rules/disposition.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { percent } from '../../../shared/input/figures.ts';
import { instant } from '../../../presentation/html/elements.ts';
import type { HtmlValue } from '../../../presentation/html/html.ts';
import type { Progress } from '../../../presentation/charts/rows.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { linesOf, readAccount } from '../../../ledger/limits/account-pace.ts';
import { fewestCalls, readDueShades, readTalkMs, readWaitingGroups, type DueShades } from '../../../ledger/read/rest.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import {
  forecastRest,
  usualAssumptions,
  type CampaignForecast,
  type ForecastAssumptions,
} from '../../../campaign/preflight/campaign-forecast.ts';
import type { ViewRequest } from '../core/view.ts';

/** What lies before a campaign: when its waiting rows are due, and when it ends as far as can be said. */
export interface ConsoleForecast {
  due: DueShades;
  /** Null where nobody waits. */
  ends: (Pick<CampaignForecast, 'earliest' | 'likely' | 'slowest'> & { assumptions: ForecastAssumptions }) | null;
}

const minuteMs = 60_000;
const nobody: ConsoleForecast = { due: { now: 0, hour: 0, today: 0, later: 0 }, ends: null };

/** Walks through the waiting rows, and simulates the rest of the campaign as a check does before it begins. */
export async function readForecast(
  { context, now }: Pick<ViewRequest, 'context' | 'now'>,
  campaign: Campaign,
  { dispositions }: Pick<CampaignStatus, 'dispositions'>,
): Promise<ConsoleForecast> {
  if (hasEnded(campaign) || campaign.state === 'draining') return nobody;
  const { db } = context.store;
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

/** The waiting rows by when they are due, for a chart. What has changed since they were looked at counts as due. */
export function dueParts(waiting: number, { due }: ConsoleForecast): Pick<Progress, 'ready' | 'hour' | 'today' | 'later'> {
  const later = Math.min(waiting, due.later);
  const today = Math.min(waiting - later, due.today);
  const hour = Math.min(waiting - later - today, due.hour);
  return { ready: waiting - later - today - hour, hour, today, later };
}

/** When the campaign ends, against its limit: names and values. `forecast`: null while it is being read. */
export function endEntries(
  { rules: { endsAt } }: Campaign,
  forecast: ConsoleForecast | null,
): (readonly [name: string, value: HtmlValue])[] {
  const ends = forecast?.ends ?? null;
  const limit = endsAt === null ? 'none' : [instant(endsAt, 'minute'), ends === null ? null : lackText(ends.likely)];
  if (ends === null) return [['limit', limit]];
  return [
    ['earliest', courseText(ends.earliest, endsAt)],
    ['likely', courseText(ends.likely, endsAt)],
    ['at worst', courseText(ends.slowest, endsAt)],
    ['limit', limit],
  ];
}

/** What the ends are reckoned from. */
export function assumptionsText({ ends }: ConsoleForecast): string | null {
  if (ends === null) return null;
  const { answerRate, callMs } = ends.assumptions;
  return (
    `Earliest: everyone answers the next call. Likely: ${percent(answerRate)} answer and talk ${Math.round(callMs / 1000)} s. ` +
    'At worst: nobody answers, and every delay is the longest. Pauses, other campaigns and the service may slow it down.'
  );
}

function courseText({ finishesAt, endless, neverCalled, cutShort }: Forecast, endsAt: number | null): HtmlValue {
  if (endless) return 'in more than a year';
  if (neverCalled + cutShort > 0 && endsAt !== null) return 'at the limit';
  return finishesAt === null ? '–' : instant(Math.ceil(finishesAt / minuteMs) * minuteMs, 'minute');
}

function lackText({ neverCalled, cutShort }: Forecast): string | null {
  if (neverCalled > 0) return ': too early for a call to everyone';
  return cutShort > 0 ? ': too early for all further attempts' : null;
}

import { checkCampaign, refuseUnstartable, type CheckResult } from '../../../operations/control/check/check.ts';
import { checkedLedger } from '../../../operations/control/check/ledger.ts';
import { usualAssumptions } from '../../../campaign/preflight/campaign-forecast.ts';
import type { CheckedRow } from '../../../campaign/preflight/preflight.ts';
import { calendarsFor } from '../../../rules/hours/legal-hours.ts';
import { windowAt, type WindowState } from '../../../rules/hours/calling-window.ts';
import type { CampaignRules } from '../../../rules/campaign-rules.ts';
import { printableLines } from '../../../shared/input/printable.ts';
import { problemOf } from '../../../operations/runs/problem.ts';
import type { ViewRequest } from '../core/view.ts';
import { withDraftFiles } from './content.ts';
import type { EvaluatedDraft } from './reading.ts';
import { editionOf } from './rehearsals.ts';
import type { OpenDraft } from './draft-types.ts';

/** Covers the usable part of a draft. */
export interface DraftForecast extends CheckResult {
  /** Why a start would be refused because of file or list; null: it would not. */
  unstartable: string | null;
  rejected: readonly RejectedRow[];
  /** Most people first. */
  zones: readonly ZoneForecast[];
}

export type RejectedRow = Extract<CheckedRow['row'], { verdict: 'rejected' }>;

interface ZoneForecast {
  zones: readonly string[];
  people: number;
  hours: WindowState;
}

/** `unread`: still being read, available later. */
export type ForecastResult = { kind: 'found'; found: DraftForecast } | { kind: 'refused'; why: string } | { kind: 'unread' };

const withinMs = 1_500;
/** Lists with more rejected rows must be fixed in the file. */
export const mostFixes = 100;

/** What a start now would do, leaving invalid parts out. */
export async function forecastDraft(
  { context, cache }: Pick<ViewRequest, 'context' | 'cache'>,
  { usable, problems }: EvaluatedDraft,
): Promise<ForecastResult> {
  if (problems.some(({ field }) => field === 'list.phone'))
    return { kind: 'refused', why: 'Choose the column with the telephone numbers.' };
  const key = `draft ${usable.draft.draftId} ${editionOf(usable)}`;
  return (await cache.readWithin(withinMs, key, () => checkDraft(context, usable))) ?? { kind: 'unread' };
}

async function checkDraft(context: ViewRequest['context'], open: OpenDraft): Promise<ForecastResult> {
  return withDraftFiles(context.store, open, async ({ folder, read }) => {
    const refusalText = (error: unknown): string => {
      const { status, detail } = problemOf(error);
      if (status !== 422) throw error;
      return printableLines(detail.replaceAll(`${folder}/`, ''));
    };
    const rejected: RejectedRow[] = [];
    const places = new Map<string, { row: CheckedRow['row']; people: number }>();
    try {
      const result = await checkCampaign({
        config: context.config,
        now: context.now(),
        file: await read(),
        assumptions: usualAssumptions,
        openLedger: (campaign) => checkedLedger(context, campaign),
        takeRows: async (chunks) => {
          for await (const rows of chunks)
            for (const { row, excluded } of rows) {
              if (row.verdict === 'rejected') {
                if (rejected.length < mostFixes) rejected.push(row);
              } else if (excluded === null) {
                const key = row.zones.join();
                const place = places.get(key);
                if (place === undefined) places.set(key, { row, people: 1 });
                else place.people += 1;
              }
            }
        },
      });
      let unstartable: string | null = null;
      try {
        refuseUnstartable(result);
      } catch (error) {
        unstartable = refusalText(error);
      }
      const { at } = result.report.start;
      const zones = [...places.values()].map(({ row, people }) => ({ zones: row.zones, people, hours: hoursOf(result.rules, row, at) }));
      return {
        kind: 'found',
        found: { ...result, unstartable, rejected, zones: zones.toSorted((one, other) => other.people - one.people) },
      };
    } catch (error) {
      return { kind: 'refused', why: refusalText(error) };
    }
  });
}

function hoursOf(rules: CampaignRules, { zones, country, regions }: CheckedRow['row'], at: number): WindowState {
  const calendars = calendarsFor(rules, { country, regions });
  return windowAt({ calendars, zones, at, marginMs: rules.timing.dispatchMarginMs, endsAt: rules.endsAt });
}

const dayMs = 24 * 3_600_000;
const mostDays = 366;

/** Days with calls between two instants, by the hours of the largest group. */
export function callingDays({ zones, rules }: DraftForecast, from: number, to: number): number {
  const [largest] = zones;
  if (largest === undefined || to - from > mostDays * dayMs) return Math.max(1, Math.ceil((to - from) / dayMs));
  let days = 0;
  for (let at = from; at <= to; at += dayMs) {
    const hours = windowAt({ calendars: [rules.calendar], zones: largest.zones, at, marginMs: 0, endsAt: null });
    if (hours.open || (hours.opensAt !== null && hours.opensAt < Math.min(at + dayMs, to))) days += 1;
  }
  return Math.max(1, days);
}

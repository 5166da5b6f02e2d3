import pc from 'picocolors';
import { forecastCampaign, usualAssumptions, type CampaignForecast } from '../../preflight/campaign-forecast.ts';
import { Preflight } from '../../preflight/preflight.ts';
import type { ListRow } from '../../list/recipients.ts';
import { lookAhead } from '../../preflight/words-outlook.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { instantText } from '../../input/instant.ts';
import { endText } from '../words/forecast.ts';
import { count, percent } from '../../input/figures.ts';
import type { Timeline } from './timeline.ts';

/** Forecasts what `carillon check` would for the rows that are rehearsed. */
export class RehearsalForecaster {
  readonly #rules: CampaignRules;
  readonly #startAt: number;
  readonly #preflight: Preflight;

  constructor(rules: CampaignRules, startAt: number) {
    this.#rules = rules;
    this.#startAt = startAt;
    this.#preflight = new Preflight(rules, startAt);
  }

  /** Hands the rows on as they are. */
  observe(rows: ListRow[]): ListRow[] {
    this.#preflight.add(rows, null);
    return rows;
  }

  /** Null when nobody can be called. */
  forecast(): CampaignForecast | null {
    const { openingLines, dialable } = this.#preflight.report();
    if (dialable === 0) return null;
    const input = { dialable, startsAt: this.#startAt };
    const { openAtOnce } = lookAhead(this.#rules, openingLines, input, usualAssumptions, null);
    const groups = this.#preflight.groups();
    return forecastCampaign(this.#rules, groups, this.#startAt, usualAssumptions, null, openAtOnce);
  }
}

/** The forecast, and below it what happened. */
export function renderComparison(
  rules: CampaignRules,
  forecast: CampaignForecast,
  timeline: Timeline,
  colour: boolean,
): string[] {
  const line = (label: string, ends: string, calls: number): string =>
    `  ${label.padEnd(12)} ${ends.padEnd(24)}${count(calls).padStart(10)}`;
  const { calls, answered } = totalsOf(timeline);
  const share = calls === 0 ? '' : `; here ${percent(answered / calls)} were`;
  return [
    pc.createColors(colour).bold('What carillon check forecasts, and what happened'),
    `  ${''.padEnd(12)} ${'ends'.padEnd(24)}${'calls'.padStart(10)}`,
    line('earliest', endText(forecast.earliest, rules.endsAt), forecast.calls.fewest),
    line('likely', endText(forecast.likely, rules.endsAt), forecast.calls.likely),
    line('slowest', endText(forecast.slowest, rules.endsAt), forecast.slowest.calls),
    line('rehearsed', timeline.endedAt === null ? 'not at its end' : instantText(timeline.endedAt), calls),
    `  Likely supposes that ${percent(forecast.assumptions.answerRate)} of the calls are answered${share}.`,
    ...(timeline.pauses.length === 0 ? [] : ['  Of the pauses below the forecast knows nothing.']),
    '',
  ];
}

/** The same for programs. */
export function comparisonJson(forecast: CampaignForecast, timeline: Timeline): object {
  const courseOf = ({ finishesAt, neverCalled, cutShort, calls }: CampaignForecast['likely']): object => ({
    endsAt: finishesAt === null ? null : new Date(finishesAt).toISOString(),
    calls,
    neverCalled,
    cutShort,
  });
  return {
    earliest: courseOf(forecast.earliest),
    likely: courseOf(forecast.likely),
    slowest: courseOf(forecast.slowest),
    assumptions: forecast.assumptions,
    rehearsed: {
      endsAt: timeline.endedAt === null ? null : new Date(timeline.endedAt).toISOString(),
      ...totalsOf(timeline),
    },
  };
}

function totalsOf({ hours }: Timeline): { calls: number; answered: number } {
  const sum = (key: 'calls' | 'answered'): number => hours.reduce((total, hour) => total + hour[key], 0);
  return { calls: sum('calls'), answered: sum('answered') };
}

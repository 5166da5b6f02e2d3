import pc from 'picocolors';
import type { CampaignForecast } from '../../preflight/campaign-forecast.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { instantText } from '../../input/instant.ts';
import { endText } from '../words/forecast.ts';
import { count, percent } from '../../input/figures.ts';
import type { Timeline } from './timeline.ts';

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
  const courseOf = ({ finishesAt: endsAt, neverCalled, cutShort, calls }: CampaignForecast['likely']): object => ({
    endsAt,
    calls,
    neverCalled,
    cutShort,
  });
  return {
    earliest: courseOf(forecast.earliest),
    likely: courseOf(forecast.likely),
    slowest: courseOf(forecast.slowest),
    assumptions: forecast.assumptions,
    rehearsed: { endsAt: timeline.endedAt, ...totalsOf(timeline) },
  };
}

function totalsOf({ hours }: Timeline): { calls: number; answered: number } {
  const sum = (key: 'calls' | 'answered'): number => hours.reduce((total, hour) => total + hour[key], 0);
  return { calls: sum('calls'), answered: sum('answered') };
}

import { attemptsChart, callerDaysChart, callersChart, daysChart, dispositionChart, weekChart } from '../charts/calls.ts';
import { renderChart, type Chart } from '../charts/chart.ts';
import { courseChart } from '../charts/timeline.ts';
import { countsChart, funnelChart } from '../charts/rows.ts';
import { html, type Html } from '../html/html.ts';
import { printable } from '../../shared/input/printable.ts';
import { causeText } from '../words/doubts.ts';
import type { ShownCampaign } from './report-data.ts';

/** Charts that answer one question about a campaign. */
export interface ChartGroup {
  title: string;
  charts: readonly Chart[];
  /** They need the whole width. */
  wide?: true;
}

/** What is told with charts, in the order of the questions that people ask. */
export function chartGroups(campaign: ShownCampaign): ChartGroup[] {
  const { funnel, course, day = [], week = [], attempt = [], caller = [], disposition = [] } = campaign;
  return [
    { title: 'Funnel', charts: [funnelChart(funnel)] },
    { title: 'Course', charts: [courseChart(course)], wide: true },
    { title: 'Calls by day', charts: [daysChart(day)] },
    { title: 'Answer rate by hour of the week', charts: [weekChart(week)], wide: true },
    { title: 'Attempts', charts: [attemptsChart(attempt)] },
    { title: 'Caller numbers', charts: [callersChart(caller), callerDaysChart(caller)] },
    { title: 'How calls and rows ended', charts: [dispositionChart(disposition), ...outcomeCharts(campaign)] },
    { title: 'Collected values', charts: valueCharts(campaign, 'collected') },
    { title: 'Evaluations', charts: valueCharts(campaign, 'evaluation') },
  ];
}

/** The groups as sections of a report; campaigns stand side by side in each. */
export function chartSections(campaigns: readonly ShownCampaign[]): Html[] {
  const [first = [], ...others] = campaigns.map((campaign) => chartGroups(campaign).map((group) => ({ ...group, campaign })));
  return first.map((group, index) => {
    const { title, wide } = group;
    const side = [group, ...others.flatMap((groups) => groups[index] ?? [])];
    return html`<section>
      <h2>${title}</h2>
      <div class="${wide === undefined ? 'side' : 'side wide'}">
        ${side.map(({ campaign, charts }) => ofCampaign(campaign, charts, { title, alone: campaigns.length === 1 }))}
      </div>
    </section>`;
  });
}

function ofCampaign({ campaignId }: ShownCampaign, charts: readonly Chart[], { title, alone }: { title: string; alone: boolean }): Html {
  const level = alone ? 'h3' : 'h4';
  return html`<div class="of">
    ${alone ? null : html`<h3>${campaignId}</h3>`} ${charts.length === 0 ? html`<p class="chart-note">None.</p>` : null}
    ${charts.map((chart) => renderChart(chart, chart.title === title ? null : level))}
  </div>`;
}

function outcomeCharts({ outcome = [], doubt = [] }: Pick<ShownCampaign, 'outcome' | 'doubt'>): Chart[] {
  const causes = doubt.map((line) => ({ ...line, value: causeText(line.value) }));
  return [
    countsChart('Outcomes of rows', { lines: outcome, unit: 'Rows' }),
    ...(causes.length === 0 ? [] : [countsChart('Unresolved rows', { lines: causes, unit: 'Rows', note: 'A person decides about them.' })]),
  ];
}

function valueCharts(campaign: ShownCampaign, kind: 'collected' | 'evaluation'): Chart[] {
  return Object.entries(campaign[kind] ?? {}).map(([key, lines]) =>
    countsChart(printable(key), { lines, unit: 'Calls', more: campaign.leftOut?.[`${kind}.${key}`] ?? 0 }),
  );
}

import {
  attemptsChart,
  callerDaysChart,
  callersChart,
  daysChart,
  dispositionChart,
  weekChart,
} from '../charts/calls.ts';
import { renderChart, type Chart } from '../charts/chart.ts';
import { courseChart } from '../charts/course.ts';
import { countsChart, funnelChart } from '../charts/rows.ts';
import { html, type Html } from '../html/html.ts';
import { printable } from '../input/printable.ts';
import { causeText } from '../words/doubts.ts';
import type { ShownCampaign } from './report-data.ts';

/** What is told with charts, in the order of the questions that people ask; campaigns stand side by side in each section. */
export function chartSections(campaigns: readonly ShownCampaign[]): Html[] {
  const section = (title: string, charts: (campaign: ShownCampaign) => readonly Chart[], wide = false): Html =>
    html`<section>
      <h2>${title}</h2>
      <div class="${wide ? 'side wide' : 'side'}">
        ${campaigns.map((campaign) => ofCampaign(campaign, charts(campaign), { title, alone: campaigns.length === 1 }))}
      </div>
    </section>`;
  return [
    section('Funnel', ({ funnel }) => [funnelChart(funnel)]),
    section('Course', ({ course }) => [courseChart(course)], true),
    section('Calls by day', ({ day = [] }) => [daysChart(day)]),
    section('Answer rate by hour of the week', ({ week = [] }) => [weekChart(week)], true),
    section('Attempts', ({ attempt = [] }) => [attemptsChart(attempt)]),
    section('Caller numbers', ({ caller = [] }) => [callersChart(caller), callerDaysChart(caller)]),
    section('How calls and rows ended', ({ disposition = [], ...campaign }) => [
      dispositionChart(disposition),
      ...outcomeCharts(campaign),
    ]),
    section('Collected values', (campaign) => valueCharts(campaign, 'collected')),
    section('Evaluations', (campaign) => valueCharts(campaign, 'evaluation')),
  ];
}

function ofCampaign(
  { campaignId }: ShownCampaign,
  charts: readonly Chart[],
  { title, alone }: { title: string; alone: boolean },
): Html {
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
    ...(causes.length === 0
      ? []
      : [countsChart('Unresolved rows', { lines: causes, unit: 'Rows', note: 'A person decides about them.' })]),
  ];
}

function valueCharts(campaign: ShownCampaign, kind: 'collected' | 'evaluation'): Chart[] {
  return Object.entries(campaign[kind] ?? {}).map(([key, lines]) =>
    countsChart(printable(key), { lines, unit: 'Calls', more: campaign.leftOut?.[`${kind}.${key}`] ?? 0 }),
  );
}

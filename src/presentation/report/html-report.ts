import { createHash } from 'node:crypto';
import { Html, html } from '../html/html.ts';
import { hatched } from '../html/icons.ts';
import { capital, plural } from '../../shared/input/figures.ts';
import { jsonText, printable } from '../../shared/input/printable.ts';
import { withInstants } from '../../shared/input/times.ts';
import { cut, details, type ReportData, type ReportedCampaign } from './report-data.ts';
import { countingSection, lawSection, summarySection, peopleSection, proofSection } from './facts.ts';
import { reportStyles } from './styles.ts';
import { attemptsChart, callerDaysChart, callersChart, daysChart, dispositionChart, weekChart } from '../charts/calls.ts';
import { renderChart, type Chart } from '../charts/chart.ts';
import { courseChart } from '../charts/timeline.ts';
import { countsChart, funnelChart } from '../charts/rows.ts';
import { describeEvent } from '../words/events.ts';
import { causeText } from '../words/needs.ts';
import { goalText } from '../words/campaign.ts';
import { reasonText, unreachedText } from '../words/causes.ts';

/** Keeps a report small enough for mail. */
export const mostReportBytes = 300_000;

/** Thrown when the chosen campaigns would make the file too large. */
export class ReportTooLargeError extends Error {
  override readonly name = 'ReportTooLargeError' as const;
  readonly isBadInput = true;
}

/** One HTML file without scripts or requests, with its data as JSON; unbounded tables are cut. Throws ReportTooLargeError. */
export function renderHtmlReport(data: ReportData): string {
  let bytes = 0;
  for (const detail of details) {
    const text = render(cut(data, detail));
    bytes = Buffer.byteLength(text);
    if (bytes <= mostReportBytes) return text;
  }
  throw new ReportTooLargeError(
    `The report of ${plural(data.campaigns.length, 'campaign')} would have ${Math.ceil(bytes / 1000)} KB, and ${mostReportBytes / 1000} KB is the most. Name fewer campaigns.`,
  );
}

/** Near the start of every report, so that a file is recognised as one. */
export const generator = 'Carillon report';

const stylesHash = createHash('sha256').update(reportStyles).digest('base64');
/** Safe wherever the file is opened: no script runs and nothing is loaded. */
const policy = `default-src 'none'; style-src 'sha256-${stylesHash}'; base-uri 'none'; form-action 'none'`;

function render(data: ReportData & { campaigns: ReportedCampaign[] }): string {
  const names = data.campaigns.map(({ campaignId }) => campaignId).join(', ');
  const made = new Date(data.madeAt).toISOString();
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="generator" content="${generator}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>Report: ${names}</title>
        <style>
          ${'styles'}
        </style>
      </head>
      <body>
        ${hatched}
        <header>
          <h1>Report: ${names}</h1>
          <p>
            Made on <time datetime="${made}">${made.slice(0, 16).replace('T', ' ')} UTC</time>.
            ${data.people === null ? 'It names no person.' : 'It names persons: hand it on with care.'}
          </p>
        </header>
        <main>
          ${summarySection(data)} ${chartSections(data.campaigns)} ${lawSection(data.campaigns)} ${proofSection(data.proof)}
          ${peopleSection(data.people)} ${countingSection()}
        </main>
        <script type="application/json" id="data">
          ${embedded(data)}
        </script>
      </body>
    </html>`;
  // Inserted byte for byte, since the policy contains its hash.
  return compact(document.text).replace(/<style>\s*styles\s*<\/style>/, () => `<style>${reportStyles}</style>`);
}

/** Template indentation would be a fifth of the file. */
function compact(text: string): string {
  return text.replaceAll(/>\s*\n\s*</g, '>\n<').replaceAll(/\n +/g, '\n');
}

/** Inside a script element only `<` could end it or begin a comment. */
function embedded({ people, ...data }: ReportData): Html {
  const value = people === null ? data : { ...data, people };
  return new Html(jsonText(withInstants(value)).replaceAll('<', String.raw`\u003c`));
}

export interface ChartGroup {
  title: string;
  charts: readonly Chart[];
  wide?: true;
}

/** Charts in the order of a reader's questions. */
export function chartGroups(campaign: ReportedCampaign): ChartGroup[] {
  const { funnel, course, day = [], week = [], attempt = [], caller = [], disposition = [] } = campaign;
  return [
    { title: 'Funnel', charts: [funnelChart(funnel)] },
    { title: 'Course', charts: [courseChart(course)], wide: true },
    { title: 'Calls by day', charts: [daysChart(day)] },
    { title: 'Answer rate by hour of the week', charts: [weekChart(week)], wide: true },
    { title: 'Attempts', charts: [attemptsChart(attempt)] },
    { title: 'Caller numbers', charts: [callersChart(caller), callerDaysChart(caller), ...changeCharts(campaign)] },
    { title: 'How calls and rows ended', charts: [dispositionChart(disposition), ...resultCharts(campaign), ...outcomeCharts(campaign)] },
    { title: 'Collected values', charts: valueCharts(campaign, 'collected') },
    { title: 'Evaluations', charts: valueCharts(campaign, 'evaluation') },
  ];
}

/** Changes during the campaign beside daily figures; none without changes. */
function changeCharts({ changes }: ReportedCampaign): Chart[] {
  const rows = changes.flatMap((event) => {
    const description = describeEvent(event);
    return description === null ? [] : [{ cells: [new Date(event.at).toISOString().slice(0, 16).replace('T', ' '), description] }];
  });
  if (rows.length === 0) return [];
  const note = 'What may lie behind another answer rate, by the clock of the service (UTC). What the carriers did is not known here.';
  return [{ title: 'What was changed', note, drawing: null, figures: { columns: ['When', 'What'], rows }, whenEmpty: '' }];
}

function chartSections(campaigns: readonly ReportedCampaign[]): Html[] {
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

function ofCampaign({ campaignId }: ReportedCampaign, charts: readonly Chart[], { title, alone }: { title: string; alone: boolean }): Html {
  const level = alone ? 'h3' : 'h4';
  return html`<div class="of">
    ${alone ? null : html`<h3>${campaignId}</h3>`} ${charts.length === 0 ? html`<p class="chart-note">None.</p>` : null}
    ${charts.map((chart) => renderChart(chart, chart.title === title ? null : level))}
  </div>`;
}

function resultCharts({ result = [], goal }: Pick<ReportedCampaign, 'result' | 'goal'>): Chart[] {
  const note = goal == null ? {} : { note: `${capital(goalText(goal.talks, 'talks'))}; ${goalText(goal.people, 'people called')}.` };
  const lines = result.map((line) => ({ ...line, value: reasonText(line.value) }));
  return result.length === 0 ? [] : [countsChart('What talks came to', { lines, unit: 'Talks', ...note })];
}

function outcomeCharts({ outcome = [], doubt = [], unreached = [] }: Pick<ReportedCampaign, 'outcome' | 'doubt' | 'unreached'>): Chart[] {
  const causes = doubt.map((line) => ({ ...line, value: causeText(line.value) }));
  const reasons = unreached.map((line) => ({ ...line, value: unreachedText(line.value) }));
  return [
    countsChart('Outcomes of rows', { lines: outcome, unit: 'Rows' }),
    ...(reasons.length === 0 ? [] : [countsChart('Rows that were not reached', { lines: reasons, unit: 'Rows' })]),
    ...(causes.length === 0 ? [] : [countsChart('Unresolved rows', { lines: causes, unit: 'Rows', note: 'A person decides about them.' })]),
  ];
}

function valueCharts(campaign: ReportedCampaign, kind: 'collected' | 'evaluation'): Chart[] {
  return Object.entries(campaign[kind] ?? {}).map(([key, lines]) =>
    countsChart(printable(key), { lines, unit: 'Calls', more: campaign.leftOut?.[`${kind}.${key}`] ?? 0 }),
  );
}

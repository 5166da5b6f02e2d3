import type { CampaignFile } from '../campaign/campaign-file.ts';
import type { DialForecast, PreflightReport, RejectionSummary, RenderedExample } from '../campaign/preflight.ts';
import { count, printable } from './printable.ts';

/** The report of `check` for people. */
export function renderPreflight(file: CampaignFile, report: PreflightReport, listNotes: readonly string[]): string {
  const name = file.name === null ? '' : ` (${printable(file.name)})`;
  const lines = [
    `Campaign  ${file.id}${name}`,
    `List      ${file.listPath}`,
    ...listNotes.map((note) => `          ${printable(note)}`),
    `Rows      ${count(report.rows)}: ${count(report.accepted)} accepted, ${count(report.rejected)} rejected`,
    ...renderRejections(report.rejections),
    ...renderExamples(report.examples),
    ...renderForecast(report),
    ...renderOpeningLines(report),
    '',
    renderVerdict(report),
  ];
  return `${lines.join('\n')}\n`;
}

function renderRejections(rejections: readonly RejectionSummary[]): string[] {
  if (rejections.length === 0) return [];
  const lines = rejections.flatMap(({ reason, count: times, examples }) => [
    `  ${reason.padEnd(18)}${count(times).padStart(9)}`,
    ...examples.map(({ row, line, column, hint }) => {
      const where = column === null ? '' : `, column ${JSON.stringify(column)}`;
      return `      row ${String(row)} (line ${String(line)})${where}: ${printable(hint)}`;
    }),
  ]);
  return ['', 'Rejected rows (never dialled; each stands in the results with its reason)', ...lines];
}

function renderExamples(examples: readonly RenderedExample[]): string[] {
  if (examples.length === 0) return [];
  const lines = examples.flatMap(({ row, e164, firstMessage, variables, override }) => [
    `  row ${String(row)}  ${e164}`,
    `      ${firstMessage === null ? "(the agent's own opening line)" : printable(firstMessage)}`,
    ...Object.entries(variables ?? {}).map(([name, value]) => `      ${name} = ${printable(value)}`),
    ...(override === undefined ? [] : [`      conversation_config_override = ${printable(JSON.stringify(override))}`]),
  ]);
  return ['', 'Examples', ...lines];
}

function renderForecast({ accepted, forecast }: PreflightReport): string[] {
  if (accepted === 0) return [];
  return ['', `If it started now (${new Date(forecast.at).toISOString()})`, ...renderForecastCounts(forecast)];
}

function renderForecastCounts(forecast: DialForecast): string[] {
  const lines = [`  may be dialled at once            ${count(forecast.open).padStart(9)}`];
  const add = (label: string, times: number, note: string): void => {
    if (times > 0) lines.push(`  ${label.padEnd(34)}${count(times).padStart(9)}  ${note}`);
  };
  const opening =
    forecast.nextOpeningAt === null ? '' : `the first from ${new Date(forecast.nextOpeningAt).toISOString()}`;
  add('outside their hours now', forecast.outsideHours, opening);
  add('time zone unknown, never dialled', forecast.unknownZone, 'fill the column that list.timezone names');
  add('no window before the end', forecast.neverOpens, 'too many time zones for the hours, or ends_at comes too soon');
  return lines;
}

function renderOpeningLines({ accepted, openingLines }: PreflightReport): string[] {
  if (accepted < 2) return [];
  if (openingLines.advice === null) return ['', 'Opening lines: every recipient has one of their own.'];
  const share = `${(openingLines.share * 100).toFixed(openingLines.share < 0.1 ? 1 : 0)} %`;
  return [
    '',
    `Opening lines: ${count(openingLines.shared)} recipients (${share}) share theirs with another.`,
    `  ${openingLines.advice}`,
  ];
}

function renderVerdict({ accepted, rejected }: PreflightReport): string {
  if (accepted === 0) return 'Cannot start: no row can be dialled.';
  const kept = rejected === 0 ? '' : ' Rejected rows do not stop it: they are kept and reported.';
  return `Ready to start. No call was placed.${kept}`;
}

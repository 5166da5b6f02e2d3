import { inks } from '../../../presentation/charts/inks.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import { dueParts, type ConsoleForecast } from './forecast.ts';

/** Where the rows of a campaign stand, as one bar, with the same in words. `forecast`: null while it is being read. */
export function progressBar(status: CampaignStatus, forecast: ConsoleForecast | null): Html {
  const { total, done, open, planned, waiting, outcomes, unresolved } = status;
  const completed = outcomes.completed ?? 0;
  const { ready, hour, today, later } = forecast === null ? { ready: waiting, hour: 0, today: 0, later: 0 } : dueParts(waiting, forecast);
  const parts = [
    ['good', completed],
    ['quiet', done - completed - unresolved],
    ['bad', unresolved],
    ['live', open + planned],
    ['', ready, inks.ready],
    ['', hour, inks.hour],
    ['', today, inks.today],
    ['', later, inks.later],
  ] as const;
  let left = 0;
  const bars = parts.map(([tone, rows, ink]) => {
    if (rows <= 0) return null;
    const width = (rows / Math.max(total, 1)) * 100;
    const bar = html`<rect
      class="${tone}"
      ${ink === undefined ? null : html`fill="${ink}"`}
      x="${left.toFixed(2)}"
      width="${width.toFixed(2)}"
      height="6"
    ></rect>`;
    left += width;
    return bar;
  });
  const due = inWords([[ready, 'now'], [hour, 'within the hour'], [today, 'later today'], [later, 'later']]); // prettier-ignore
  const words = inWords([
    [completed, 'completed'],
    [done - completed - unresolved, 'ended otherwise'],
    [unresolved, 'unresolved'],
    [open + planned, 'open'],
    [waiting, waiting === ready ? 'waiting' : `waiting (${due})`],
  ]);
  return html`<div class="progress">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
    <span>${words === '' ? 'no rows' : words}</span>
  </div>`;
}

function inWords(parts: readonly (readonly [rows: number, words: string])[]): string {
  const met = parts.filter(([rows]) => rows > 0);
  return met.map(([rows, words]) => `${rows.toLocaleString('en')} ${words}`).join(', ');
}

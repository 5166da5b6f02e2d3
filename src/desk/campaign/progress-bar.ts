import { html, type Html } from '../../html/html.ts';
import type { CampaignStatus } from '../../ledger/campaign/campaign-status.ts';

/** Where the rows of a campaign stand, as one bar, with the same in words. */
export function progressBar({ total, done, open, planned, waiting, outcomes, unresolved }: CampaignStatus): Html {
  const completed = outcomes.completed ?? 0;
  const parts = [
    ['good', completed, 'completed'],
    ['quiet', done - completed - unresolved, 'ended otherwise'],
    ['bad', unresolved, 'unresolved'],
    ['live', open + planned, 'open'],
    ['rest', waiting, 'waiting'],
  ] as const;
  const met = parts.filter(([, rows]) => rows > 0);
  let left = 0;
  const bars = met.map(([tone, rows]) => {
    const width = (rows / Math.max(total, 1)) * 100;
    const bar = html`<rect class="${tone}" x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="6"></rect>`;
    left += width;
    return bar;
  });
  const words = met.map(([, rows, word]) => `${rows.toLocaleString('en')} ${word}`);
  return html`<div class="progress">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
    <span>${words.length === 0 ? 'no rows' : words.join(', ')}</span>
  </div>`;
}

import type { Service } from '../core/service/service.ts';
import { stateOf, type CallState } from '../core/state/call.ts';
import { agentLink } from './call-words.ts';
import { count, empty, id, instant, link, panel, table, viewPath } from './elements.ts';
import { html, type Html } from './html.ts';
import type { View, ViewRequest } from './view.ts';

const mostBatches = 100;

interface Batch {
  batchId: string;
  agentId: string;
  phoneNumberId: string;
  acceptedAt: number;
  counts: Record<CallState, number>;
  all: number;
}

/** What was accepted in one request, and how far it has come. */
export function batchesView({ service, now }: ViewRequest): View {
  const batches = newestBatches(service, now);
  return {
    title: 'Batches',
    follows: ['batch'],
    body: panel(
      'Newest batches',
      batches.length === 0
        ? empty('No batch yet', html`Operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>, makes one.`)
        : table(
            'Newest batches',
            ['Batch', 'Progress', 'Calls', 'Agent', 'Caller number', 'Accepted'],
            batches.map((batch) => ({
              key: `batch-${batch.batchId}`,
              cells: [
                link(viewPath('calls', { batch: batch.batchId }), id(batch.batchId)),
                progress(batch),
                html`<span class="num">${batch.all.toLocaleString('en')}</span>`,
                agentLink(service, batch.agentId),
                service.state.numbers.get(batch.phoneNumberId)?.label ?? id(batch.phoneNumberId),
                instant(batch.acceptedAt, 'full'),
              ],
            })),
          ),
      html`<p class="aside">${count(batches.length, 'batch', 'batches')}</p>`,
    ),
  };
}

/** The newest first. A batch is known by its calls. */
function newestBatches({ state }: Service, now: number): Batch[] {
  const batches = new Map<string, Batch>();
  for (let index = state.calls.length - 1; index >= 0; index -= 1) {
    const call = state.calls[index];
    if (call === undefined || call.batchId === null) continue;
    let batch = batches.get(call.batchId);
    if (batch === undefined) {
      if (batches.size === mostBatches) break;
      const { batchId, agentId, phoneNumberId, acceptedAt } = call;
      const counts = { queued: 0, dialing: 0, in_progress: 0, processing: 0, done: 0, failed: 0 };
      batch = { batchId, agentId, phoneNumberId, acceptedAt, counts, all: 0 };
      batches.set(batchId, batch);
    }
    batch.counts[stateOf(call, now)] += 1;
    batch.all += 1;
  }
  return [...batches.values()];
}

function progress({ counts, all }: Batch): Html {
  const parts = [
    ['good', counts.done, 'done'],
    ['bad', counts.failed, 'failed'],
    ['wait', counts.processing, 'processing'],
    ['live', counts.dialing + counts.in_progress, 'live'],
    ['quiet', counts.queued, 'waiting'],
  ] as const;
  let left = 0;
  const bars = parts.map(([tone, number]) => {
    const width = (number / all) * 100;
    const bar = html`<rect class="${tone}" x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="6"></rect>`;
    left += width;
    return number === 0 ? null : bar;
  });
  const words = parts
    .filter(([, number]) => number > 0)
    .map(([, number, word]) => `${number.toLocaleString('en')} ${word}`);
  return html`<div class="progress">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
    <span>${words.join(', ')}</span>
  </div>`;
}

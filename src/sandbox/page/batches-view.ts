import type { Service } from '../core/service/service.ts';
import { stateOf, type CallState } from '../core/state/call.ts';
import { agentLink } from './call-words.ts';
import { aside, count, empty, figure, id, instant, link, panel, table, viewPath } from './elements.ts';
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
      table(
        'Newest batches',
        batches.map((batch) => ({
          key: `batch-${batch.batchId}`,
          cells: {
            Batch: link(viewPath('calls', { batch: batch.batchId }), id(batch.batchId)),
            Progress: progress(batch),
            Calls: figure(batch.all),
            Agent: agentLink(service, batch.agentId),
            'Caller number': service.state.numbers.get(batch.phoneNumberId)?.label ?? id(batch.phoneNumberId),
            Accepted: instant(batch.acceptedAt, 'full'),
          },
        })),
        empty('No batch yet', html`Operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>, makes one.`),
      ),
      aside(count(batches.length, 'batch', 'batches')),
    ),
  };
}

/** The newest first. A batch is known by its calls. */
function newestBatches({ state }: Service, now: number): Batch[] {
  const batches = new Map<string, Batch>();
  for (const call of state.calls.toReversed()) {
    if (call.batchId === null) continue;
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
  const met = parts.filter(([, number]) => number > 0);
  const bars = met.map(([tone, number]) => {
    const width = (number / all) * 100;
    const bar = html`<rect class="${tone}" x="${left.toFixed(2)}" width="${width.toFixed(2)}" height="6"></rect>`;
    left += width;
    return bar;
  });
  const words = met.map(([, number, word]) => `${number.toLocaleString('en')} ${word}`);
  return html`<div class="progress">
    <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
    <span>${words.join(', ')}</span>
  </div>`;
}

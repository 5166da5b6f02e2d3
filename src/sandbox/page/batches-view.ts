import { aside, count, empty, figure, id, instant, link, panel, table } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import { callsByBatch } from '../core/state/batch.ts';
import { countStates, type CallState } from '../core/state/call.ts';
import { agentLink } from './call-words.ts';
import { viewPath, type View, type ViewRequest } from './elements.ts';

const mostBatches = 100;

export function batchesView({ service, now }: ViewRequest): View {
  // A batch is known by its calls.
  const batches = callsByBatch(service.state.calls.toReversed()).slice(0, mostBatches);
  return {
    title: 'Batches',
    follows: ['batch'],
    body: panel(
      'Newest batches',
      table(
        'Newest batches',
        batches.map(([batchId, calls]) => {
          const [{ agentId, phoneNumberId, acceptedAt }] = calls;
          const cells = {
            Batch: link(viewPath('calls', { batch: batchId }), id(batchId)),
            Progress: progress(countStates(calls, now), calls.length),
            Calls: figure(calls.length),
            Agent: agentLink(service, agentId),
            'Caller number': service.state.numbers.get(phoneNumberId)?.label ?? id(phoneNumberId),
            Accepted: instant(acceptedAt, 'full'),
          };
          return { key: `batch-${batchId}`, cells };
        }),
        empty('No batch yet', html`Operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>, makes one.`),
      ),
      aside(count(batches.length, 'batch', 'batches')),
    ),
  };
}

function progress(counts: Record<CallState, number>, all: number): Html {
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

import { aside, bar, count, empty, figure, id, instant, link, panel, table } from '../../presentation/html/elements.ts';
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
            Progress: progress(countStates(calls, now)),
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

function progress(counts: Record<CallState, number>): Html {
  const parts = [
    ['reached', counts.done, 'done'],
    ['decide', counts.failed, 'failed'],
    ['unreached', counts.processing, 'processing'],
    ['calling', counts.dialing + counts.in_progress, 'live'],
    ['waiting', counts.queued, 'waiting'],
  ] as const;
  const words = parts.filter(([, number]) => number > 0).map(([, number, word]) => `${number.toLocaleString('en')} ${word}`);
  return html`<div class="progress">${bar(parts.map(([tone, number]) => [tone, number]))} <span>${words.join(', ')}</span></div>`;
}

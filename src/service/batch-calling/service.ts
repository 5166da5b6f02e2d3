import { jsonOf, parseBody } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { isRecord } from '../http/refusal-detail.ts';
import { pathOf } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import type { CallReport, CallRequest, CallService, ServiceReads } from '../port/call-service.ts';
import { BadResponseError } from '../port/errors.ts';
import { batch, recipient } from './schemas.ts';
import { findMarked, listBatches } from './find-marked.ts';
import { nameOf, placeOnce, recipientOf } from './submission.ts';

/** Where batches are, below the root of all operations. */
export const collection = 'batch-calling';

/**
 * Calls in batches of the published interface: the service tells where each recipient is, gives back a batch whole, and lists batches under
 * their names, by which one whose answer was lost is found. Its operation to call again who was not reached is never used.
 */
export function batchCallingService(transport: Transport, reads: ServiceReads): CallService {
  return {
    abilities: { lookUp: 'mark', namesRecipients: true, withdraw: 'batch' },
    place: (request, once) =>
      placeOnce(transport, { path: `/${collection}/submit`, body: bodyOf(request) }, once, (success) => {
        const { id } = parseBody(success, batch);
        if (id === null) throw new BadResponseError(success.request, success.status, ['no id of the batch']);
        return id;
      }),
    find: (post) => findMarked(transport, post),
    batches: (agentId) => listBatches(transport, agentId),
    async report(serviceBatchId) {
      const success = await transport.read(pathOf('GET', collection, serviceBatchId));
      const body = jsonOf(success);
      const page = readPage(body, 'recipients');
      const again = (batch.parse(isRecord(body) ? body : {}).retry_count ?? 0) > 0 ? ({ again: true } as const) : {};
      if (page !== undefined && page.hasMore !== true) return page.items.map((entry) => ({ ...readRecipient(entry), ...again }));
      throw new BadResponseError(success.request, success.status, ['no list of all recipients in it']);
    },
    // The batch is given back whole: `refs` have no say.
    async withdraw(serviceBatchId) {
      await transport.write({ method: 'POST', path: `${pathOf('POST', collection, serviceBatchId)}/cancel`, body: null });
    },
    ...reads,
  };
}

/** The body of a request to dial. */
export function bodyOf(request: CallRequest): Readonly<Record<string, unknown>> {
  const { agentId, callerId, concurrency, calls } = request;
  return {
    call_name: nameOf(request),
    agent_id: agentId,
    agent_phone_number_id: callerId,
    ...(concurrency === null ? {} : { target_concurrency_limit: concurrency }),
    recipients: calls.map(recipientOf),
  };
}

function readRecipient(entry: unknown): CallReport {
  return recipient.parse(isRecord(entry) ? entry : {});
}

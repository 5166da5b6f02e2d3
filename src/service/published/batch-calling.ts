import { z } from 'zod';
import { jsonOf, parseBody } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { pathOf, root } from '../http/paths.ts';
import type { Success, Transport } from '../http/transport.ts';
import type { CallReport, CallRequest, CallService, Found, ListedBatch, ServiceReads } from '../port/call-service.ts';
import { BadResponseError, RefusedError } from '../port/errors.ts';
import { orderOf, type LookUpTrial, type TrialCall } from '../port/lookup-trial.ts';
import {
  bodyOf,
  e164,
  foundOf,
  isFarAhead,
  isNamed,
  isTakenBack,
  listFault,
  runLookUp,
  orNull,
  pagesOf,
  placeOnce,
  putOff,
  readAll,
  readEntry,
  serviceId,
  submission,
  trialRequest,
  unixSeconds,
  type List,
  type PublishedApi,
} from './parts.ts';

const collection = 'batch-calling';
const all: List = { path: `${root}/${collection}/workspace`, key: 'batch_calls', size: 'limit', cursor: 'last_doc', next: 'next_doc' };

const batch = z.looseObject({
  id: orNull(serviceId),
  name: orNull(z.string()),
  created_at_unix: orNull(unixSeconds),
  scheduled_time_unix: orNull(unixSeconds),
  retry_count: orNull(z.number()),
});

const states: Readonly<Record<string, CallReport['state']>> = {
  pending: 'waiting',
  dispatched: 'waiting',
  initiated: 'dialling',
  in_progress: 'talking',
  completed: 'over',
  failed: 'over',
  voicemail: 'over',
  cancelled: 'withdrawn',
};

/** One recipient of a batch, as a `CallReport`. */
const recipient = z
  .looseObject({ id: orNull(z.string()), phone_number: orNull(e164), status: orNull(z.string()), conversation_id: orNull(serviceId) })
  .transform(({ id, phone_number: to, status, conversation_id: conversationId }): CallReport => {
    const state = status === null ? null : (states[status] ?? null);
    // `failed` also covers busy and no answer; a record, if there is one, has more.
    const result = status === 'voicemail' || status === 'failed' ? status : null;
    return { ref: id, to, state, conversationId, result };
  });

const dialOf = (request: CallRequest) => bodyOf(request, { agent_phone_number_id: request.callerId });
/** The batch in a 2xx answer. Throws BadResponseError without an id. */
function madeBy(success: Success): { id: string; scheduled: number | null } {
  const { id, scheduled_time_unix: scheduled } = parseBody(success, batch);
  if (id === null) throw new BadResponseError(success.request, success.status, ['no id of the batch']);
  return { id, scheduled };
}

const cancelPath = (id: string) => `${pathOf('POST', collection, id)}/cancel`;

/**
 * The service reports each recipient, withdraws whole batches, and lists them by name, which finds one whose answer was lost. Its operation
 * to retry unreached recipients is never used.
 */
function serviceOver(transport: Transport, reads: ServiceReads): CallService {
  return {
    abilities: { lookUp: 'mark', namesRecipients: true, withdraw: 'batch' },
    place: (request, once) => placeOnce(transport, submission(collection, dialOf(request)), once, (success) => madeBy(success).id),
    find: (post) => findMarked(transport, post),
    batches: (agentId) => listBatches(transport, agentId),
    async report(serviceBatchId) {
      const success = await transport.read(pathOf('GET', collection, serviceBatchId));
      const body = jsonOf(success);
      const page = readPage(body, 'recipients');
      const again = (readEntry(batch, body).retry_count ?? 0) > 0 ? ({ again: true } as const) : {};
      if (page !== undefined && page.hasMore !== true) return page.items.map((entry) => ({ ...readEntry(recipient, entry), ...again }));
      throw new BadResponseError(success.request, success.status, ['no list of all recipients in it']);
    },
    // `refs` is ignored.
    async withdraw(serviceBatchId) {
      await transport.write({ method: 'POST', path: cancelPath(serviceBatchId), body: null });
    },
    ...reads,
  };
}

/** Clock differences and rounding may list a batch as this much older than its request. */
const toleranceMs = 5 * 60_000;

interface Sought {
  mark: string;
  agentId: string;
  since: number;
}

/**
 * Reads the agent's batches, newest first to before `since`, or all if in another order. A possible match that cannot be read gives
 * `not_readable`.
 */
async function findMarked(transport: Transport, sought: Sought): Promise<Found> {
  return runLookUp(async () => {
    const { ids, isWhole } = await scanForMark(transport, sought);
    return foundOf([...ids]) ?? (isWhole ? { kind: 'absent', certain: false } : { kind: 'not_readable' });
  });
}

async function scanForMark(transport: Transport, { mark, agentId, since }: Sought): Promise<{ ids: Set<string>; isWhole: boolean }> {
  const ids = new Set<string>();
  const horizon = (since - toleranceMs) / 1_000;
  let [previous, isOrdered, isReadable, hasFallen] = [Infinity, true, true, false];
  for await (const { items, isLast } of pagesOf(transport, all, { agent_id: agentId })) {
    for (const { id, name, created_at_unix: created } of items.map((entry) => readEntry(batch, entry))) {
      isOrdered &&= created !== null && created <= previous;
      hasFallen ||= created !== null && created < previous && previous !== Infinity;
      previous = created ?? previous;
      if (name !== null && !isNamed(name, mark)) continue;
      if (name !== null && id !== null) ids.add(id);
      // Without a name it may be the match, unless it is older; without an id it cannot be read.
      else isReadable &&= name === null && created !== null && created < horizon;
    }
    // A list that starts with its oldest never shows a falling time.
    if (isLast || (isOrdered && hasFallen && previous < horizon)) return { ids, isWhole: isReadable };
  }
  return { ids, isWhole: false };
}

/** Throws ServiceError, also when the list cannot be read to its end or a batch has no id or name. */
async function* listBatches(transport: Transport, agentId?: string): AsyncGenerator<ListedBatch> {
  for (const entry of await readAll(transport, all, { agent_id: agentId })) {
    const { id, name, retry_count: retries } = readEntry(batch, entry);
    if (id === null || name === null) throw listFault(all, 'a batch without id or name in it');
    yield { id, name, retries };
  }
}

function trialOver(transport: Transport, reads: ServiceReads, call: TrialCall): LookUpTrial {
  const service = serviceOver(transport, reads);
  return {
    async schedule() {
      const success = await transport.write(submission(collection, putOff(dialOf(trialRequest(call)), call.now)));
      const { id, scheduled } = madeBy(success);
      return { id, isAhead: isFarAhead(scheduled, call.now) };
    },
    async listed() {
      const found = await findMarked(transport, { ...call, since: call.now });
      return found.kind === 'accepted' ? found.serviceBatchId : null;
    },
    async order() {
      const page = readPage(jsonOf(await transport.read(all.path, { agent_id: call.agentId })), all.key, all.next);
      return orderOf((page?.items ?? []).map((entry) => readEntry(batch, entry).created_at_unix));
    },
    repeat: async () => null,
    takeBackPath: cancelPath,
    async takeBack(id) {
      try {
        if (!(await isTakenBack(service, id))) return 'its recipient is not cancelled';
        await transport.write({ method: 'DELETE', path: pathOf('DELETE', collection, id), body: null });
        await service.report?.(id);
        return 'it is cancelled, and still there after it was deleted';
      } catch (error) {
        if (error instanceof RefusedError && error.status === 404) return null;
        throw error;
      }
    },
  };
}

/** The batch calling interface. */
export const batchCalling: PublishedApi = { listPath: all.path, service: serviceOver, trial: trialOver };

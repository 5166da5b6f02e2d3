import type { z } from 'zod';
import { encodeBody, jsonOf, parseBody, parseBodyIfAny } from '../http/bodies.ts';
import { iteratePages, readPage, splitUsable, type Page } from '../http/pagination.ts';
import { pathOf, root } from '../http/paths.ts';
import { readDate, type Success, type Transport, type WriteRequest } from '../http/transport.ts';
import { BadResponseError, RequestInvalidError } from '../port/errors.ts';
import { openConnection, type ConvaiClientOptions } from './connection.ts';
import * as requests from './schemas.ts';
import * as responses from './schemas.ts';
import type { ServiceDate, ServiceReadings } from '../port/service-clock.ts';

/** Options of operations that read a whole list (2, 7 and 11). */
export interface ListOptions {
  /** Called for each page with unusable entries, with their count; they are left out. */
  onUnusable?: (entries: number) => void;
}

/** One page of operation 7, with unusable entries apart. */
export interface ConversationPage {
  conversations: responses.ConversationEntry[];
  /** Raw entries that do not fit the contract. They may belong to any call. */
  unusable: unknown[];
  /** Null: not stated. */
  hasMore: boolean | null;
  nextCursor: string | null;
  serviceDate: ServiceDate | null;
}

/** Answer of operation 14: the service accepted the batch. It does not map conversations to calls. */
export interface BatchPlaced {
  batchId: string;
  /** Calls the service says it queued; may be fewer than sent. */
  callsInitiated: number;
  serviceDate: ServiceDate | null;
}

/** Options of operation 14. Sent at most once: the service has no idempotency key. */
export interface PlaceBatchOptions {
  /** Sent as `x-request-id`. */
  requestId: string;
  /** Called once, when body and connection are ready; false aborts unsent. */
  mayBegin: () => boolean;
  /** Called just before the first byte is written. */
  onSending?: () => void;
}

/**
 * The 14 operations of the service. Failures are a `ServiceError` whose `knowledge` states the known effect. POST, PATCH and DELETE are
 * sent once, reads at most twice, 429 apart (`retriesAfter429`); redirects are not followed.
 */
export type ConvaiClient = ReturnType<typeof createConvaiClient>;

const largestPage = 100;

/**
 * A client of one service with one key. Throws ServiceOptionsError when an option cannot be used.
 *
 * @example
 * ```ts
 * import { createConvaiClient } from 'carillon/convai';
 *
 * const client = createConvaiClient({ baseUrl: 'http://127.0.0.1:4010', apiKey: 'sk_sandbox_ok' });
 * for await (const { agent_id, name } of client.listAgents()) console.log(agent_id, name);
 * await client.close();
 * ```
 */
export function createConvaiClient(options: ConvaiClientOptions) {
  return clientOver(openConnection(options));
}

/** The operations over an open connection; `close` closes it. */
export function clientOver(transport: Transport) {
  const get = async <Schema extends z.ZodType>(path: string, schema: Schema, query?: Record<string, string>) =>
    parseBody(await transport.read(path, query), schema);

  /** Updates and deletions may be answered without a body. */
  const send = async (request: Omit<WriteRequest, 'body'>, schema?: z.ZodType, body?: unknown): Promise<Success> => {
    const facts = { ...request, requestId: request.requestId ?? null };
    return transport.write({ ...request, body: schema === undefined ? null : encodeBody(facts, schema, body) });
  };

  const readList = async (
    path: string,
    key: string,
    query?: Record<string, string | undefined>,
  ): Promise<{ page: Page<unknown>; success: Success }> => {
    const success = await transport.read(path, query);
    const page = readPage(jsonOf(success), key);
    if (page !== undefined) return { page, success };
    throw new BadResponseError(success.request, success.status, [`no list in it, neither bare nor under "${key}"`]);
  };

  /** `onUnusable` gets the count of entries that do not fit the schema. */
  const getList = async <Schema extends z.ZodType>(
    path: string,
    key: string,
    schema: Schema,
    { onUnusable }: ListOptions,
    query?: Record<string, string | undefined>,
  ): Promise<Page<z.output<Schema>>> => {
    const { page } = await readList(path, key, query);
    const { usable, unusable } = splitUsable(page.items, schema);
    if (unusable.length > 0) onUnusable?.(unusable.length);
    return { ...page, items: usable };
  };

  const listConversationsPage = async (
    filter: { agentId?: string; cursor?: string; pageSize?: number } = {},
  ): Promise<ConversationPage> => {
    const query = {
      agent_id: filter.agentId,
      cursor: filter.cursor,
      page_size: String(filter.pageSize ?? largestPage),
    };
    const { page, success } = await readList(`${root}/conversations`, 'conversations', query);
    const { hasMore, nextCursor } = page;
    const { usable: conversations, unusable } = splitUsable(page.items, responses.conversationEntry);
    return { conversations, unusable, hasMore, nextCursor, serviceDate: serviceDateOf(success) };
  };

  return {
    async createAgent(body: requests.CreateAgentRequest): Promise<responses.AgentCreated> {
      const success = await send({ method: 'POST', path: `${root}/agents` }, requests.createAgentRequest, body);
      return parseBody(success, responses.agentCreated);
    },

    /** All pages in the service's order, without unusable entries; ends like `listConversations`. */
    listAgents(options: ListOptions = {}): AsyncIterable<responses.AgentSummary> {
      return iteratePages(async (cursor) => {
        const query = { cursor: cursor ?? undefined, page_size: String(largestPage) };
        return getList(`${root}/agents`, 'agents', responses.agentSummary, options, query);
      });
    },

    async getAgent(agentId: string): Promise<responses.Agent> {
      return get(pathOf('GET', 'agents', agentId), responses.agent);
    },

    /** Changes only the fields sent: null clears one, lists are replaced. Null when the service confirms without a body. */
    async updateAgent(agentId: string, body: requests.UpdateAgentRequest): Promise<responses.Agent | null> {
      const path = pathOf('PATCH', 'agents', agentId);
      return parseBodyIfAny(await send({ method: 'PATCH', path }, requests.updateAgentRequest, body), responses.agent);
    },

    /** Permanent. Numbers assigned to the agent are no longer answered. */
    async deleteAgent(agentId: string): Promise<void> {
      await send({ method: 'DELETE', path: pathOf('DELETE', 'agents', agentId) });
    },

    async getConversation(conversationId: string): Promise<responses.ConversationRecord> {
      const record = await get(pathOf('GET', 'conversations', conversationId), responses.conversationRecord);
      return { ...record, conversation_id: record.conversation_id ?? conversationId };
    },

    listConversationsPage,

    /**
     * Without unusable entries, in the service's order. Ends silently when it cannot page on: no cursor, a repeated one, or too many empty
     * pages.
     */
    listConversations(filter: { agentId?: string } & ListOptions = {}): AsyncIterable<responses.ConversationEntry> {
      const { onUnusable, ...pageFilter } = filter;
      return iteratePages(async (cursor) => {
        const page = await listConversationsPage(cursor === null ? pageFilter : { ...pageFilter, cursor });
        if (page.unusable.length > 0) onUnusable?.(page.unusable.length);
        return { items: page.conversations, hasMore: page.hasMore, nextCursor: page.nextCursor };
      });
    },

    /** Permanent: deletes audio, transcript and all data. */
    async deleteConversation(conversationId: string): Promise<void> {
      await send({ method: 'DELETE', path: pathOf('DELETE', 'conversations', conversationId) });
    },

    /** A credential: a single-use, short-lived `wss://` address. */
    async getSignedUrl(agentId: string): Promise<string> {
      const answer = await get(`${root}/conversation/get-signed-url`, responses.signedUrl, { agent_id: agentId });
      return answer.signed_url;
    },

    /** A credential: a short-lived token for WebRTC. */
    async getConversationToken(agentId: string): Promise<string> {
      return (await get(`${root}/conversation/token`, responses.conversationToken, { agent_id: agentId })).token;
    },

    /** Without unusable entries, so a number missing here may still exist. */
    async listPhoneNumbers(options: ListOptions = {}): Promise<responses.PhoneNumber[]> {
      return (await getList(`${root}/phone-numbers`, 'phone_numbers', responses.phoneNumber, options)).items;
    },

    async importPhoneNumber(body: requests.ImportPhoneNumberRequest): Promise<responses.PhoneNumberImported> {
      const request = { method: 'POST', path: `${root}/phone-numbers` } as const;
      return parseBody(await send(request, requests.importPhoneNumberRequest, body), responses.phoneNumberImported);
    },

    /** Applies to new calls at once. Null when the service confirms without a body. */
    async assignPhoneNumber(phoneNumberId: string, body: requests.AssignPhoneNumberRequest): Promise<responses.UpdatedPhoneNumber | null> {
      const path = pathOf('PATCH', 'phone-numbers', phoneNumberId);
      const success = await send({ method: 'PATCH', path }, requests.assignPhoneNumberRequest, body);
      return parseBodyIfAny(success, responses.updatedPhoneNumber);
    },

    /**
     * Dials people. Not idempotent, never retried: only `knowledge` `not_sent`, `queued_nothing` or `refused` of the error proves that no
     * call was queued.
     */
    async placeBatchCalls(body: requests.BatchCallsRequest, options: PlaceBatchOptions): Promise<BatchPlaced> {
      const request = { method: 'POST', path: `${root}/phone-numbers/batch-calls`, dials: true, ...options } as const;
      if (!/^[\x21-\x7e]+$/.test(options.requestId)) {
        throw new RequestInvalidError({ ...request, requestId: null }, ['the request id, which a header cannot carry']);
      }
      const success = await send(request, requests.batchCallsRequest, body);
      const placed = parseBody(success, responses.batchCallsPlaced);
      return { batchId: placed.batch_id, callsInitiated: placed.calls_initiated, serviceDate: serviceDateOf(success) };
    },

    /** The service's clock, as read from all answers of this client, refusals included. */
    clockReadings: (): ServiceReadings => transport.clockReadings(),

    /** Aborts reads, waits for writes; later calls are refused unsent. */
    close: (): Promise<void> => transport.close(),
  };
}

function serviceDateOf(success: Success): ServiceDate | null {
  const serverMs = readDate(success.headers);
  return serverMs === null ? null : { serverMs, sentAtMs: success.sentAtMs, receivedAtMs: success.receivedAtMs };
}

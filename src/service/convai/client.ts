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
  /** Told of each page that has entries which do not fit the contract how many it has. They are left out. */
  onUnusable?: (entries: number) => void;
}

/** One page of operation 7, with the entries that do not fit the contract apart. */
export interface ConversationPage {
  conversations: responses.ConversationEntry[];
  /** Entries that do not fit the contract, as they came: what they are of is not known, so they may be of any call. */
  unusable: unknown[];
  /** Null when the list does not say. */
  hasMore: boolean | null;
  nextCursor: string | null;
  serviceDate: ServiceDate | null;
}

/** Answer of operation 14: the service accepted the batch. It does not say which conversation belongs to which call. */
export interface BatchPlaced {
  batchId: string;
  /** Calls that the service says it queued; may be less than were sent. */
  callsInitiated: number;
  serviceDate: ServiceDate | null;
}

/** Options of operation 14. The request is sent at most once; the service has no idempotency key. */
export interface PlaceBatchOptions {
  /** Sent as `x-request-id`. */
  requestId: string;
  /** Asked once, when the body is built and the connection stands; false ends it with nothing sent. */
  mayBegin: () => boolean;
  /** Called just before the first byte is written. */
  onSending?: () => void;
}

/**
 * The 14 operations of the service. Every failure is a `ServiceError` whose `knowledge` says what is known about its
 * effect. POST, PATCH and DELETE are sent once and reads at most twice, 429 apart (`retriesAfter429`); redirects are not followed.
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

/** The operations over a connection that is open; `close` closes it. */
export function clientOver(transport: Transport) {
  const get = async <Schema extends z.ZodType>(path: string, schema: Schema, query?: Record<string, string>) =>
    parseBody(await transport.read(path, query), schema);

  /** Updates and deletions may answer with nothing at all. */
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

  /** The entries of a list that fit its schema; `onUnusable` is told how many do not. */
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

    /** All pages, in the service's order, without the entries that cannot be used; ends as `listConversations` does. */
    listAgents(options: ListOptions = {}): AsyncIterable<responses.AgentSummary> {
      return iteratePages(async (cursor) => {
        const query = { cursor: cursor ?? undefined, page_size: String(largestPage) };
        return getList(`${root}/agents`, 'agents', responses.agentSummary, options, query);
      });
    },

    async getAgent(agentId: string): Promise<responses.Agent> {
      return get(pathOf('GET', 'agents', agentId), responses.agent);
    },

    /** Changes only the fields that are sent; null clears one, lists are replaced. Null when the service confirms without a body. */
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
     * All pages, in the service's order, without the entries that cannot be used. Ends silently where the list cannot be followed: no
     * cursor, or one seen before.
     */
    listConversations(filter: { agentId?: string } & ListOptions = {}): AsyncIterable<responses.ConversationEntry> {
      const { onUnusable, ...wanted } = filter;
      return iteratePages(async (cursor) => {
        const page = await listConversationsPage(cursor === null ? wanted : { ...wanted, cursor });
        if (page.unusable.length > 0) onUnusable?.(page.unusable.length);
        return { items: page.conversations, hasMore: page.hasMore, nextCursor: page.nextCursor };
      });
    },

    /** Permanent: audio, transcript and all data of the conversation. */
    async deleteConversation(conversationId: string): Promise<void> {
      await send({ method: 'DELETE', path: pathOf('DELETE', 'conversations', conversationId) });
    },

    /** A single-use, short-lived `wss://` address: a credential. */
    async getSignedUrl(agentId: string): Promise<string> {
      const answer = await get(`${root}/conversation/get-signed-url`, responses.signedUrl, { agent_id: agentId });
      return answer.signed_url;
    },

    /** A short-lived token for WebRTC: a credential. */
    async getConversationToken(agentId: string): Promise<string> {
      return (await get(`${root}/conversation/token`, responses.conversationToken, { agent_id: agentId })).token;
    },

    /** Without the entries that cannot be used: a number that is not among them may still be one of those. */
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
     * Dials people. Not idempotent and never repeated here: only `knowledge` `not_sent`, `queued_nothing` or `refused` of
     * the error proves that no call was queued.
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

    /** What the answers to all requests of this client, refusals too, told of the service's clock. */
    clockReadings: (): ServiceReadings => transport.clockReadings(),

    /** Ends reads under way and waits for writes; later calls are refused unsent. */
    close: (): Promise<void> => transport.close(),
  };
}

function serviceDateOf(success: Success): ServiceDate | null {
  const serverMs = readDate(success.headers);
  return serverMs === null ? null : { serverMs, sentAtMs: success.sentAtMs, receivedAtMs: success.receivedAtMs };
}

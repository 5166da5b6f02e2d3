import { z } from 'zod';
import { jsonOf } from '../http/bodies.ts';
import { readPage } from '../http/pagination.ts';
import { root } from '../http/paths.ts';
import { isRecord } from '../http/refusal-detail.ts';
import type { Success, Transport } from '../http/transport.ts';
import {
  placingOf,
  type CallRequest,
  type CallService,
  type Found,
  type Placing,
  type RequestedCall,
  type SendOnce,
  type ServiceReads,
} from '../port/call-service.ts';
import { BadResponseError, RateLimitedError, RefusedError, ServiceError } from '../port/errors.ts';
import type { LookUpTrial, TrialCall } from '../port/lookup-trial.ts';
import { storableId } from '../port/record-values.ts';

/** One interface of the published API. */
export interface PublishedApi {
  /** A list whose first page may be read at any time; this places no call. */
  listPath: string;
  service: (transport: Transport, reads: ServiceReads) => CallService;
  trial: (transport: Transport, reads: ServiceReads, call: TrialCall) => LookUpTrial;
}

// Any field of an answer may be missing; a value that is not as published counts as missing.

/** Null for a missing or unfit value. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/** An id from the service. */
export const serviceId = z.string().min(1).transform(storableId);
/** A recipient's number, in E.164. */
export const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/);
/** A time in Unix seconds. */
export const unixSeconds = z.number().positive();

/** A list entry, read by its schema; a non-object has only nulls. */
export function readEntry<Schema extends z.ZodType>(schema: Schema, entry: unknown): z.output<Schema> {
  return schema.parse(isRecord(entry) ? entry : {});
}

/** Name of a request in the service; ends with the mark, which `find` looks for. */
export function nameOf({ title, mark }: Pick<CallRequest, 'title' | 'mark'>): string {
  return `${title} · ${mark}`;
}

/** True when the name has this mark. */
export function isNamed(name: string, mark: string): boolean {
  return name.endsWith(` · ${mark}`);
}

/** The variable that always carries the attempt's reference. */
const referenceVariable = 'carillon_ref';

/** The reference is id, user and variable: any one that the service keeps identifies the call. */
function recipientOf({ ref, to, override, variables }: RequestedCall): Readonly<Record<string, unknown>> {
  return {
    id: ref,
    phone_number: to,
    conversation_initiation_client_data: {
      user_id: ref,
      dynamic_variables: { ...variables, [referenceVariable]: ref },
      ...(override === null ? {} : { conversation_config_override: override }),
    },
  };
}

/** `own`: further fields of the interface. */
export function bodyOf(request: Omit<CallRequest, 'variablesKey'>, own: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { agentId, concurrency, calls } = request;
  return {
    call_name: nameOf(request),
    agent_id: agentId,
    ...own,
    ...(concurrency === null ? {} : { target_concurrency_limit: concurrency }),
    recipients: calls.map(recipientOf),
  };
}

/** A request that dials, or may. */
export function submission(path: string, body: unknown) {
  return { method: 'POST', path: `${root}/${path}/submit`, body: Buffer.from(JSON.stringify(body)), dials: true } as const;
}

/** `idOf` reads the service's id from a 2xx answer and throws without one. */
export async function placeOnce(
  transport: Transport,
  request: ReturnType<typeof submission>,
  { requestId, mayBegin }: SendOnce,
  idOf: (success: Success) => string,
): Promise<Placing> {
  try {
    const success = await transport.write({ ...request, requestId, mayBegin });
    const serviceMs = success.request.serviceMs ?? null;
    return { kind: 'accepted', serviceBatchId: storableId(idOf(success)), accepted: null, serviceMs };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const placing = placingOf(error, isAboutWholeRequest);
    if (placing.kind !== 'refused' || !(error instanceof RefusedError)) return placing;
    return { ...placing, message: explainRefusal(error) ?? placing.message };
  }
}

/**
 * Smaller requests help only with a recipient; not with a key, agent, plan, missing path, or forbidden override, which concern every
 * recipient.
 */
function isAboutWholeRequest({ status, detail: { fields } }: RefusedError): boolean {
  if (status !== 400 && status !== 422) return true;
  const isAboutRecipient = (path: string) => /(^|\.)recipients(\.|\[|$)/.test(path) && !path.includes('conversation_config_override');
  return fields.length > 0 && !fields.some(({ path }) => isAboutRecipient(path));
}

/** Advice on a refusal whose text does not explain it; null when it does. */
function explainRefusal({ status, path, detail }: RefusedError): string | null {
  if (status === 401) return 'The service refuses the key (401): set SVC_API_KEY to a key of this service, and SVC_API to its interface.';
  if (status === 403)
    return 'The service does not permit calls (403): check what the key may do, and whether the account has accepted the terms of calls in batches.';
  const isPathItself = status === 405 || (status === 404 && detail.code === null && detail.fields.length === 0);
  return isPathItself ? `The service has no POST ${path} (${status}): check SVC_API and SVC_BASE_URL.` : null;
}

/** A list: its key in an answer, and its paging fields. */
export interface List {
  path: string;
  key: string;
  size: string;
  cursor: string;
  next: string;
}

const pageSize = 100;

/** Pages after which a list is not followed further. */
const mostPages = 1_000;

/** Pages of a list; none is the last when it cannot be followed. */
export async function* pagesOf(
  transport: Transport,
  { path, key, size, cursor, next }: List,
  query: Readonly<Record<string, string | undefined>>,
): AsyncGenerator<{ items: unknown[]; isLast: boolean }> {
  const cursors = new Set<string>();
  let limit: number | null = pageSize;
  for (let pages = 0; pages < mostPages; pages += 1) {
    const read = (most: number | null) =>
      transport.read(path, { ...query, [size]: most === null ? undefined : String(most), [cursor]: [...cursors].at(-1) });
    // The longest page size is not published.
    const success = await read(limit).catch((error: unknown) => {
      if (limit === null || !(error instanceof RefusedError && error.status === 422)) throw error;
      limit = null;
      return read(limit);
    });
    const page = readPage(jsonOf(success), key, next);
    if (page === undefined) return;
    const { items, hasMore, nextCursor } = page;
    const isLast = hasMore === false || (hasMore === null && nextCursor === null && items.length < (limit ?? 1));
    yield { items, isLast };
    if (isLast || nextCursor === null || cursors.has(nextCursor)) return;
    cursors.add(nextCursor);
  }
}

/** The error for an unusable list. */
export function listFault({ path }: List, problem: string): BadResponseError {
  return new BadResponseError({ method: 'GET', path, requestId: null }, 200, [problem]);
}

/** Throws BadResponseError unless the list is read to its end, so a missing entry is really absent. */
export async function readAll(transport: Transport, list: List, query: Record<string, string | undefined> = {}): Promise<unknown[]> {
  const all: unknown[] = [];
  let isList = false;
  for await (const { items, isLast } of pagesOf(transport, list, query)) {
    isList = true;
    all.push(...items);
    if (isLast) return all;
  }
  throw listFault(list, isList ? `"${list.key}" cannot be read to its end` : `no list under "${list.key}"`);
}

/** Runs a look-up; a failure of the service becomes `not_readable`. */
export async function runLookUp(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { retryAfterMs = null } = error instanceof RateLimitedError ? error : {};
    return { kind: 'not_readable', ...(retryAfterMs === null ? {} : { retryAfterMs }) };
  }
}

/** The look-up result for these batch ids; null: none. */
export function foundOf([first, ...others]: readonly string[]): Found | null {
  if (first === undefined) return null;
  return others.length > 0 ? { kind: 'several', serviceBatchIds: [first, ...others] } : { kind: 'accepted', serviceBatchId: first };
}

const daySeconds = 86_400;

/** The request of a trial, with its only call. */
export function trialRequest({ mark, agentId, callerId, to }: TrialCall): CallRequest {
  const calls = [{ ref: `trial:${mark}`, to, override: null, variables: null }];
  return { mark, title: 'trial of the look-up, calls nobody', agentId, callerId, variablesKey: null, concurrency: 1, calls };
}

/** Schedules a body 30 days after `now` (ms). */
export function putOff(body: object, now: number) {
  return { ...body, scheduled_time_unix: Math.floor(now / 1_000) + 30 * daySeconds };
}

/** True when it is scheduled more than a day ahead, time enough to withdraw it. */
export function isFarAhead(scheduled: number | null, now: number): boolean {
  return scheduled !== null && scheduled > now / 1_000 + daySeconds;
}

/** Withdraws a whole batch. True when no recipient of it can be called any more. */
export async function isTakenBack(service: CallService, id: string): Promise<boolean> {
  await service.withdraw?.(id, 'all');
  return ((await service.report?.(id)) ?? []).every(({ state }) => state === 'withdrawn');
}

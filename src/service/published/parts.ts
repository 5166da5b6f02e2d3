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
  /** A list whose first page may be asked for at any time: it calls nobody. */
  listPath: string;
  service: (transport: Transport, reads: ServiceReads) => CallService;
  trial: (transport: Transport, reads: ServiceReads, call: TrialCall) => LookUpTrial;
}

// Every field of an answer may be missing, and a value that is not as published counts as missing.

/** What is there and fits; null otherwise. */
export function orNull<Schema extends z.ZodType>(schema: Schema) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/** An id that the service gave. */
export const serviceId = z.string().min(1).transform(storableId);
/** A number to call. */
export const e164 = z.string().regex(/^\+[1-9]\d{1,14}$/);
/** An instant. */
export const unixSeconds = z.number().positive();

/** An entry of a list, read by its schema; what is no object has nothing but nulls. */
export function readEntry<Schema extends z.ZodType>(schema: Schema, entry: unknown): z.output<Schema> {
  return schema.parse(isRecord(entry) ? entry : {});
}

/** The name under which the service shows a request: the mark stands at its end, where `find` looks for it. */
export function nameOf({ title, mark }: Pick<CallRequest, 'title' | 'mark'>): string {
  return `${title} · ${mark}`;
}

/** Whether a request with this mark has the name. */
export function isNamed(name: string, mark: string): boolean {
  return name.endsWith(` · ${mark}`);
}

/** The variable that carries the attempt's reference, whatever else a call is given. */
const referenceVariable = 'carillon_ref';

/** A person to call: our reference is the id, the user and a variable, so that whichever of them is kept names the call. */
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

/** The body of a request to dial; `own`: what the interface has besides. */
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

/** Sends a request to dial, once. `idOf` reads the id that the service gave it from an answer of success, and throws where it has none. */
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
 * Smaller requests mend what the service says of a recipient; not a key, an agent, a plan, a path that is not there, or settings that an
 * agent does not let a call change, which stand with every recipient.
 */
function isAboutWholeRequest({ status, detail: { fields } }: RefusedError): boolean {
  if (status !== 400 && status !== 422) return true;
  const isAboutRecipient = (path: string) => /(^|\.)recipients(\.|\[|$)/.test(path) && !path.includes('conversation_config_override');
  return fields.length > 0 && !fields.some(({ path }) => isAboutRecipient(path));
}

/** What to do about a refusal whose words do not say it; null where they do. */
function explainRefusal({ status, path, detail }: RefusedError): string | null {
  if (status === 401) return 'The service refuses the key (401): set SVC_API_KEY to a key of this service, and SVC_API to its interface.';
  if (status === 403)
    return 'The service does not permit calls (403): check what the key may do, and whether the account has accepted the terms of calls in batches.';
  const isPathItself = status === 405 || (status === 404 && detail.code === null && detail.fields.length === 0);
  return isPathItself ? `The service has no POST ${path} (${status}): check SVC_API and SVC_BASE_URL.` : null;
}

/** A list of the service: its key in an answer, and what the fields are called by which it is read on. */
export interface List {
  path: string;
  key: string;
  size: string;
  cursor: string;
  next: string;
}

const pageSize = 100;

/** Pages after which a list is one of its own making. */
const mostPages = 1_000;

/** The pages of a list; without a last one where it cannot be followed. */
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
    // How long a page may be is not published.
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

/** Why a list of the service cannot be used. */
export function listFault({ path }: List, problem: string): BadResponseError {
  return new BadResponseError({ method: 'GET', path, requestId: null }, 200, [problem]);
}

/** All entries of a list. Throws where it cannot be read to its end: an entry that is not there must not be there. */
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

/** What a look-up comes to: a service that fails while it is asked can tell nothing. */
export async function lookUp(find: () => Promise<Found>): Promise<Found> {
  try {
    return await find();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { retryAfterMs = null } = error instanceof RateLimitedError ? error : {};
    return { kind: 'not_readable', ...(retryAfterMs === null ? {} : { retryAfterMs }) };
  }
}

/** What these ids of batches are found to be; null: there are none. */
export function foundOf([first, ...others]: readonly string[]): Found | null {
  if (first === undefined) return null;
  return others.length > 0 ? { kind: 'several', serviceBatchIds: [first, ...others] } : { kind: 'accepted', serviceBatchId: first };
}

const daySeconds = 86_400;

/** The only call of a trial, as a request. */
export function trialRequest({ mark, agentId, callerId, to }: TrialCall): CallRequest {
  const calls = [{ ref: `trial:${mark}`, to, override: null, variables: null }];
  return { mark, title: 'trial of the look-up, calls nobody', agentId, callerId, variablesKey: null, concurrency: 1, calls };
}

/** A body put off to 30 days after `now`, in milliseconds. */
export function putOff(body: object, now: number) {
  return { ...body, scheduled_time_unix: Math.floor(now / 1_000) + 30 * daySeconds };
}

/** Whether a service has put it off so far that there is time to take it back. */
export function isFarAhead(scheduled: number | null, now: number): boolean {
  return scheduled !== null && scheduled > now / 1_000 + daySeconds;
}

/** Takes a batch back whole. Answers whether no recipient of it can be called any more. */
export async function isTakenBack(service: CallService, id: string): Promise<boolean> {
  await service.withdraw?.(id, 'all');
  return ((await service.report?.(id)) ?? []).every(({ state }) => state === 'withdrawn');
}

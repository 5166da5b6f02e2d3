import { Readable } from 'node:stream';
import type { Config } from '../../shared/config.ts';
import { isLoopback, keyHeaders } from '../../rules/service-api.ts';
import { RefusedError } from '../../service/port/errors.ts';
import type { ServiceRecord } from '../../service/port/call-service.ts';
import { foreseen, codeOf } from '../../shared/input/errors.ts';
import { findCallConversation } from '../../ledger/read/result-rows.ts';
import type { Control } from './control.ts';
import { requireCampaign } from './ledger.ts';
import { explainServiceFault, requireApiKey, ServiceUnusableError, withService } from './service.ts';

/** Thrown when there is no such call, or nothing was recorded of it. */
export class NoRecordError extends foreseen('NoRecordError', true) {}

/** Thrown while a call, or its processing by the service, goes on. */
export class CallOpenError extends foreseen('CallOpenError', false) {}

/** A call of a row, from 1. */
export interface NamedCall {
  campaignId: string;
  row: number;
  call: number;
}

export interface CallIds {
  campaignId: string;
  recipientId: string;
  attemptId: string;
}

/** The service's record of an ended call. Throws UnknownCampaignError, NoRecordError, CallOpenError and as `withService`. */
export async function readCallRecord(
  { config, store }: Pick<Control, 'config' | 'store'>,
  named: NamedCall,
): Promise<{ ids: CallIds; record: ServiceRecord }> {
  const { campaignId } = await requireCampaign(store, named.campaignId);
  const what = `call ${named.call} of row ${named.row} of campaign ${campaignId}`;
  const found = await findCallConversation(store.db, { ...named, campaignId });
  if (found === undefined) throw new NoRecordError(`There is no ${what}.`);
  const { conversationId, isOpen, isComplete, gone, recipientId, attemptId } = found;
  if (isOpen || (conversationId !== null && !isComplete && !gone))
    throw new CallOpenError(`The record of ${what} is not complete yet. Ask again later.`);
  if (conversationId === null) throw new NoRecordError(`No conversation is known to be that of ${what}.`);
  if (gone) throw new NoRecordError(`The service has deleted the record of ${what}.`);
  const record = await withService(
    waitedFor(config),
    (service) => service.record(conversationId),
    (error) =>
      error instanceof RefusedError && error.status === 404
        ? new NoRecordError(`The service has deleted the record of ${what}.`, { cause: error })
        : explainServiceFault(config, error),
  );
  return { ids: { campaignId, recipientId, attemptId }, record };
}

export interface Recording {
  ids: CallIds;
  /** Such as audio/wav; null when the service declares no audio. */
  type: string | null;
  /** 206: the requested part. */
  status: 200 | 206;
  /** Range headers, as sent by the service. */
  headers: Record<string, string>;
  body: Readable;
}

const answerLimitMs = 10_000;

/** Shortens timeouts, since a user waits. */
function waitedFor(config: Config): Config {
  const { SVC_CONNECT_TIMEOUT_MS: connectMs, SVC_HEADERS_TIMEOUT_MS: headersMs } = config;
  return {
    ...config,
    SVC_CONNECT_TIMEOUT_MS: Math.min(connectMs, answerLimitMs),
    SVC_HEADERS_TIMEOUT_MS: Math.min(headersMs, answerLimitMs),
  };
}

const partHeaders = ['accept-ranges', 'content-length', 'content-range'] as const;
const connectLimitMs = 30_000;

/**
 * An ended call's recording. `known`: its record, if already read. `range`: the request's header, so that a player may skip. The API key is
 * sent to the service's own address only. Throws as `readCallRecord`, NoRecordError without a recording, and ServiceUnusableError.
 */
export async function openRecording(
  control: Control,
  { range, known, ...named }: NamedCall & { range?: string | undefined; known?: Awaited<ReturnType<typeof readCallRecord>> },
): Promise<Recording> {
  const { config } = control;
  const { ids, record } = known ?? (await readCallRecord(control, named));
  const { audio } = record.facts;
  const what = `call ${named.call} of row ${named.row} of campaign ${named.campaignId}`;
  if (audio === null) throw new NoRecordError(`There is no recording of ${what}.`);
  const url = URL.canParse(audio) ? new URL(audio) : null;
  if (url === null || (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url))))
    throw new ServiceUnusableError(`The address of the recording of ${what} cannot be used: it is no https:// one.`);
  const isOwn = url.origin === new URL(config.SVC_BASE_URL).origin;
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(), connectLimitMs);
  try {
    const answer = await fetch(url, {
      headers: {
        ...(isOwn ? { [keyHeaders[config.SVC_API]]: requireApiKey(config) } : {}),
        ...(range === undefined ? {} : { range }),
      },
      redirect: isOwn ? 'error' : 'follow',
      signal: connecting.signal,
    });
    if (answer.status === 404) throw new NoRecordError(`The service has no recording of ${what}.`);
    if (answer.status === 416) throw new NoRecordError(`The recording of ${what} has no part ${range ?? 'like this'}.`);
    const status = ([200, 206] as const).find((known) => known === answer.status);
    if (status === undefined || answer.body === null)
      throw new ServiceUnusableError(`The service refuses the recording of ${what} (${answer.status}).`);
    const type = /^audio\/[\w.+-]+/.exec(answer.headers.get('content-type') ?? '')?.[0] ?? null;
    const headers = partHeaders.flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null || answer.headers.has('content-encoding') ? [] : [[name, value] as const];
    });
    return { ids, type, status, headers: Object.fromEntries(headers), body: Readable.fromWeb(answer.body) };
  } catch (error) {
    if (error instanceof NoRecordError || error instanceof ServiceUnusableError) throw error;
    throw new ServiceUnusableError(`The recording of ${what} cannot be fetched (${codeOf(error) ?? 'no answer'}).`, {
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

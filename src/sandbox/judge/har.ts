import { STATUS_CODES } from 'node:http';
import type { ToldCapture } from './captures.ts';
import type { JournalEntry } from './journal.ts';

type NameValue = { name: string; value: string };

/** Exchanges as an HTTP archive, version 1.2. Times are service time; `_` marks what the format does not know. */
export function toHar(
  exchanges: { entry: JournalEntry; told: ToldCapture }[],
  { baseUrl, version }: { baseUrl: string; version: string },
): unknown {
  return {
    log: {
      version: '1.2',
      creator: { name: 'carillon sandbox', version },
      entries: exchanges.map(({ entry, told }) => toHarEntry(entry, told, baseUrl)),
    },
  };
}

function toHarEntry(entry: JournalEntry, { request, reply }: ToldCapture, baseUrl: string): unknown {
  const url = new URL(entry.path, baseUrl);
  const time = entry.durationMs ?? 0;
  return {
    startedDateTime: new Date(entry.at).toISOString(),
    time,
    request: {
      method: entry.method,
      url: `${baseUrl}${entry.path}`,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: request.headers,
      queryString: [...url.searchParams].map(([name, value]) => ({ name, value })),
      ...(request.text === null
        ? {}
        : { postData: { mimeType: valueOf(request.headers, 'content-type'), params: [], text: request.text } }),
      headersSize: -1,
      bodySize: request.length,
    },
    response: {
      // As browsers write it where no reply came.
      status: reply === null ? 0 : (entry.status ?? 0),
      statusText: reply === null ? '' : (STATUS_CODES[entry.status ?? 0] ?? ''),
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: reply?.headers ?? [],
      content: {
        size: reply?.length ?? 0,
        mimeType: valueOf(reply?.headers ?? [], 'content-type'),
        ...(reply?.text == null ? {} : { text: reply.text }),
        ...(reply?.cut === true ? { comment: 'The text is cut at 16,384 characters.' } : {}),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    _sequence: entry.sequence,
    _operation: entry.operation,
    _faults: entry.faults,
    _ending: entry.ending,
  };
}

function valueOf(headers: NameValue[], name: string): string {
  return headers.find((header) => header.name === name)?.value ?? '';
}

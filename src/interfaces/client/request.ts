import { setTimeout as pause } from 'node:timers/promises';
import { filledPath, type Operation, type Route } from '../../operations/operation.ts';

/** Where the API is, and as whom it is asked. */
export interface CarillonClientOptions {
  /** Where `carillon serve` listens, such as `http://127.0.0.1:4080`; may have a path prefix. */
  baseUrl: string;
  /** Of `carillon token create`. Sent in the header `authorization` and nowhere else. */
  token: string;
}

/** What a method was given: parameters of the path and files by name beside these three. */
export type AnyInput = { query?: object; body?: unknown; key?: string } & Record<string, unknown>;

const mostTries = 3;
const firstPauseMs = 200;
const longestPauseMs = 30_000;

/** The address of a request. Throws TypeError for a parameter of the path that is missing. */
export function addressOf({ baseUrl }: CarillonClientOptions, route: Route, input: AnyInput): URL {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${filledPath(route, input)}`);
  for (const [name, value] of Object.entries(input.query ?? {}))
    for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
  return url;
}

/** Sends a request. Reads, and changes by their key, are tried three times at most. Throws CarillonProblem and CarillonUnreachable. */
export async function sendRequest(
  options: CarillonClientOptions,
  { route, kind }: Pick<Operation, 'route' | 'kind'>,
  input: AnyInput,
): Promise<unknown> {
  const url = addressOf(options, route, input);
  const key = kind === 'change' ? (input.key ?? crypto.randomUUID()) : null;
  const { headers, body } = contentOf(input);
  const init: RequestInit = {
    method: route.split(' ')[0] ?? '',
    headers: {
      authorization: `Bearer ${options.token}`,
      ...headers,
      ...(key === null ? {} : { 'idempotency-key': key }),
    },
    // The token is for this address alone.
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  };
  for (let tries = 1; ; tries += 1) {
    const isLast = kind === 'ask' || tries === mostTries;
    const pauseMs = firstPauseMs * 2 ** (tries - 1);
    const response = await fetch(url, init).catch((cause: unknown) => {
      if (isLast) throw new CarillonUnreachable(route, { key, tries, cause });
      return null;
    });
    if (response === null) {
      await pause(pauseMs);
      continue;
    }
    if (response.ok && kind === 'download') return response;
    // An answer that breaks off is none.
    const text = await response.text().catch((cause: unknown) => {
      if (isLast) throw new CarillonUnreachable(route, { key, tries, cause });
      return null;
    });
    if (text !== null && response.ok) return parseAnswer(route, response.status, text);
    if (text !== null) {
      const problem = await problemOfAnswer(route, new Response(text, { status: response.status }));
      const waitMs = retryAfterMs(response) ?? pauseMs;
      const mayPass = [429, 503].includes(problem.status) || (problem.status === 409 && problem.code === 'under_way');
      if (isLast || !mayPass || waitMs > longestPauseMs) throw problem;
      await pause(waitMs);
    } else await pause(pauseMs);
  }
}

/** Files go as a form, a body as JSON. */
function contentOf(input: AnyInput): { headers: Record<string, string>; body: FormData | string | undefined } {
  const files = Object.entries(input).filter((entry): entry is [string, Blob] => entry[1] instanceof Blob);
  if (files.length > 0) {
    const body = new FormData();
    for (const [name, file] of files) body.append(name, file, name);
    return { headers: {}, body };
  }
  if (input.body === undefined) return { headers: {}, body: undefined };
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(input.body) };
}

function parseAnswer(route: Route, status: number, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const detail = 'The answer is not JSON; look at baseUrl and at what stands before the server.';
    throw new CarillonProblem(route, { status, code: 'not_carillon', detail }, { cause });
  }
}

/** Null: the answer does not say, or not in seconds. */
function retryAfterMs({ headers }: Response): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d+$/.test(text) ? Number(text) * 1000 : null;
}

/** Facts of a refusal. */
interface Refusal {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { path: string; message: string }[];
  differs?: readonly string[];
}

/** Thrown when Carillon refuses a request, in the terms of its problem details. The message has the detail; no token is in it. */
export class CarillonProblem extends Error {
  override readonly name = 'CarillonProblem' as const;
  readonly status: number;
  /** What a program may go by, such as `unknown_campaign`; `not_carillon` when something else answered, such as a proxy. */
  readonly code: string;
  /** What is wrong, and what to do. */
  readonly detail: string;
  /** Every field that cannot be used; empty where none is named. */
  readonly errors: NonNullable<Refusal['errors']>;
  /** Of `key_reused`: what the first request with the key had otherwise, such as `body.numbers`; else empty. */
  readonly differs: NonNullable<Refusal['differs']>;

  constructor(route: string, { status, code, detail, errors = [], differs = [] }: Refusal, options?: ErrorOptions) {
    super(`${route} was refused (${status}, ${code}): ${detail}`, options);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.differs = differs;
  }
}

/** Thrown when no whole answer came. A change may have been carried out: the same call with the same `key` says so, and repeats nothing. */
export class CarillonUnreachable extends Error {
  override readonly name = 'CarillonUnreachable' as const;
  /** The Idempotency-Key of the change; null: the request has none. */
  readonly key: string | null;

  constructor(route: string, { key, tries, cause }: { key: string | null; tries: number; cause: unknown }) {
    const advice = key === null ? '' : ' It may have been carried out: call again with the key of this error.';
    super(`${route} got no answer (${tries} ${tries === 1 ? 'try' : 'tries'}).${advice}`, { cause });
    this.key = key;
  }
}

/** The refusal in an answer. One that is not Carillon's is named so, and not quoted. */
export async function problemOfAnswer(route: string, response: Response): Promise<CarillonProblem> {
  const { status } = response;
  const body = (await response.json().catch(() => null)) as Partial<Refusal> | null;
  if (typeof body?.code !== 'string' || typeof body.detail !== 'string') {
    const detail = 'The answer is not one of Carillon; look at baseUrl and at what stands before the server.';
    return new CarillonProblem(route, { status, code: 'not_carillon', detail });
  }
  return new CarillonProblem(route, { ...body, status, code: body.code, detail: body.detail });
}

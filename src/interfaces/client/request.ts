import { setTimeout as pause } from 'node:timers/promises';
import { filledPath, type Operation, type Route } from '../../operations/operation.ts';

/** Address of the API, and the token to use. */
export interface CarillonClientOptions {
  /** Where `carillon serve` listens, such as `http://127.0.0.1:4080`; may have a path prefix. */
  baseUrl: string;
  /** From `carillon token create`. Sent only in the header `authorization`. */
  token: string;
}

/** Input of a method: path parameters and files by name beside these three. */
export type AnyInput = { query?: object; body?: unknown; key?: string } & Record<string, unknown>;

const mostTries = 3;
const firstPauseMs = 200;
const longestPauseMs = 30_000;

/** Address of a request. Throws TypeError for a missing path parameter. */
export function addressOf({ baseUrl }: CarillonClientOptions, route: Route, input: AnyInput): URL {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${filledPath(route, input)}`);
  for (const [name, value] of Object.entries(input.query ?? {}))
    for (const each of [value].flat()) if (each !== undefined) url.searchParams.append(name, String(each));
  return url;
}

/** Reads, and changes by their key, are tried at most three times. Throws CarillonProblem and CarillonUnreachable. */
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
    // A redirect must not get the token.
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
    // A truncated answer counts as none.
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

/** Null: no header, or not in seconds. */
function retryAfterMs({ headers }: Response): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d+$/.test(text) ? Number(text) * 1000 : null;
}

interface Refusal {
  status: number;
  code: string;
  detail: string;
  errors?: readonly { path: string; message: string }[];
  differs?: readonly string[];
}

/** Thrown when Carillon refuses a request; has its problem details. The message has the detail, and never a token. */
export class CarillonProblem extends Error {
  override readonly name = 'CarillonProblem' as const;
  readonly status: number;
  /** For programs, such as `unknown_campaign`; `not_carillon` when something else answered, such as a proxy. */
  readonly code: string;
  /** Cause and remedy. */
  readonly detail: string;
  /** Invalid fields; empty if none is named. */
  readonly errors: NonNullable<Refusal['errors']>;
  /** For `key_reused`: differences from the first request with the key, such as `body.numbers`; else empty. */
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

/** Thrown without a complete answer. A change may have been applied: the same call with the same `key` shows this, and repeats nothing. */
export class CarillonUnreachable extends Error {
  override readonly name = 'CarillonUnreachable' as const;
  /** Idempotency-Key of the change; null: none. */
  readonly key: string | null;

  constructor(route: string, { key, tries, cause }: { key: string | null; tries: number; cause: unknown }) {
    const advice = key === null ? '' : ' It may have been carried out: call again with the key of this error.';
    super(`${route} got no answer (${tries} ${tries === 1 ? 'try' : 'tries'}).${advice}`, { cause });
    this.key = key;
  }
}

/** The refusal in an answer. A foreign answer is named as such, and not quoted. */
export async function problemOfAnswer(route: string, response: Response): Promise<CarillonProblem> {
  const { status } = response;
  const body = (await response.json().catch(() => null)) as Partial<Refusal> | null;
  if (typeof body?.code !== 'string' || typeof body.detail !== 'string') {
    const detail = 'The answer is not one of Carillon; look at baseUrl and at what stands before the server.';
    return new CarillonProblem(route, { status, code: 'not_carillon', detail });
  }
  return new CarillonProblem(route, { ...body, status, code: body.code, detail: body.detail });
}

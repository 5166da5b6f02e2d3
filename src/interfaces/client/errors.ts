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

/** The refusal in an answer. What did not come from Carillon is told as such, and not quoted. */
export async function problemOfAnswer(route: string, response: Response): Promise<CarillonProblem> {
  const { status } = response;
  const body = (await response.json().catch(() => null)) as Partial<Refusal> | null;
  if (typeof body?.code !== 'string' || typeof body.detail !== 'string') {
    const detail = 'The answer is not one of Carillon; look at baseUrl and at what stands before the server.';
    return new CarillonProblem(route, { status, code: 'not_carillon', detail });
  }
  return new CarillonProblem(route, { ...body, status, code: body.code, detail: body.detail });
}

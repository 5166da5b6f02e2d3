/** Location, problem, and the value unless it is secret. */
export interface FieldError {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: unknown;
}

export interface ServiceErrorFacts {
  type: string;
  code: string;
  /** Repeats `code` when omitted, for clients of the older shape. */
  status?: string | undefined;
  param?: string | undefined;
  headers?: Record<string, string>;
}

const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'authorization_error',
  404: 'not_found',
  409: 'conflict',
  429: 'rate_limit_error',
  500: 'server_error',
};

/** Answered as `{"detail": {...}}`. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError' as const;
  readonly status: number;
  readonly facts: ServiceErrorFacts;

  /** The type follows from the status unless given. */
  constructor(status: number, message: string, facts: Omit<ServiceErrorFacts, 'type'> & { type?: string }) {
    super(message);
    this.status = status;
    this.facts = { type: typeOfStatus[status] ?? 'invalid_request', ...facts };
  }
}

/** Answered as 422 with `{"detail": [...]}`. */
export class InvalidRequest extends Error {
  override readonly name = 'InvalidRequest' as const;
  readonly fields: FieldError[];

  constructor(fields: FieldError[]) {
    super(fields.map((field) => `${field.loc.join('.')}: ${field.msg}`).join('; '));
    this.fields = fields;
  }
}

export function notFound(what: string, id: string, param?: string): ServiceError {
  const message = `No ${what} with the id "${id}" exists; it may have been deleted.`;
  return new ServiceError(404, message, { code: `${what.replaceAll(' ', '_')}_not_found`, param });
}

export function existing<Thing>(thing: Thing | undefined, what: string, id: string, param?: string): Thing {
  if (thing === undefined) throw notFound(what, id, param);
  return thing;
}

export function conflict(code: string, message: string, param?: string): ServiceError {
  return new ServiceError(409, message, { code, param });
}

/** Body of every refusal except 422. */
export function errorBody(message: string, facts: ServiceErrorFacts, requestId: string): unknown {
  const { type, code, param, status = code } = facts;
  return { detail: { type, code, message, status, request_id: requestId, ...(param === undefined ? {} : { param }) } };
}

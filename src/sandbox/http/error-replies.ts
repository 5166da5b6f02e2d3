import type { Dialect } from '../core/dialects.ts';
import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FaultRuleError } from '../faults/rule.ts';
import { allowedMethods } from '../core/operations.ts';
import { errorBody, InvalidRequest, ServiceError } from '../core/service-error.ts';

/** An object in `detail`, or for 422 an array with one entry per field. */
export function answerErrors(app: FastifyInstance, dialect: Dialect): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply, dialect));
  app.setNotFoundHandler((request, reply) => answerError(notServed(request, dialect), request, reply, dialect));
}

function notServed({ url, method }: FastifyRequest, dialect: Dialect): ServiceError {
  const pathname = url.split('?')[0] ?? '';
  const message = `Nothing is served at ${pathname}. Operations are under /v1/convai, the sandbox's own controls under /_sandbox.`;
  return methodRefused(method, pathname, dialect) ?? new ServiceError(404, message, { code: 'route_not_found' });
}

/** Null when the path has this method, or is unknown. */
export function methodRefused(method: string, pathname: string, dialect: Dialect): ServiceError | null {
  const allowed = allowedMethods(pathname, dialect);
  if (allowed.length === 0 || allowed.includes(method)) return null;
  const message = `${method} is not allowed on ${pathname}; use ${allowed.join(' or ')}.`;
  const headers = { allow: allowed.join(', ') };
  return new ServiceError(405, message, { code: 'method_not_allowed', headers });
}

/** Paths that cannot be decoded bypass the pipeline. */
export function answerUnroutable(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const facts = { type: 'invalid_request', code: 'bad_request' };
  void reply
    .header('x-sandbox', '1')
    .code(400)
    .send(errorBody(error.message, facts, newErrorId()));
}

type UnreadableError = Error & { code?: string | undefined; rawPacket?: unknown };

/** For input that is not HTTP. */
export function answerUnreadable(error: UnreadableError, socket: Socket, dialect: Dialect): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  socket.end(refusalOnWire(whyUnreadable(error, dialect)));
}

function whyUnreadable({ code, rawPacket }: UnreadableError, dialect: Dialect): ServiceError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ServiceError(408, 'The request took too long to come; send it at once.', { code: 'request_timeout' });
  // A method unknown to the parser, such as BREW, in an otherwise well-formed request.
  const start = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 2_000) : '';
  const line = /^([A-Z][A-Z-]{1,30}) (\/[^ ?]*)\S* HTTP\/1\.[01]\r\n/.exec(start);
  const [, method = '', path = ''] = line ?? [];
  const refused = code === 'HPE_INVALID_METHOD' ? methodRefused(method, path, dialect) : null;
  return refused ?? new ServiceError(400, 'This is not an HTTP request that can be read.', { code: 'bad_request' });
}

/** A refusal as raw HTTP, for a connection that gets nothing else. */
export function refusalOnWire({ status, message, facts }: ServiceError): string {
  const errorId = newErrorId();
  const body = JSON.stringify(errorBody(message, facts, errorId));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'x-sandbox: 1',
    `x-request-id: ${errorId}`,
    ...Object.entries(facts.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

export function newErrorId(): string {
  return randomBytes(16).toString('hex');
}

function answerError(error: Error, request: FastifyRequest, reply: FastifyReply, dialect: Dialect): FastifyReply {
  if (error instanceof InvalidRequest) return reply.code(422).send({ detail: error.fields });
  if (error instanceof FaultRuleError) {
    const detail = error.problems.map((msg) => ({ loc: ['body'], msg, type: 'invalid_fault_rule' }));
    return reply.code(422).send({ detail });
  }
  const { status, message, facts } = refusalFor(error, request, dialect);
  return reply
    .headers(facts.headers ?? {})
    .code(status)
    .send(errorBody(message, facts, request.exchange.errorId));
}

function refusalFor(error: Error, request: FastifyRequest, dialect: Dialect): ServiceError {
  if (error instanceof ServiceError) return error;
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status < 400 || status >= 500) return ownFailure(error);
  // An unknown path is reported rather than its bad body.
  if (request.is404) return notServed(request, dialect);
  return new ServiceError(status, explain(status, error.message), { code: codeOf(status) });
}

/** Answer for a defect of the sandbox; emits a process warning. */
export function ownFailure(error: unknown): ServiceError {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  return new ServiceError(500, 'The sandbox failed; this is a defect of its own.', { code: 'internal_error' });
}

/** The name of a status as codes are written: `bad_gateway`. */
export function codeOf(status: number): string {
  return (STATUS_CODES[status] ?? 'invalid request').toLowerCase().replaceAll(/\W+/g, '_');
}

function explain(status: number, message: string): string {
  if (status === 415) return 'Send the body as JSON, with the header Content-Type: application/json.';
  if (status === 413) return 'The body is larger than the 5 MB that are accepted; send fewer calls at a time.';
  return message;
}

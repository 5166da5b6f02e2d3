import { randomBytes } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { FaultRuleError } from '../faults/rule.ts';
import { allowedMethods } from '../core/operations.ts';
import { errorBody, InvalidRequest, ServiceError } from '../core/service-error.ts';

/** Answers every refusal in the service's shape: an object in `detail`, or for 422 an array with one entry per field. */
export function answerErrors(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply));
  app.setNotFoundHandler((request, reply) => answerError(notServed(request), request, reply));
}

function notServed(request: FastifyRequest): ServiceError {
  const pathname = request.url.split('?')[0] ?? '';
  const allowed = allowedMethods(pathname);
  if (allowed.length > 0) {
    const message = `${request.method} is not allowed on ${pathname}; use ${allowed.join(' or ')}.`;
    const headers = { allow: allowed.join(', ') };
    return new ServiceError(405, message, { type: 'invalid_request', code: 'method_not_allowed', headers });
  }
  const message = `Nothing is served at ${pathname}. Operations are under /v1/convai, the sandbox's own controls under /_sandbox.${meant(request)}`;
  return new ServiceError(404, message, { type: 'not_found', code: 'route_not_found' });
}

/** The likeliest route, as a question; nothing when none is near. */
function meant({ exchange }: FastifyRequest): string {
  return exchange.hint === null ? '' : ` Did you mean ${exchange.hint}?`;
}

/** A path that cannot be decoded never comes to the pipeline. */
export function answerUnroutable(error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  const facts = { type: 'invalid_request', code: 'bad_request' };
  void reply
    .header('x-sandbox', '1')
    .code(400)
    .send(errorBody(error.message, facts, newErrorId()));
}

/** What came is no HTTP request. */
export function answerUnreadable(error: UnreadableError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return;
  const { status, code, message, allow } = whyUnreadable(error);
  const facts = { type: 'invalid_request', code };
  const body = JSON.stringify(errorBody(message, facts, newErrorId()));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'x-sandbox: 1',
    ...(allow === undefined ? [] : [`allow: ${allow}`]),
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

type UnreadableError = Error & { code?: string | undefined; rawPacket?: unknown };

function whyUnreadable({ code, rawPacket }: UnreadableError): {
  status: number;
  code: string;
  message: string;
  allow?: string;
} {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, code: 'request_timeout', message: 'The request took too long to come; send it at once.' };
  // A method that the parser does not know, such as BREW, in a request that is well formed otherwise.
  const start = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 2_000) : '';
  const line = /^([A-Z][A-Z-]{1,30}) (\/[^ ?]*)\S* HTTP\/1\.[01]\r\n/.exec(start);
  const [, method = '', path = ''] = line ?? [];
  const allowed = allowedMethods(path);
  if (code === 'HPE_INVALID_METHOD' && allowed.length > 0) {
    const message = `${method} is not allowed on ${path}; use ${allowed.join(' or ')}.`;
    return { status: 405, code: 'method_not_allowed', message, allow: allowed.join(', ') };
  }
  return { status: 400, code: 'bad_request', message: 'This is not an HTTP request that can be read.' };
}

export function newErrorId(): string {
  return randomBytes(16).toString('hex');
}

function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { errorId } = request.exchange;
  if (error instanceof InvalidRequest) return reply.code(422).send({ detail: error.fields });
  if (error instanceof FaultRuleError) {
    return reply
      .code(422)
      .send({ detail: error.problems.map((msg) => ({ loc: ['body'], msg, type: 'invalid_fault_rule' })) });
  }
  if (error instanceof ServiceError) {
    for (const [name, value] of Object.entries(error.facts.headers ?? {})) reply.header(name, value);
    return reply.code(error.status).send(errorBody(error.message, error.facts, errorId));
  }
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status >= 400 && status < 500) {
    // Whatever is wrong with a body that nothing takes: that is what there is to say.
    if (request.is404) return answerError(notServed(request), request, reply);
    const facts = { type: 'invalid_request', code: codeOf(status) };
    return reply.code(status).send(errorBody(explain(status, error.message), facts, errorId));
  }
  process.emitWarning(error);
  return reply
    .code(500)
    .send(
      errorBody(
        'The sandbox failed; this is a defect of its own.',
        { type: 'server_error', code: 'internal_error' },
        errorId,
      ),
    );
}

function codeOf(status: number): string {
  return (STATUS_CODES[status] ?? 'invalid request').toLowerCase().replaceAll(/\W+/g, '_');
}

function explain(status: number, message: string): string {
  if (status === 415) return 'Send the body as JSON, with the header Content-Type: application/json.';
  if (status === 413) return 'The body is larger than the 5 MB that are accepted; send fewer calls at a time.';
  return message;
}

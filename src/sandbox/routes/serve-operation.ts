import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations, type OperationName } from '../operations.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

/** Serves one operation at the path of the contract, under its name. */
export function serveOperation(app: FastifyInstance, name: OperationName, handler: Handler): void {
  const { method, path } = operations[name];
  app.route({
    method,
    url: path,
    config: { operation: name },
    handler: async (request, reply) => handler(request, reply),
  });
}

/** Serves one of the sandbox's own controls, outside the contract. */
export function serveControl(
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  handler: Handler,
): void {
  app.route({ method, url: `/_sandbox/${path}`, handler: async (request, reply) => handler(request, reply) });
}

export function pathParameter(request: FastifyRequest, name: string): string {
  const parameters = request.params as Record<string, string>;
  return parameters[name] ?? '';
}

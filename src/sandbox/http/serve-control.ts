import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { validate } from '../schemas/validate.ts';
import { pathParameter } from './serve-routes.ts';

export interface ControlAbout {
  says: string;
  query?: z.ZodType;
  body?: z.ZodType;
  bodyIsOptional?: boolean;
  /** Body media type; default JSON. */
  takes?: string;
  /** Response media types, the usual one first; default JSON. */
  answers?: readonly string[];
  open?: boolean;
  /** Maximum body size; default: the server's limit. */
  longestBytes?: number;
}

/** Parts are validated on access, so that a handler decides what to refuse first. */
interface ControlRequest<Query, Body> {
  request: FastifyRequest;
  reply: FastifyReply;
  id: () => string;
  /** Throws 422, as `body` does. */
  query: () => Query;
  body: () => Body;
}

interface Control<Query, Body> extends ControlAbout {
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  answer: (request: ControlRequest<Query, Body>) => unknown;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function serveControl<Query, Body>(
  app: FastifyInstance,
  route: `${Method} /_sandbox${string}`,
  control: Control<Query, Body>,
): void {
  const [method = '', url = ''] = route.split(' ');
  const [, parameter = ''] = /:(\w+)/.exec(url) ?? [];
  const { bodyIsOptional, longestBytes, answer } = control;
  app.route({
    method,
    url,
    ...(longestBytes === undefined ? {} : { bodyLimit: longestBytes }),
    config: { control },
    handler: async (request, reply) =>
      answer({
        request,
        reply,
        id: () => pathParameter(request, parameter),
        query: () => validate(control.query ?? z.never(), 'query', request.query),
        body: () => validate(control.body ?? z.never(), 'body', bodyIsOptional === true ? (request.body ?? {}) : request.body),
      }),
  });
}

export interface ControlRoute {
  method: string;
  path: string;
  about: ControlAbout;
}

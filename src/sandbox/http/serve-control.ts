import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { validate } from '../schemas/validate.ts';
import { pathParameter } from './serve-routes.ts';

export interface ControlAbout {
  says: string;
  query?: z.ZodType;
  body?: z.ZodType;
  bodyIsOptional?: boolean;
  /** Media type of the body; JSON when left out. */
  takes?: string;
  /** Media types of the answer, the usual one first; JSON when left out. */
  answers?: readonly string[];
  open?: boolean;
  /** Longest body; the server's limit when left out. */
  longestBytes?: number;
}

/** A request to a control. Its parts are checked when they are asked for, so that a handler decides what it refuses first. */
interface Asked<Query, Body> {
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
  answer: (asked: Asked<Query, Body>) => unknown;
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

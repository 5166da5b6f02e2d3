import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { OperationId } from '../../../operations/list.ts';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Token, TokenRole } from '../../../ledger/console/tokens.ts';
import type { LogTail } from './log-tail.ts';
import type { Rehearse } from '../../../operations/control/control.ts';
import type { RunEnvironment } from '../../../operations/runs/run.ts';
import type { Logger } from '../../../shared/logger.ts';

export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required role; default: admin. */
    role?: TokenRole | 'anybody';
    /** Names of the file fields that the route accepts. */
    files?: readonly string[];
  }
  interface FastifyInstance {
    /** End of the event log, shared by all followers in this process. */
    tail: LogTail;
    /** True when clients use TLS, to this server or to a proxy in front. */
    isBehindTls: boolean;
    /** Registers an addition of rows; see `countAdds`. */
    beginAdd: () => () => void;
    /** Download handlers; the console serves them at its own addresses. */
    downloads: Map<OperationId, (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>>;
  }
  interface FastifyRequest {
    /** Token of the request; null on public routes. */
    holder: Token | null;
  }
}

/** Token of the request. Throws on public routes. */
export function holderOf(request: FastifyRequest): Token {
  if (request.holder === null) throw new Error('a route for anybody asked who is there');
  return request.holder;
}

export interface ApiContext extends RunEnvironment {
  logger: Logger;
  /** Adds routes beside the API, such as the console. Default: none. */
  install?: (app: Api, context: ApiContext) => void;
  /** Default: rehearsals are unavailable. */
  rehearse?: Rehearse;
  /** Exchanges a one-time sign-in word for a token's text; null for any other word. */
  redeem?: (word: string) => string | null;
}

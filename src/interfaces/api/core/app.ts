import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { OperationId } from '../../../operations/list.ts';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Token, TokenRole } from '../../../ledger/console/tokens.ts';
import type { LogTail } from './log-tail.ts';
import type { Rehearse } from '../../../operations/control/control.ts';
import type { Room } from '../../../operations/runs/run.ts';
import type { Logger } from '../../../shared/logger.ts';

export type Api = FastifyInstance<RawServerDefault, IncomingMessage, ServerResponse, FastifyBaseLogger, ZodTypeProvider>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may ask; a route that does not say is refused to everybody. */
    role?: TokenRole | 'anybody';
    /** Names of the files that it takes, for the description. */
    files?: readonly string[];
  }
  interface FastifyInstance {
    /** The end of the log, one for all who follow it in this process. */
    tail: LogTail;
    /** Whether clients come over TLS, that of this server or of a proxy before it. */
    isBehindTls: boolean;
    /** Counts additions of rows, those of the page among them; see `countAdds`. */
    beginAdd: () => () => void;
    /** Answer a download; the console serves them at its own addresses. */
    downloads: Map<OperationId, (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>>;
  }
  interface FastifyRequest {
    /** Whose request it is; null on routes for anybody. */
    holder: Token | null;
  }
}

/** Whose request it is. Only for routes that are not for anybody. */
export function holderOf(request: FastifyRequest): Token {
  if (request.holder === null) throw new Error('a route for anybody asked who is there');
  return request.holder;
}

export interface ApiContext extends Room {
  logger: Logger;
  /** Adds what is served beside the API, such as the console. Default: nothing. */
  install?: (app: Api, context: ApiContext) => void;
  /** Default: nothing can be rehearsed here. */
  rehearse?: Rehearse;
  /** The text of a token for a word that signs in once; null for any other word. */
  redeem?: (word: string) => string | null;
}

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

export interface ServerLimits {
  /** Of a request's head, and of a whole request with its files. */
  headersMs: number;
  requestMs: number;
  /** How long a client that was answered may go on sending: closed at once, it might never read the answer. */
  lingerMs: number;
  fileBytes: number;
  streams: number;
}

export const usualLimits: ServerLimits = {
  headersMs: 15_000,
  requestMs: 300_000,
  lingerMs: 5_000,
  fileBytes: 1_000_000_000,
  streams: 1_000,
};

/** A certificate and its key, as PEM. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
}

const checksPerLimit = 3;
/** Longer than proxies keep a connection that they may use again. */
const keepAliveTimeout = 72_000;

/** A server that lets go of clients who send too slowly, which are answered 408, and of those who send on after their answer. */
export function createHttpServer(handler: RequestListener, tls: Tls | null, limits: ServerLimits): Server {
  const options: ServerOptions = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: Math.ceil(limits.headersMs / checksPerLimit),
    keepAliveTimeout,
  };
  const server = tls === null ? createServer(options, handler) : createTlsServer({ ...options, ...tls }, handler);
  return server.on('request', (request, response) => response.once('finish', () => endUnread(request, limits)));
}

/** Ends the connection of a client that has its answer and sends on; one that has sent all by then may ask again on it. */
function endUnread(request: IncomingMessage, { lingerMs }: ServerLimits): void {
  if (request.complete || request.socket.destroyed) return;
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, lingerMs).unref();
}

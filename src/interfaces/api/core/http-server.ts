import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';

export interface ServerLimits {
  /** For a request's head, and for a whole request with its files. */
  headersMs: number;
  requestMs: number;
  /** Grace for an answered client that keeps sending; closed at once, it might never read the answer. */
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

/** PEM. */
export interface Tls {
  cert: Buffer;
  key: Buffer;
}

const checksPerLimit = 3;
/** Longer than proxies keep a connection for reuse. */
const keepAliveTimeout = 72_000;

/** Answers 408 to clients that send too slowly, and disconnects those that keep sending after their answer. */
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

/** Disconnects an answered client that is still sending; one that has finished may reuse the connection. */
function endUnread(request: IncomingMessage, { lingerMs }: ServerLimits): void {
  if (request.complete || request.socket.destroyed) return;
  setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, lingerMs).unref();
}

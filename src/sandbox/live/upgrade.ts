import { STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { WebSocketServer } from 'ws';
import { refuseOtherNames } from '../control/access.ts';
import { announceRequest } from '../http/announce-changes.ts';
import { createUrlCensor } from '../http/censor-url.ts';
import { newErrorId } from '../http/error-replies.ts';
import type { JournalEntry } from '../judge/journal.ts';
import type { Service } from '../service.ts';
import { errorBody, ServiceError } from '../service-error.ts';
import { admit } from './admit.ts';

const subprotocol = 'convai';
/** Real milliseconds; by then a client that is asked to close has done so. */
const closingGraceMs = 250;

/** Serves conversations over WebSockets beside the HTTP operations. Refusals are answered over HTTP, before the upgrade. */
export function serveSockets(app: FastifyInstance, service: Service): void {
  const { settings, scheduler, sockets } = service;
  const censorUrl = createUrlCensor(settings.apiKeys);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: settings.sockets.maxFrameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Whoever goes away now has not been let in yet.
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    scheduler.runDue();
    const entry = openEntry(request);
    accept(request, entry).then(
      (admission) => {
        socket.off('error', ignore);
        server.handleUpgrade(request, socket, head, (connection) => {
          closeEntry(entry, 101);
          sockets.hold(connection, admission);
        });
      },
      (error: unknown) => closeEntry(entry, refuse(socket, error)),
    );
  });
  server.on('headers', (headers) => headers.push('x-sandbox: 1'));

  app.addHook('preClose', async () => {
    sockets.stop('The sandbox stops.');
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, server.clients.size === 0 ? 0 : closingGraceMs);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
    });
    for (const client of server.clients) client.terminate();
  });

  async function accept(request: IncomingMessage, entry: Entry): ReturnType<typeof admit> {
    refuseOtherNames(request.headers.host, settings);
    requireWebSocket(request);
    return admit(service, addressOf(request), entry.journal.sequence);
  }

  function openEntry(request: IncomingMessage): Entry {
    const { journal, clock, conduct } = service;
    const { path, keyInUrl } = censorUrl(request.url ?? '/');
    const requestId = request.headers['x-request-id'];
    const { entry } = journal.begin(
      {
        method: request.method ?? 'GET',
        path,
        operation: null,
        unmatched: false,
        hint: null,
        requestId: typeof requestId === 'string' ? requestId : null,
        apiKey: request.headers['x-api-key'] === undefined ? null : '[redacted]',
        at: clock.now(),
        realAt: clock.realNow(),
      },
      request.headers,
    );
    conduct.noteRequest({ sequence: entry.sequence, parallel: entry.parallel, keyInUrl });
    return { journal: entry, startedAt: performance.now() };
  }

  function closeEntry({ journal, startedAt }: Entry, status: number): void {
    service.journal.end(journal, 'sent', status, Math.round(performance.now() - startedAt));
    announceRequest(service, journal);
  }
}

interface Entry {
  journal: JournalEntry;
  startedAt: number;
}

function requireWebSocket({ headers, method }: IncomingMessage): void {
  const key = headers['sec-websocket-key'] ?? '';
  const isWebSocket = method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';
  if (isWebSocket && headers['sec-websocket-version'] === '13' && /^[+/0-9A-Za-z]{22}==$/.test(key)) return;
  throw new ServiceError(400, 'This is not the handshake of a WebSocket (RFC 6455, version 13).', {
    type: 'invalid_request',
    code: 'bad_handshake',
    headers: { 'sec-websocket-version': '13' },
  });
}

function addressOf({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://sandbox');
  } catch {
    throw new ServiceError(400, 'The address cannot be read.', { type: 'invalid_request', code: 'bad_request' });
  }
}

/** Answers over HTTP and hangs up. Returns the status. */
function refuse(socket: Duplex, error: unknown): number {
  const known = error instanceof ServiceError;
  if (!known) process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  const status = known ? error.status : 500;
  const facts = known ? error.facts : { type: 'server_error', code: 'internal_error' };
  const message = known ? error.message : 'The sandbox failed; this is a defect of its own.';
  const requestId = newErrorId();
  const body = Buffer.from(JSON.stringify(errorBody(message, facts, requestId)));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'x-sandbox: 1',
    `x-request-id: ${requestId}`,
    ...Object.entries(('headers' in facts ? facts.headers : undefined) ?? {}).map(
      ([name, value]) => `${name}: ${value}`,
    ),
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  return status;
}

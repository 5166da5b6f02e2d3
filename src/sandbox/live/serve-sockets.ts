import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { refuseOtherNames } from '../http/access.ts';
import { announceRequest } from '../http/announce-changes.ts';
import { beginEntry, createUrlCensor } from '../http/open-exchange.ts';
import { ownFailure, refusalOnWire } from '../http/error-replies.ts';
import type { JournalEntry } from '../judge/journal.ts';
import { ServiceError } from '../core/service-error.ts';
import { serverEvent, closeReason, endingFor, errorOf } from './outbox.ts';
import type { FastifyInstance } from 'fastify';
import type { Service } from '../core/service/service.ts';
import { admit, requireSocketPath, serveCredentials } from './credentials.ts';
import { createMessageReader, type ClientMessage, ClientMistake } from './client-messages.ts';
import { Session } from './session.ts';
import type { Admission } from './socket-call.ts';

const subprotocol = 'convai';
/** Real ms for clients to close when asked. */
const closingGraceMs = 250;

/**
 * Non-handshakes and unknown paths get an HTTP answer; refused conversations close (1008) after the handshake, since browsers hide HTTP
 * answers from pages.
 */
export function serveSockets(app: FastifyInstance, service: Service, sockets: SocketSessions): void {
  const { settings, scheduler } = service;
  const censorUrl = createUrlCensor(settings.apiKeys);
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: settings.sockets.maxFrameBytes,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });

  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Disconnects before admission are ignored.
    const ignore = (): void => undefined;
    socket.on('error', ignore);
    scheduler.runDue();
    const entry = openEntry(request);
    let url: URL;
    try {
      url = readHandshake(request);
    } catch (error) {
      closeEntry(entry, refuse(socket, error));
      return;
    }
    const upgrade = (use: (connection: WebSocket) => void): void => {
      socket.off('error', ignore);
      server.handleUpgrade(request, socket, head, (connection) => {
        use(connection);
        closeEntry(entry, 101);
      });
    };
    let admission: Admission;
    try {
      admission = admit(service, url, entry.journal.sequence);
    } catch (error) {
      upgrade((connection) => (entry.journal.socketRefusal = turnAway(connection, error)));
      return;
    }
    upgrade((connection) => sockets.hold(connection, admission));
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

  /** The URL of a handshake. Throws `ServiceError` for a non-handshake or unknown path. */
  function readHandshake(request: IncomingMessage): URL {
    refuseOtherNames(request.headers.host, settings);
    requireWebSocket(request);
    const url = addressOf(request);
    requireSocketPath(url);
    return url;
  }

  function openEntry(request: IncomingMessage): Entry {
    const entry = beginEntry(service, request, censorUrl);
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
    code: 'bad_handshake',
    headers: { 'sec-websocket-version': '13' },
  });
}

function addressOf({ url = '/' }: IncomingMessage): URL {
  try {
    return new URL(url, 'http://sandbox');
  } catch {
    throw new ServiceError(400, 'The address cannot be read.', { code: 'bad_request' });
  }
}

/** Reports the refusal to the client and closes. Returns the reason. */
function turnAway(connection: WebSocket, error: unknown): string {
  const ending = endingFor(error);
  const reason = closeReason(ending);
  // Ignores what such a client sends, however large.
  connection.on('error', () => undefined);
  connection.send(serverEvent('error', errorOf(ending)));
  connection.close(ending.code, reason);
  return reason;
}

/** Answers over HTTP and hangs up. Returns the status. */
function refuse(socket: Duplex, error: unknown): number {
  const refusal = error instanceof ServiceError ? error : ownFailure(error);
  socket.end(refusalOnWire(refusal));
  return refusal.status;
}

const reasons = { reset: 'The sandbox was reset.', replaced: 'Another state was put in place of this one.', closed: 'The sandbox stops.' };

export function installLive(app: FastifyInstance, service: Service): void {
  const sockets = new SocketSessions(service);
  service.features.push({ leave: (why) => sockets.stop(reasons[why]), underWay: () => ({ sockets: sockets.size }) });
  serveCredentials(app, service);
  serveSockets(app, service, sockets);
}

export class SocketSessions {
  readonly #service: Service;
  readonly #open = new Set<Session>();
  readonly #readMessage: (frame: string) => ClientMessage | null;

  constructor(service: Service) {
    this.#service = service;
    const { dialect, loose } = service.settings;
    this.#readMessage = createMessageReader({ dialect, loose });
    service.callListeners.add((call, change) => {
      if (change !== 'redirected' || call.channel === undefined || call.channel === 'phone') return;
      const session = [...this.#open].find((each) => each.call === call);
      session?.end({ reason: call.course?.terminationReason ?? '', code: 1000 });
    });
  }

  get size(): number {
    return this.#open.size;
  }

  hold(socket: WebSocket, admission: Admission): void {
    const { scheduler, clock, settings } = this.#service;
    const session = new Session({
      service: this.#service,
      socket,
      admission,
      readMessage: this.#readMessage,
      over: (ended) => this.#open.delete(ended),
    });
    this.#open.add(session);
    const { maxMessagesPerSecond } = settings.sockets;
    const mayCome = messageLimit(maxMessagesPerSecond);
    socket.on('message', (data: Buffer, isBinary) => {
      scheduler.runDue();
      if (!mayCome(clock.realNow()))
        session.fail(new ClientMistake('rate_limit_exceeded', `More than ${maxMessagesPerSecond} messages came within a second.`));
      else if (isBinary)
        session.fail(new ClientMistake('invalid_message', 'Binary frames are not understood; send audio as user_audio_chunk.'));
      else session.receive(data.toString('utf8'));
      scheduler.runDue();
    });
    socket.on('close', (code) => session.disconnected(code));
    // The connection closes with a code of its own.
    socket.on('error', () => undefined);
    session.open();
  }

  stop(reason: string): void {
    for (const session of this.#open) session.end({ reason, code: 1001 });
  }
}

/** Whether one more message fits into the current second of the machine's time. */
function messageLimit(most: number): (now: number) => boolean {
  let second = 0;
  let count = 0;
  return (now) => {
    const present = Math.floor(now / 1_000);
    if (present !== second) [second, count] = [present, 0];
    count += 1;
    return count <= most;
  };
}

import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { rootCertificates, TLSSocket } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { Agent, buildConnector, setGlobalDispatcher } from 'undici';
import { ProxyError, proxyFor, type Destination, type FindAddresses, type Proxies, type Proxy } from './proxies.ts';

export interface ConnectorOptions {
  timeoutMs: number;
  /** DNS lookup for direct connections. */
  lookup?: LookupFunction | undefined;
  /** DNS lookup to detect loopback names. */
  find?: FindAddresses | undefined;
  /** Address given to the proxy in place of the name; an error aborts the connection. */
  addressFor?: ((hostname: string) => Promise<string>) | undefined;
  /** Called for each established connection. */
  onConnected?: ((connection: Connected) => void) | undefined;
  /** PEM; default: Node's. */
  publicRoots?: readonly string[];
  /** PEM; replaces Node's trusted roots. */
  ca?: string;
}

export interface Connected {
  /** The proxy that may have produced the responses itself; null: the destination did. */
  answeredBy: string | null;
}

/**
 * Undici connector: direct, or a `CONNECT` tunnel through the destination's proxy. Also for `http:`, so that a failure shows whether any of
 * the request was sent.
 */
export function connectorThrough(proxies: Proxies, options: ConnectorOptions): buildConnector.connector {
  const { timeoutMs: timeout, lookup, ca, onConnected } = options;
  const direct = buildConnector({ timeout, ...(lookup === undefined ? {} : { lookup }), ...(ca === undefined ? {} : { ca }) });
  if (proxies.http === null && proxies.https === null) return direct;
  const trusted = () => (options.publicRoots === undefined ? bundledRoots() : fingerprintsOf(options.publicRoots));
  return (to, callback) => {
    const done: buildConnector.Callback = (...result) => callback(...result);
    const open = async () => {
      const destination = destinationOf(to.protocol, to.hostname, to.port);
      const proxy = await proxyFor(destination, proxies, options.find);
      const host = proxy === null ? '' : ((await options.addressFor?.(destination.hostname)) ?? destination.hostname);
      return { proxy, tunnel: proxy === null ? null : await openTunnel(proxy, { ...destination, hostname: host }, timeout) };
    };
    open().then(
      ({ proxy, tunnel }) => {
        const noted: buildConnector.Callback = (...[error, socket]) => {
          if (error !== null) return done(error, null);
          onConnected?.({ answeredBy: proxy === null || isOwnEnd(socket, trusted()) ? null : proxy.place });
          return done(null, socket);
        };
        if (tunnel === null) direct(to, noted);
        else if (to.protocol === 'https:') direct({ ...to, httpSocket: tunnel }, noted);
        else noted(null, tunnel);
      },
      (error: unknown) => done(error as Error, null),
    );
  };
}

/** Applies these proxies to every `fetch` of the process. Call once, at its start. */
export function routeFetch(proxies: Proxies): void {
  setGlobalDispatcher(new Agent({ connect: connectorThrough(proxies, { timeoutMs: 10_000 }) }));
}

export function destinationOf(protocol: string, hostname: string, port: string): Destination {
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** Opens a proxy tunnel. Throws ProxyError; then no byte of a request was sent. */
export function openTunnel(proxy: Proxy, { hostname, port }: Pick<Destination, 'hostname' | 'port'>, timeoutMs: number): Promise<Socket> {
  const { url, place, variable, login } = proxy;
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const fault = (code: string, what: string, cause?: unknown) =>
    new ProxyError(code, `the proxy ${place} (${variable}) ${what}`, cause === undefined ? {} : { cause });
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
      method: 'CONNECT',
      path: authority,
      agent: false,
      headers: {
        host: authority,
        ...(login === null ? {} : { 'proxy-authorization': `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}` }),
      },
    });
    const timer = setTimeout(() => request.destroy(fault('TIMEOUT', `opens no tunnel within ${timeoutMs / 1000} s`)), timeoutMs);
    request.once('connect', ({ statusCode: status = 0 }, socket, head) => {
      clearTimeout(timer);
      if (status >= 200 && status <= 299) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket.setNoDelay(true));
        return;
      }
      socket.on('error', () => {}).destroy();
      const why =
        status === 407
          ? `wants a user and a password (status 407): write them into ${variable}`
          : `refuses the tunnel with status ${status}`;
      reject(fault(String(status), why));
    });
    request.once('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      reject(
        error instanceof ProxyError
          ? error
          : fault(error.code ?? 'BROKEN', `opens no tunnel (${error.code ?? 'the connection broke'})`, error),
      );
    });
    request.end();
  });
}

/** True when TLS ends at the destination, not at an intercepting proxy: only the former has a publicly trusted certificate. */
function isOwnEnd(socket: Socket, roots: ReadonlySet<string>): boolean {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return false;
  let certificate = socket.getPeerCertificate(true);
  while (certificate.issuerCertificate !== undefined && certificate.issuerCertificate.fingerprint256 !== certificate.fingerprint256)
    certificate = certificate.issuerCertificate;
  return roots.has(certificate.fingerprint256);
}

let bundled: ReadonlySet<string> | undefined;
const bundledRoots = (): ReadonlySet<string> => (bundled ??= fingerprintsOf(rootCertificates));

function fingerprintsOf(roots: readonly string[]): ReadonlySet<string> {
  return new Set(roots.map((pem) => new X509Certificate(pem).fingerprint256));
}

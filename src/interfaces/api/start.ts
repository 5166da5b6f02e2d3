import { isIPv6 } from 'node:net';
import { isLoopback } from '../../rules/service-address.ts';
import type { ApiContext } from './core/context.ts';
import type { Tls } from './core/http-server.ts';
import { buildApi } from './server.ts';

/** Where the API listens. */
export interface ApiAddress {
  /** An address of this machine, or a name of it. */
  host: string;
  /** 0 for any free one. */
  port: number;
  /** Null: plain HTTP, for this machine alone or a proxy before it. */
  tls: Tls | null;
  /** Whether a proxy before it speaks for other machines, under names that it knows. */
  behindProxy?: boolean;
}

/** An API that listens. */
export interface RunningApi {
  url: string;
  /** Ends the requests under way in order, and streams at once. */
  close(): Promise<void>;
}

/** Builds the API and listens. The database stays its owner's. Throws when the port is taken or the certificate cannot be used. */
export async function startApi(context: ApiContext, { host, port, tls, behindProxy = false }: ApiAddress): Promise<RunningApi> {
  const isOwn = !behindProxy && isLoopback({ hostname: isIPv6(host) ? `[${host}]` : host });
  const app = await buildApi(context, { tls, isOwn, behindProxy });
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw error;
  }
  const address = app.server.address();
  const listening = typeof address === 'object' && address !== null ? address.port : port;
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return {
    url: `${tls === null ? 'http' : 'https'}://${isIPv6(name) ? `[${name}]` : name}:${listening}`,
    close: () => app.close(),
  };
}

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server on 127.0.0.1 that can be blocked at exact moments. */
export interface TcpProxy {
  readonly port: number;
  /**
   * Keeps back, whole, the nth connection from now whose first bytes are these. Resolves when it is there; the server gets nothing
   * of it, ever.
   */
  holdBack(firstBytes: string, nth?: number): Promise<void>;
  /**
   * Hands on the nth piece from now that has these bytes, and breaks its connection instead of handing back what is answered. Resolves
   * then.
   */
  loseAnswer(bytes: string, nth?: number): Promise<void>;
  /** New connections go to this server alone. */
  leadTo(targetPort: number): void;
  /** From now on nothing that clients send goes on. */
  freeze(): void;
  /** Cuts every connection there is, held ones included, and forwards new ones. */
  drop(): void;
  /** Closes the port: connections are refused. */
  refuse(): Promise<void>;
  /** Opens the same port again. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

/** Of several servers each connection gets the next one that takes it. */
export async function startTcpProxy(...targetPorts: number[]): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let turn = 0;
  let frozen = false;
  let lost: { bytes: string; left: number; tell: () => void } | undefined;
  let wanted: { bytes: string; left: number; tell: () => void } | undefined;

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  };
  const serve = (client: Socket): void => {
    keep(client);
    client.pause();
    tryNext(client, targetPorts.length);
  };
  const tryNext = (client: Socket, left: number): void => {
    const upstream = connect(targetPorts[turn++ % targetPorts.length] ?? 0, '127.0.0.1');
    keep(upstream);
    const passOver = (): void => {
      if (left > 1 && !client.destroyed) tryNext(client, left - 1);
      else client.destroy();
    };
    upstream.once('close', passOver);
    upstream.once('connect', () => {
      upstream.off('close', passOver);
      join(client, upstream);
    });
  };
  const join = (client: Socket, upstream: Socket): void => {
    for (const socket of [client, upstream]) socket.setNoDelay(true);
    if (client.destroyed) upstream.destroy();
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => client.destroy());
    let losing: (() => void) | null = null;
    upstream.on('data', (chunk) => {
      if (losing === null) client.write(chunk);
      else client.destroy();
      losing?.();
    });
    let first = true;
    let held = false;
    client.on('data', (chunk) => {
      if (first && wanted !== undefined && chunk.toString('latin1').startsWith(wanted.bytes)) {
        wanted.left -= 1;
        if (wanted.left === 0) {
          held = true;
          wanted.tell();
          wanted = undefined;
        }
      }
      first = false;
      if (lost !== undefined && chunk.toString('latin1').includes(lost.bytes) && --lost.left === 0) {
        losing = lost.tell;
        lost = undefined;
      }
      if (!held && !frozen) upstream.write(chunk);
    });
    client.resume();
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(serve);
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const shut = async (server: Server): Promise<void> => {
    cutAll();
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };

  let server = await listen(0);
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    port,
    holdBack: (bytes, nth = 1) =>
      new Promise((resolve) => {
        wanted = { bytes, left: nth, tell: resolve };
      }),
    loseAnswer: (bytes, nth = 1) =>
      new Promise((resolve) => {
        lost = { bytes, left: nth, tell: resolve };
      }),
    leadTo: (targetPort) => {
      targetPorts = [targetPort];
    },
    freeze: () => {
      frozen = true;
    },
    drop: () => {
      cutAll();
      frozen = false;
      wanted = undefined;
    },
    refuse: () => shut(server),
    accept: async () => {
      server = await listen(port);
    },
    close: () => shut(server),
  };
}

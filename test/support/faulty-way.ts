import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A way to a port of 127.0.0.1 that fails as networks do. Each fault lasts until the way is healed. */
export interface FaultyWay {
  readonly port: number;
  /** Everything is so many milliseconds later, in both directions. */
  delay(ms: number): void;
  /** Each connection, also a new one, is cut when so many more bytes have come back from the server. */
  cutAfter(bytes: number): void;
  /** Ends every connection there is with a reset. New ones go through. */
  reset(): void;
  /** Connections that there are, or are made, stand, and nothing comes through, not even their end. */
  partition(): void;
  /** Connections that there are stay silent for ever, as when a firewall has lost its table. New ones go through. */
  forget(): void;
  /** Cuts every connection and closes the port. */
  refuse(): Promise<void>;
  /** Ends the fault: what was kept back comes through. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  client: Socket;
  upstream: Socket;
  forgotten: boolean;
  /** Bytes that may still come back. */
  left: number;
}

export async function startFaultyWay(targetPort: number): Promise<FaultyWay> {
  const pairs = new Set<Pair>();
  let delayMs = 0;
  let cutBytes = Infinity;
  let open: Promise<void> = Promise.resolve();
  let letThrough = (): void => {};

  const cut = ({ client, upstream }: Pair): void => {
    client.destroy();
    upstream.destroy();
  };
  const pump = async (pair: Pair, from: Socket, to: Socket): Promise<void> => {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        if (delayMs > 0) await pause(delayMs);
        await open;
        if (pair.forgotten) continue;
        if (from === pair.upstream) pair.left -= chunk.length;
        if (pair.left >= 0) to.write(chunk);
        else cut(pair);
      }
    } catch {
      // The connection broke: the other side hears of it below.
    }
    await open;
    if (!pair.forgotten) cut(pair);
  };
  const serve = (client: Socket): void => {
    const upstream = connect(targetPort, '127.0.0.1');
    const pair: Pair = { client, upstream, forgotten: false, left: cutBytes };
    pairs.add(pair);
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {});
    upstream.once('close', () => pairs.delete(pair));
    void pump(pair, client, upstream);
    void pump(pair, upstream, client);
  };
  const listen = async (port: number): Promise<Server> => {
    const server = createServer(serve).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const shut = async (): Promise<void> => {
    for (const pair of pairs) cut(pair);
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };

  let server = await listen(0);
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    port,
    delay: (ms) => {
      delayMs = ms;
    },
    cutAfter: (bytes) => {
      cutBytes = bytes;
      for (const pair of pairs) pair.left = bytes;
    },
    reset: () => {
      for (const { client, upstream } of pairs) for (const socket of [client, upstream]) socket.resetAndDestroy();
    },
    partition: () => {
      open = new Promise((resolve) => {
        letThrough = resolve;
      });
    },
    forget: () => {
      for (const pair of pairs) pair.forgotten = true;
    },
    refuse: shut,
    heal: async () => {
      delayMs = 0;
      cutBytes = Infinity;
      for (const pair of pairs) pair.left = Infinity;
      letThrough();
      if (!server.listening) server = await listen(port);
    },
    close: shut,
  };
}

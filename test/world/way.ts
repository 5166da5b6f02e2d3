import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A proxy to servers on 127.0.0.1 that fails as networks do, or at exact moments. A fault lasts until it is healed. */
export type Way = Awaited<ReturnType<typeof startWay>>;

interface Pair {
  client: Socket;
  upstream: Socket;
  silent: boolean;
  /** Bytes that may still come back. */
  left: number;
  /** Told when the answer is lost that comes next. */
  losing?: () => void;
}

interface Wanted {
  bytes: string;
  left: number;
  tell: () => void;
}

/** Of several servers each connection gets the next one that takes it. */
export async function startWay(...targetPorts: number[]) {
  const pairs = new Set<Pair>();
  let [turn, delayMs, cutBytes, isMute] = [0, 0, Infinity, false];
  let open: Promise<void> = Promise.resolve();
  let letThrough = (): void => {};
  let held: Wanted | undefined;
  let lost: Wanted | undefined;

  const met = (wanted: Wanted | undefined, isLike: (bytes: string) => boolean): Wanted | undefined =>
    wanted !== undefined && isLike(wanted.bytes) && --wanted.left === 0 ? wanted : undefined;
  const cut = ({ client, upstream }: Pair): void => {
    client.destroy();
    upstream.destroy();
  };
  const look = (pair: Pair, chunk: Buffer, isFirst: boolean): void => {
    const text = chunk.toString('latin1');
    const back = met(held, (bytes) => isFirst && text.startsWith(bytes));
    if (back !== undefined) {
      [pair.silent, held] = [true, undefined];
      back.tell();
    }
    const losing = met(lost, (bytes) => text.includes(bytes));
    if (losing !== undefined) [pair.losing, lost] = [losing.tell, undefined];
  };
  const pump = async (pair: Pair, from: Socket, to: Socket): Promise<void> => {
    let isFirst = true;
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        if (delayMs > 0) await pause(delayMs);
        await open;
        if (from === pair.client) look(pair, chunk, isFirst);
        isFirst = false;
        if (pair.silent || (isMute && from === pair.client)) continue;
        if (from === pair.upstream) pair.left -= chunk.length;
        if (pair.left >= 0 && (from === pair.client || pair.losing === undefined)) to.write(chunk);
        else {
          cut(pair);
          pair.losing?.();
        }
      }
    } catch {
      // The connection broke: the other side hears of it below.
    }
    await open;
    if (!pair.silent) cut(pair);
  };
  const serve = (client: Socket, tries = targetPorts.length): void => {
    const upstream = connect(targetPorts[turn++ % targetPorts.length] ?? 0, '127.0.0.1');
    const pair: Pair = { client, upstream, silent: false, left: cutBytes };
    pairs.add(pair);
    for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => {});
    const passOver = (): void => {
      if (tries > 1 && !client.destroyed) serve(client, tries - 1);
      else client.destroy();
    };
    upstream.once('close', () => pairs.delete(pair)).once('close', passOver);
    upstream.once('connect', () => {
      upstream.off('close', passOver);
      if (client.destroyed) upstream.destroy();
      void pump(pair, client, upstream);
      void pump(pair, upstream, client);
    });
  };
  const listen = async (at: number): Promise<Server> => {
    const server = createServer((client) => serve(client)).listen(at, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const endFaults = (): void => {
    [delayMs, cutBytes, isMute, held] = [0, Infinity, false, undefined];
    for (const pair of pairs) pair.left = Infinity;
    letThrough();
  };
  const cutAll = (): void => {
    for (const pair of pairs) cut(pair);
  };
  const shut = async (): Promise<void> => {
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
    /** New connections go to this server alone. */
    leadTo: (targetPort: number) => {
      targetPorts = [targetPort];
    },
    /** Keeps back for ever, whole, the nth connection from now whose first bytes are these. Resolves when it is there. */
    holdBack: (bytes: string, nth = 1) => new Promise<void>((tell) => (held = { bytes, left: nth, tell })),
    /** Breaks the connection of the nth piece from now that has these bytes, instead of handing back what is answered. Resolves then. */
    loseAnswer: (bytes: string, nth = 1) => new Promise<void>((tell) => (lost = { bytes, left: nth, tell })),
    /** In both directions. */
    delay: (ms: number) => {
      delayMs = ms;
    },
    /** Cuts each connection, also a new one, once so many more bytes came back from the server. */
    cutAfter: (bytes: number) => {
      cutBytes = bytes;
      for (const pair of pairs) pair.left = bytes;
    },
    /** Ends every connection there is with a reset. New ones go through. */
    reset: () => {
      for (const { client, upstream } of pairs) for (const socket of [client, upstream]) socket.resetAndDestroy();
    },
    /** Connections that there are, or are made, stand, and nothing comes through, not even their end. */
    partition: () => {
      open = new Promise((resolve) => (letThrough = resolve));
    },
    /** Nothing that clients send goes on, for ever; what is on its way back to them still comes. */
    mute: () => {
      isMute = true;
    },
    /** Connections that there are stay silent for ever, as when a firewall has lost its table. New ones go through. */
    forget: () => {
      for (const pair of pairs) pair.silent = true;
    },
    /** Cuts every connection there is, held ones included; new ones go through. */
    drop: () => {
      cutAll();
      endFaults();
    },
    /** Cuts every connection and closes the port. */
    refuse: shut,
    /** Ends the fault: what was kept back comes through, and a closed port opens again. */
    heal: async () => {
      endFaults();
      if (!server.listening) server = await listen(port);
    },
    close: shut,
  };
}

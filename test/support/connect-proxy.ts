import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Proxies } from '../../src/shared/network/proxies.ts';

/** The proxy's answer to one CONNECT: a tunnel to a local port, a refusal, or a custom one. */
export type Way = { port: number } | { status: number } | ((socket: Socket) => void);

export interface ConnectProxy {
  url: string;
  /** CONNECT requests, in order. */
  asked: { authority: string; headers: IncomingHttpHeaders }[];
  /** Requests without a tunnel. */
  plain: string[];
  proxies: Proxies;
}

/** On a free port, stopped when the test ends; `login`: required before it opens a tunnel. */
export async function startConnectProxy(way: (authority: string, nth: number) => Way, login?: string): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = [];
  const plain: string[] = [];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((request, response) => {
    plain.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connection', keep);
  server.on('connect', ({ url = '', headers }, socket: Socket, head: Buffer) => {
    const nth = asked.push({ authority: url, headers });
    const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
    const found = headers['proxy-authorization'] === wanted ? way(url, nth) : { status: 407 };
    const answer = (status: number) => socket.write(`HTTP/1.1 ${status} Answered\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\n`);
    if (typeof found === 'function') found(socket);
    else if ('status' in found) {
      answer(found.status);
      socket.end();
    } else {
      const target = keep(connect(found.port, '127.0.0.1'));
      target.once('connect', () => {
        answer(200);
        target.write(head);
        target.pipe(socket).pipe(target);
      });
      socket.on('close', () => target.destroy());
      target.on('close', () => socket.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variable = { name: 'HTTPS_PROXY', value: login === undefined ? url : url.replace('//', `//${login.replace('@', '%40')}@`) };
  return { url, asked, plain, proxies: { http: variable, https: variable, except: '' } };
}

/** The proxy itself answers the first bytes with this; null: not at all. */
export function tunnelTo(answer: string | null): Way {
  return (socket) => {
    socket.write('HTTP/1.1 200 Open\r\n\r\n');
    socket.once('data', () => answer !== null && socket.end(answer));
  };
}

export function makeCertificate(name: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-certificate-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', `/CN=${name}`];
  spawnSync('openssl', [...args, '-addext', `subjectAltName=DNS:${name}`, '-keyout', key, '-out', cert]);
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

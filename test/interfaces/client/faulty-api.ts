import { createServer, request as forward } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** `lost`: carried out, unanswered. `away`, `busy`: 503 or 429 instead. */
type Fault = 'lost' | 'away' | 'busy';

export class FaultyApi {
  readonly faults: Fault[] = [];
  readonly keys: (string | undefined)[] = [];
  readonly #server;
  /** Answers that were at least partly passed on. */
  begun = 0;

  private constructor(target: string) {
    this.#server = createServer((request, response) => {
      this.keys.push(request.headers['idempotency-key'] as string | undefined);
      const fault = this.faults.shift();
      if (fault === 'away' || fault === 'busy') return void response.writeHead(fault === 'away' ? 503 : 429, { 'retry-after': '0' }).end();
      const { method, headers, url } = request;
      const onward = forward(`${target}${url}`, { method: method ?? 'GET', headers }, (answer) => {
        if (fault === 'lost') return void answer.resume().on('end', () => response.destroy());
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.flushHeaders();
        answer.once('data', () => (this.begun += 1)).on('error', () => response.destroy());
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    });
  }

  static async before(target: string): Promise<FaultyApi> {
    const way = new FaultyApi(target);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    onTestFinished(async () => {
      way.#server.closeAllConnections();
      way.#server.close();
    });
    return way;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  breakConnections(): void {
    this.#server.closeAllConnections();
  }
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { TokenRole } from '../../../src/ledger/console/tokens.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { ApiWorld, type Connect } from '../api/api-world.ts';
import type { Store } from '../../../src/ledger/tx.ts';

// Loaded at first use; a page waits only briefly.
await import('../../../src/operations/control/aside/forecast.ts');

export interface ConsoleAnswer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** The page over a store with campaigns made by hand, in a signed-in browser. */
export class ConsoleWorld {
  readonly api: ApiWorld;

  private constructor(api: ApiWorld) {
    this.api = api;
  }

  static async over(store: Store, settings: NodeJS.ProcessEnv = {}, connect?: Connect): Promise<ConsoleWorld> {
    return new ConsoleWorld(await ApiWorld.over(store, { settings, ...(connect === undefined ? {} : { connect }) }));
  }

  static async empty(settings?: NodeJS.ProcessEnv): Promise<ConsoleWorld> {
    return ConsoleWorld.over(await openCleanStore('sqlite'), settings);
  }

  get store(): Store {
    return this.api.store;
  }

  async text(...asked: Parameters<ConsoleWorld['get']>): Promise<string> {
    return (await this.get(...asked)).text;
  }

  /** `role`: of the browser's token. */
  get(path: string, role: TokenRole = 'operate', headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.ask({ method: 'GET', url: path, headers }, role);
  }

  post(path: string, fields: Record<string, string>, role: TokenRole = 'operate'): Promise<ConsoleAnswer> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return this.ask({ method: 'POST', url: path, headers, payload: new URLSearchParams(fields).toString() }, role);
  }

  async submit(path: string, fields: Record<string, string> = {}, role: TokenRole = 'operate'): Promise<ConsoleAnswer> {
    return this.post(path, { ...hiddenFields(await this.text(path, role)), ...fields }, role);
  }

  async send(path: string, { fields, files }: Record<'fields' | 'files', Record<string, string>>, role: TokenRole = 'operate') {
    const payload = new FormData();
    for (const [name, value] of Object.entries(fields)) payload.append(name, value);
    for (const [name, text] of Object.entries(files)) payload.append(name, new Blob([text]), `${name}.csv`);
    return this.ask({ method: 'POST', url: path, payload }, role);
  }

  /** From a signed-in browser on a page of this server, unless headers say otherwise. A relative address is below campaign `spring`. */
  async ask({ headers, url, ...request }: Asked, role: TokenRole = 'operate'): Promise<ConsoleAnswer> {
    const own = { 'sec-fetch-site': 'same-origin', cookie: await this.api.cookie(role) };
    const whole = url.startsWith('/') ? url : `/campaigns/spring/${url}`.replace(/\/$/, '');
    const answer = await this.api.app.inject({ ...request, url: whole, headers: { ...own, ...headers } });
    return { status: answer.statusCode, headers: answer.headers, text: answer.body };
  }
}

interface Asked {
  method: 'GET' | 'POST';
  url: string;
  headers?: Record<string, string>;
  payload?: FormData | string;
}

export function hiddenFields(text: string): Record<string, string> {
  const [form = ''] = /<form class="act"[\s\S]*?<\/form>/.exec(text) ?? [];
  const found = form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

/** A second at this speed moves no whole millisecond. */
const stillSpeed = 1e-9;

/** Its clock stays at this instant of service time. Returns its address. */
export async function startStillService(at: number): Promise<string> {
  const clock = { speed: stillSpeed, anchorRealMs: Date.now(), anchorServiceMs: at };
  const server = createServer((request, response) => {
    const known = request.url === '/_sandbox/health';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json', 'x-sandbox': '1' });
    response.end(known ? JSON.stringify({ sandbox: true, dialect: 'spec', clock }) : '{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

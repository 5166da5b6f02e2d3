import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'undici';
import { createToken } from '../src/ledger/console/tokens.ts';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { startProgram } from './child.ts';

/** `carillon serve` as built, in a process of its own, with somebody signed in. */
export interface ConsoleServer {
  url: string;
  token: string;
  /** Of the page, and of forms that it sends. */
  headers: Record<string, string>;
  /** Most memory that the process held since it was last asked, in MB, the runtime included. */
  peakMb(): Promise<number>;
  stop(): Promise<void>;
}

/** `env`: what it needs beside the place of its database. */
export async function startConsole(location: StoreLocation, env: Record<string, string | undefined>): Promise<ConsoleServer> {
  const store = await openStore(location, 'as-is');
  const { text: token } = await createToken(store, { name: 'bench', role: 'admin', lastsMs: null, nowReal: Date.now() });
  await store.close();
  const server = await startProgram('../dist/src/interfaces/cli/main.js', ['serve', '--port', '0', '--json'], {
    CARILLON_DB: location.sqlitePath,
    DATABASE_URL: location.databaseUrl,
    CARILLON_LOG_LEVEL: 'warn',
    ...env,
  });
  const { url } = server.first as { url: string };
  const signIn = await request(`${url}/sign-in`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, to: '/' }).toString(),
  });
  await signIn.body.dump();
  const [cookie = ''] = String(signIn.headers['set-cookie'] ?? '').split(';');
  if (cookie === '') throw new Error(`signing in was answered with ${signIn.statusCode}`);
  return {
    url,
    token,
    headers: { cookie, origin: url },
    peakMb: async () => {
      const [, kib] = /VmHWM:\s+(\d+)/.exec(await readFile(`/proc/${server.pid}/status`, 'utf8').catch(() => '')) ?? [];
      await writeFile(`/proc/${server.pid}/clear_refs`, '5').catch(() => {});
      return Number(kib ?? NaN) / 1024;
    },
    stop: () => server.stop(),
  };
}

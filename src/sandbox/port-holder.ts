import { readdir, readFile, readlink } from 'node:fs/promises';
import { fetch } from 'undici';
import { addressOf } from './core/allowed-host.ts';

const probeLimitMs = 2_000;

/** Another sandbox, or the program's name where the system shows it. */
export async function describePortHolder(host: string, port: number): Promise<string> {
  if (await isSandbox(host, port)) return 'another sandbox';
  const program = await findProgram(port).catch(() => null);
  return program === null ? 'another program' : `${program.name} (process ${program.pid})`;
}

async function isSandbox(host: string, port: number): Promise<boolean> {
  const address = `${addressOf(host, port)}/_sandbox/health`;
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(probeLimitMs), redirect: 'manual' });
    await answer.body?.cancel();
    return answer.headers.get('x-sandbox') === '1';
  } catch {
    return false;
  }
}

/** Linux lists which socket listens on a port, and each process's sockets. */
async function findProgram(port: number): Promise<{ name: string; pid: string } | null> {
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8').catch(() => '')).split('\n').slice(1)) {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
      if (state === '0A' && Number.parseInt(local.split(':')[1] ?? '', 16) === port) inodes.add(`socket:[${inode}]`);
    }
  }
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (inodes.has(target)) return { pid, name: (await readFile(`/proc/${pid}/comm`, 'utf8')).trim() };
    }
  }
  return null;
}

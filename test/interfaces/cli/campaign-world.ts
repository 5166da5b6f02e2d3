import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../src/sandbox/start.ts';
import { sharedTemporal } from '../../support/temporal-for-tests.ts';
import { until as untilTold } from '../../support/until.ts';
import { program, spawnWorker } from '../../support/worker-process.ts';
import { beginCommand, createTerminal, type CommandEnd, type FakeTerminal, type RunningCommand } from './terminal.ts';

/** A folder with a campaign, a sandbox 600 times as fast as time, and the settings for both. */
export interface CampaignWorld {
  /** Its campaign's id; unique per world, since a file shares a namespace of Temporal. */
  id: string;
  folder: string;
  path(name: string): string;
  read(name: string): string;
  sandbox: RunningSandbox;
  env: Record<string, string>;
  campaignPath: string;
  /** Over a list of `rows` good numbers, or of `lines` as they are. */
  writeCampaign(settings: { id?: string; rows?: number; lines?: string[]; yaml?: string[] }): string;
  run(...args: string[]): Promise<CommandEnd>;
  /** Writes to a shared world's database while no command of another test does. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  begin(...args: string[]): RunningCommand;
  /** Ready, in a process of its own; it ends with the test. */
  work(): Promise<WorkerProcess>;
  /** Starts API and page over its database in their own process until the test ends; returns the address. */
  serve(): Promise<string>;
  token(name: string, role: string): Promise<string>;
  /** Input of a command called as a function. */
  terminal(): FakeTerminal;
}

export interface WorkerProcess {
  ended: Promise<CommandEnd>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

export const speed = 600;

/** `carillon verify` without violations; otherwise the test shows them. */
export const proven = { code: 0, stdout: expect.stringMatching(/^verify: every promise was kept/) as string };

let worlds = 0;

/** Uses the shared Temporal server, unless the settings name another. */
export function createWorld(sandboxOptions: SandboxOptions = {}, settings: Record<string, string> = {}): Promise<CampaignWorld> {
  return openWorld(sandboxOptions, settings, onTestFinished);
}

/** One service, database and worker (or what `begin` runs) per file; each test has its own campaign and folder. */
export function useSharedWorld(
  settings: Record<string, string> = {},
  sandboxOptions: SandboxOptions = {},
  begin: (world: CampaignWorld) => Promise<unknown> = (world) => world.work(),
): () => CampaignWorld {
  const ends: (() => unknown)[] = [];
  let shared: CampaignWorld;
  let turn: Promise<unknown> = Promise.resolve();
  // Two writers of one SQLite file in one process would block each other.
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = turn.then(work);
    turn = done.catch(() => {});
    return done;
  };
  beforeAll(async () => {
    shared = await openWorld(sandboxOptions, settings, (end) => void ends.unshift(end));
    await begin(shared);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => {
    const id = `autumn-${++worlds}`;
    const folder = join(shared.folder, id);
    mkdirSync(folder);
    const run: CampaignWorld['run'] = (...args) => inTurn(() => shared.run(...args));
    const token: CampaignWorld['token'] = (...args) => inTurn(() => shared.token(...args));
    return { ...shared, run, token, inTurn, ...ownFiles(id, folder) };
  };
}

async function openWorld(
  sandboxOptions: SandboxOptions,
  settings: Record<string, string>,
  atEnd: (end: () => Promise<void>) => void,
): Promise<CampaignWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
  const sandbox = await startSandbox({ speed, seed: 5, ...sandboxOptions });
  atEnd(async () => {
    await sandbox.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = {
    ...(settings['TEMPORAL_ADDRESS'] === undefined ? await temporalSettings() : {}),
    SVC_BASE_URL: sandbox.url,
    SVC_API_KEY: 'sk_sandbox_ok',
    SVC_READS_PER_SECOND: '500',
    CARILLON_DB: join(folder, 'carillon.db'),
    CARILLON_LOG_LEVEL: 'silent',
    CARILLON_POSTING_WINDOW_MS: '5000',
    SVC_CONNECT_TIMEOUT_MS: '1000',
    SVC_HEADERS_TIMEOUT_MS: '3000',
    SVC_BODY_TIMEOUT_MS: '1000',
    CARILLON_SUBMITS_PER_SECOND: '100',
    ...settings,
  };
  const begin = (...args: string[]) => beginCommand(args, { env, now: Date.now });
  const run = (...args: string[]) => begin(...args).ended;
  return {
    ...ownFiles(`autumn-${++worlds}`, folder),
    sandbox,
    env,
    run,
    inTurn: (work) => work(),
    begin,
    serve: async () => {
      const server = spawnWorker(env, ['serve', '--port', '0', '--json']);
      atEnd(async () => expect(await server.terminate()).toMatchObject({ code: 0 }));
      const ready = await untilTold('the server listens', () => {
        if (server.hasEnded()) throw new Error(server.output());
        return /\{.*"ready".*\}/.exec(server.output())?.[0];
      });
      return (JSON.parse(ready) as { url: string }).url;
    },
    token: async (name, role) => {
      const { stdout } = await run('token', 'create', name, '--role', role, '--json');
      return (JSON.parse(stdout) as { token: string }).token;
    },
    work: () => startWorkerProcess(env, atEnd),
    terminal: () => createTerminal({ env, now: Date.now }),
  };
}

type OwnFiles = Pick<CampaignWorld, 'id' | 'folder' | 'path' | 'read' | 'campaignPath' | 'writeCampaign'>;

function ownFiles(ownId: string, folder: string): OwnFiles {
  return {
    id: ownId,
    folder,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    campaignPath: join(folder, 'campaign.yaml'),
    writeCampaign: ({ id = ownId, rows = 6, lines, yaml = [] }) => {
      mkdirSync(folder, { recursive: true });
      const list = lines ?? Array.from({ length: rows }, (_, index) => `${numberAt(index)},Row${index + 1}`);
      writeFileSync(join(folder, 'list.csv'), `phone,name\n${list.join('\n')}\n`);
      const file = [
        `id: ${id}`,
        ...(yaml.some((line) => line.startsWith('agent_id')) ? [] : ['agent_id: agent_reminders']),
        ...(yaml.some((line) => line.startsWith('from_phone')) ? [] : ['from_phone_number_id: pn_main']),
        'list: { file: list.csv, phone: phone, default_region: US }',
        "first_message: 'Hello {{ name }}, a reminder.'",
        "variables: { values: { name: '{{ name }}' } }",
        'hours: any',
        'law: off',
        ...(yaml.some((line) => line.startsWith('opt_out')) ? [] : ['opt_out: [{ collected: opt_out, equals: never }]']),
        ...yaml,
      ];
      writeFileSync(join(folder, 'campaign.yaml'), `${file.join('\n')}\n`);
      return join(folder, 'campaign.yaml');
    },
  };
}

async function temporalSettings(): Promise<Record<string, string>> {
  const { address, namespace } = await sharedTemporal();
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };
}

/** From the build: two writers of one SQLite file in one process would block each other. */
async function startWorkerProcess(env: Record<string, string>, atEnd: (end: () => Promise<void>) => void): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [program, 'worker', '--json'], {
    env: { PATH: process.env['PATH'], ...env },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => ({ code: (code as number | null) ?? -1, ...said }));
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await Promise.race([
    until(() => said.stdout.includes('"ready":true')),
    ended.then(({ stderr }) => Promise.reject(new Error(`the worker did not start: ${stderr}`))),
  ]);
  return { ended, signal: (name) => void child.kill(name) };
}

/** Fictional numbers, from 0120 up: lower ones have scripted outcomes. */
export function numberAt(index: number): string {
  const areas = ['212', '312', '415', '602', '813'];
  return `+1${areas[Math.floor(index / 70) % areas.length]}55501${String(30 + (index % 70)).padStart(2, '0')}`;
}

export async function until(holds: () => boolean | Promise<boolean>, timeoutMs = 240_000): Promise<void> {
  // A check is often a whole command, in the process that it waits for.
  await untilTold('it has come about', holds, { limitMs: timeoutMs, everyMs: 250 });
}

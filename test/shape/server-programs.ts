import { access } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readConfig } from '../../src/shared/config.ts';
import { installBinary, temporalCache, withCacheLock } from '../../src/temporal/binary-cache.ts';
import { findOnPath, programFile, lastLine, runChild } from '../../src/temporal/programs.ts';
import { buildWithGo, goLimits, type GoProgram } from '../../src/temporal/binary-fetch.ts';

/** The newest that today's Go builds without another toolchain. */
const version = '1.32.1';
const server = { module: 'go.temporal.io/server', version };
const programs = {
  temporalServer: { ...server, title: "Temporal's server", command: 'cmd/server' },
  sqlTool: { ...server, title: "Temporal's SQL tool", command: 'cmd/tools/sql' },
} satisfies Record<string, GoProgram>;

export type ServerPrograms = Record<keyof typeof programs, string>;

/** With CARILLON_REQUIRE_TEMPORAL_SERVER=1 a server that cannot be built is a failure, not a reason to skip. */
export const mustHaveServer = process.env['CARILLON_REQUIRE_TEMPORAL_SERVER'] === '1';

/** Temporal's server and its database tool: from the cache, else built once with Go (2 to 4 minutes). Throws why not. */
export async function resolveServerPrograms(onProgress: (line: string) => void): Promise<ServerPrograms> {
  const config = readConfig();
  const folder = join(temporalCache(config), `server-v${version}`);
  const lock = { folder, timeoutMs: 1_200_000, onWait: () => onProgress('another process builds it; waiting') };
  const build = async (program: GoProgram): Promise<string> => {
    const target = join(folder, programFile(basename(program.command)));
    if (await runs(target)) return target;
    const go = await findOnPath('go', config.PATH);
    if (go === null) throw new Error(`There is no Go to build ${program.title} with: install it (https://go.dev/dl).`);
    await installBinary(target, (workFolder) => buildWithGo(program, { go, workFolder, onProgress, limits: goLimits }));
    if (!(await runs(target))) throw new Error(`${target} does not run.`);
    return target;
  };
  return withCacheLock(lock, async () => ({
    temporalServer: await build(programs.temporalServer),
    sqlTool: await build(programs.sqlTool),
  }));
}

async function runs(path: string): Promise<boolean> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  return isThere && (await runChild({ command: path, args: ['--version'], timeoutMs: 20_000 })).code === 0;
}

export async function setUpSchema(
  { sqlTool }: ServerPrograms,
  settings: Record<string, string>,
  { database, kind }: { database: string; kind: 'temporal' | 'visibility' },
): Promise<void> {
  const steps = [['create-database'], ['setup-schema', '-v', '0.0'], ['update-schema', '--schema-name', `postgresql/v12/${kind}`]];
  for (const step of steps) {
    const args = ['--db', database, ...step];
    const { code, stderr, stdout } = await runChild({
      command: sqlTool,
      args,
      env: settings,
      cwd: dirname(sqlTool),
      timeoutMs: 120_000,
    });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${lastLine(stderr) || lastLine(stdout)}`);
  }
}

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { stat, access } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Agent, request, type Dispatcher } from 'undici';
import { connectorThrough } from '../shared/network/connector.ts';
import { noProxies, type Proxies } from '../shared/network/proxies.ts';
import { temporalCliVersion } from './binary-cache.ts';
import { programFile, lastLine, runChild } from './programs.ts';

/** A blocked network must fail over in seconds; a slow one may take its time. */
export const downloadLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  /** Longest silence within the body. */
  stallTimeoutMs: 15_000,
  totalTimeoutMs: 300_000,
};
export type DownloadLimits = typeof downloadLimits;

export interface Archive {
  url: string;
  sha256: string;
}

/** SHA-256 of the archives of `temporalCliVersion`, by release name. */
const checksums: Readonly<Record<string, string>> = {
  linux_amd64: 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  linux_arm64: 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  darwin_amd64: 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  darwin_arm64: 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

/** Null without a known checksum, since the download is executed. */
export function officialArchive(platform = process.platform, arch = process.arch): Archive | null {
  const name = `${platform}_${arch === 'x64' ? 'amd64' : arch}`;
  const sha256 = checksums[name];
  if (sha256 === undefined) return null;
  const version = temporalCliVersion;
  const file = `temporal_cli_${version}_${name}.tar.gz`;
  return { url: `https://github.com/temporalio/cli/releases/download/v${version}/${file}`, sha256 };
}

export interface DownloadInput {
  archive: Archive;
  workFolder: string;
  limits: DownloadLimits;
  proxies?: Proxies;
  signal?: AbortSignal | undefined;
}

const mostRedirects = 5;

/** Downloads, checks the SHA-256, unpacks; answers the program's path. Throws with the reason in one line. */
export async function downloadBinary({ archive, workFolder, limits, proxies = noProxies, signal }: DownloadInput): Promise<string> {
  const path = join(workFolder, 'archive');
  const total = AbortSignal.timeout(limits.totalTimeoutMs);
  const agent = new Agent({
    connect: connectorThrough(proxies, { timeoutMs: limits.connectTimeoutMs }),
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.stallTimeoutMs,
  });
  const hash = createHash('sha256');
  try {
    const response = await follow(archive.url, agent, signal === undefined ? total : AbortSignal.any([total, signal]));
    const hashed = async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(response.body, hashed, createWriteStream(path));
  } finally {
    await agent.destroy();
  }
  const found = hash.digest('hex');
  if (found !== archive.sha256) throw new Error(`its SHA-256 is ${found}, and not ${archive.sha256}: it was not unpacked`);
  return unpack(path, workFolder, signal);
}

/** Follows only encrypted redirects, since the download is executed. */
async function follow(first: string, dispatcher: Dispatcher, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
  let url = new URL(first);
  for (let hop = 0; hop <= mostRedirects; hop += 1) {
    const response = await request(url, { dispatcher, signal });
    const { statusCode, headers } = response;
    if (statusCode === 200) return response;
    await response.body.dump();
    const { location } = headers;
    if (statusCode < 300 || statusCode > 399 || typeof location !== 'string') throw new Error(`it answered with status ${statusCode}`);
    const next = new URL(location, url);
    if (next.protocol !== 'https:' && next.origin !== url.origin) throw new Error(`it redirects to ${next.origin}, which is not encrypted`);
    url = next;
  }
  throw new Error(`it redirects more than ${mostRedirects} times`);
}

async function unpack(archive: string, workFolder: string, signal: AbortSignal | undefined): Promise<string> {
  const file = programFile('temporal');
  const unpacked = await runChild({
    command: 'tar',
    args: ['-xf', archive, '-C', workFolder, file],
    timeoutMs: 60_000,
    signal,
  });
  if (unpacked.code !== 0) throw new Error(`tar cannot unpack it (${unpacked.fault ?? lastLine(unpacked.stderr)})`);
  const path = join(workFolder, file);
  await stat(path);
  return path;
}

/** A command of a public Go module that `go install` accepts: without replace directives. */
export interface GoProgram {
  /** Name in progress lines. */
  title: string;
  module: string;
  version: string;
  /** Folder in the module; its last part is the program's name. */
  command: string;
}

export const temporalCli: GoProgram = {
  title: 'Temporal',
  module: 'github.com/temporalio/cli',
  version: temporalCliVersion,
  command: 'cmd/temporal',
};

interface GoBuildInput {
  go: string;
  workFolder: string;
  onProgress: (line: string) => void;
  limits: GoLimits;
  signal?: AbortSignal | undefined;
}

export interface GoLimits {
  goProbeTimeoutMs: number;
  goBuildTimeoutMs: number;
  progressEveryMs: number;
}

/** Limits for a blocked network or a slow machine. */
export const goLimits: GoLimits = { goProbeTimeoutMs: 45_000, goBuildTimeoutMs: 900_000, progressEveryMs: 10_000 };

/** Probes first, since a blocked source fails only after minutes. Throws with the reason in one line. */
export async function buildWithGo(program: GoProgram, input: GoBuildInput): Promise<string> {
  const { title, module, version, command } = program;
  const { go, workFolder, limits, signal } = input;
  const shared = { command: go, env: { GOBIN: workFolder, CGO_ENABLED: '0' }, cwd: workFolder, signal };
  const probe = await runChild({
    ...shared,
    args: ['list', '-m', `${module}@v${version}`],
    timeoutMs: limits.goProbeTimeoutMs,
  });
  if (probe.code !== 0) throw new Error(`go cannot reach the module source (${probe.fault ?? lastLine(probe.stderr)})`);

  input.onProgress(`building ${title} once with ${go}, 2-4 minutes`);
  const startedAt = performance.now();
  const ticker = setInterval(() => {
    input.onProgress(`building ${title}: ${Math.round((performance.now() - startedAt) / 1000)} s`);
  }, limits.progressEveryMs);
  try {
    const built = await runChild({
      ...shared,
      args: ['install', '-trimpath', '-ldflags=-s -w', `${module}/${command}@v${version}`],
      timeoutMs: limits.goBuildTimeoutMs,
    });
    if (built.code !== 0) throw new Error(`the build failed (${built.fault ?? lastLine(built.stderr)})`);
  } finally {
    clearInterval(ticker);
  }
  const path = join(workFolder, programFile(basename(command)));
  await access(path);
  input.onProgress(`${title} built in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return path;
}

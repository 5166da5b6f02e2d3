import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Agent, interceptors, request } from 'undici';
import { childEnvironment } from '../config.ts';
import { temporalCliVersion } from './binary-cache.ts';
import { lastLine, runChild } from './child-run.ts';

/** Limits of the download, in milliseconds. A blocked network must fail over in seconds; a slow one may take its time. */
export interface DownloadLimits {
  connectTimeoutMs: number;
  headersTimeoutMs: number;
  /** The longest silence inside the body. */
  stallTimeoutMs: number;
  totalTimeoutMs: number;
}

export const downloadLimits: DownloadLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  stallTimeoutMs: 15_000,
  totalTimeoutMs: 300_000,
};

/** The address at which Temporal publishes the archive of its CLI for this machine. */
export function officialArchiveUrl(platform = process.platform, arch = process.arch): string {
  const os = platform === 'win32' ? 'windows' : platform;
  const cpu = arch === 'x64' ? 'amd64' : arch;
  return `https://temporal.download/cli/archive/v${temporalCliVersion}?platform=${os}&arch=${cpu}`;
}

export interface DownloadInput {
  url: string;
  workFolder: string;
  limits: DownloadLimits;
  signal?: AbortSignal | undefined;
}

/** Downloads and unpacks the archive into the work folder and answers the program's path. Throws with the reason in one line. */
export async function downloadBinary({ url, workFolder, limits, signal }: DownloadInput): Promise<string> {
  const archive = join(workFolder, 'archive');
  const total = AbortSignal.timeout(limits.totalTimeoutMs);
  const agent = new Agent({
    connect: { timeout: limits.connectTimeoutMs },
    headersTimeout: limits.headersTimeoutMs,
    bodyTimeout: limits.stallTimeoutMs,
  });
  try {
    const response = await request(url, {
      dispatcher: agent.compose(interceptors.redirect({ maxRedirections: 5 })),
      signal: signal === undefined ? total : AbortSignal.any([total, signal]),
    });
    if (response.statusCode !== 200) throw new Error(`it answered with status ${response.statusCode}`);
    await pipeline(response.body, createWriteStream(archive));
  } finally {
    await agent.destroy();
  }
  const file = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
  const unpacked = await runChild({
    command: 'tar',
    args: ['-xf', archive, '-C', workFolder, file],
    env: childEnvironment(),
    timeoutMs: 60_000,
    signal,
  });
  if (unpacked.code !== 0) throw new Error(`tar cannot unpack it (${unpacked.fault ?? lastLine(unpacked.stderr)})`);
  const path = join(workFolder, file);
  await stat(path);
  return path;
}

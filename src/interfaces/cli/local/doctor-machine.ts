import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fetch } from 'undici';
import { describePackagedRules } from '../../../campaign/file/legal-rules.ts';
import { isStale } from '../../../campaign/preflight/warnings.ts';
import { isOldZoneData, timeZoneDataAge } from '../../../operations/control/check/check.ts';
import { zoneDataRelease } from '../../../rules/hours/time-zone.ts';
import { listenText, type ListenAddress } from '../../../shared/config.ts';
import { cachedBinaryPath } from '../../../temporal/binary-cache.ts';
import { findOnPath } from '../../../temporal/programs.ts';
import { findTemporalBinary } from '../../../temporal/server-binary.ts';
import { findListenFault, isSame, samePort } from '../access/local-worker.ts';
import { readVersion } from '../terminal/own-command.ts';
import { bad, doubtful, good, reasonOf, type Check, type Verdict } from './doctor-check.ts';

const oldestNode = { major: 20, minor: 19 };
const mebibyte = 1024 * 1024;

export const machineChecks: readonly Check[] = [
  { name: 'Carillon', look: () => good(readVersion()) },
  { name: 'Node', look: () => evaluateNodeVersion(process.versions.node) },
  {
    name: 'Temporal SDK',
    look: () => good((createRequire(import.meta.url)('@temporalio/client/package.json') as { version: string }).version),
  },
  { name: 'Time-zone data', look: ({ now }) => evaluateZoneData(now) },
  {
    // Needed only by campaigns with hooks, so its absence is no fault.
    name: 'Hook secret',
    look: ({ config: { CARILLON_HOOK_SECRET: secret } }) =>
      good(secret === undefined ? 'not set; campaigns with hooks are refused' : 'set (CARILLON_HOOK_SECRET)'),
  },
  {
    name: 'Records sent',
    look: ({ config: { SVC_API: api, SVC_WEBHOOK_SECRET: secret } }) => {
      if (secret !== undefined)
        return good('taken by carillon serve (SVC_WEBHOOK_SECRET is set): the record of an answered call needs no read');
      return api === 'contract' ? null : good('not taken (SVC_WEBHOOK_SECRET is not set): each ended call costs a read of its record');
    },
  },
  // The legal rules shipped with Carillon; without them no campaign can be read.
  {
    name: 'Rules by law',
    ifItFails: 'Install Carillon again.',
    look: async ({ now }) => {
      const { asOf, count } = await describePackagedRules();
      const detail = `${count} rules as of ${asOf}`;
      const advice = 'Update Carillon, or look them up and name a file of your own in campaign files (docs/campaign-file.md).';
      return isStale(asOf, now) ? doubtful(detail, advice) : good(detail);
    },
  },
  // The program that would start a dev server; finding none is no fault, since one may be downloaded or built.
  {
    name: 'Temporal program',
    ifItFails: 'Correct CARILLON_TEMPORAL_BIN or unset it.',
    look: async ({ config }) => {
      const skipped: string[] = [];
      const found = await findTemporalBinary(config, (reason) => skipped.push(reason));
      if (found !== null) return good(`${found.path} (${steps[found.step]}), server ${found.serverVersion}`);
      if (config.TEMPORAL_ADDRESS !== undefined) return good('none; not needed, TEMPORAL_ADDRESS is set');
      const tried = skipped.length === 0 ? '' : ` (${skipped.join('; ')})`;
      const go = await findOnPath('go', config.PATH);
      return go === null
        ? doubtful(
            `none${tried}, and no Go to build it`,
            'The first carillon dev or demo tries to download it. Where that is blocked: install Go, or the Temporal CLI, or set TEMPORAL_ADDRESS.',
          )
        : doubtful(
            `none yet${tried}; Go is at ${go}`,
            'The first carillon dev or demo downloads it, or builds it with Go: once, 2-4 minutes.',
          );
    },
  },
  {
    name: 'Disk (database)',
    look: ({ config }) => (config.DATABASE_URL === undefined ? spaceAt(resolve(config.CARILLON_DB), 1024) : null),
  },
  {
    name: 'Disk (Temporal)',
    look: ({ config }) => {
      const path = cachedBinaryPath(config);
      // Building with Go needs module sources and a build cache beside the program.
      return !existsSync(path) && config.TEMPORAL_ADDRESS === undefined ? spaceAt(path, 4096) : null;
    },
  },
  // Whether a worker could open the configured ports, or has done so.
  portCheck('Metrics', 'CARILLON_METRICS_LISTEN', { path: '/metrics', sign: 'carillon_' }),
  portCheck('Probes', 'CARILLON_HEALTH_LISTEN', { path: '/healthz', sign: '"healthy":true' }),
  { name: 'Ports', look: ({ config }) => (isSame(config) ? bad(samePort.detail, samePort.advice) : null) },
];

export function evaluateNodeVersion(version: string): Verdict {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const fits = major > oldestNode.major || (major === oldestNode.major && minor >= oldestNode.minor);
  return fits ? good(version) : bad(version, `Use Node ${oldestNode.major}.${oldestNode.minor} or newer.`);
}

/** Calling hours use this data, and countries change their clocks at short notice. */
export function evaluateZoneData(nowMs: number, release: string = zoneDataRelease): Verdict {
  const advice =
    'Update Carillon, or the package moment-timezone alone (docs/operations.md): calling hours follow this data, and clock changes since then are missing.';
  const age = timeZoneDataAge(release, nowMs);
  if (age === null) return doubtful('moment-timezone does not tell which it has', advice);
  if (age.kind === 'newer') return good(`${release}, newer than the releases that this version of Carillon knows`);
  if (age.kind === 'superseded') return doubtful(`${release}, older than ${age.by}`, advice);
  const detail = `${release}, about ${Math.round(age.days / 30.44)} months old`;
  return isOldZoneData(age) ? doubtful(detail, advice) : good(detail);
}

const steps = {
  configured: 'CARILLON_TEMPORAL_BIN',
  path: 'on PATH',
  cache: 'cached',
  download: 'downloaded',
  go: 'built',
};

async function spaceAt(path: string, neededMib: number): Promise<Verdict> {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    const { bavail, bsize } = await statfs(folder);
    const freeMib = Math.floor((bavail * bsize) / mebibyte);
    const detail = `${(freeMib / 1024).toFixed(1)} GiB free at ${folder}`;
    if (freeMib < 100) return bad(detail, 'Make room: nothing can be stored safely there.');
    return freeMib < neededMib ? doubtful(detail, `Make room: ${neededMib / 1024} GiB are advisable.`) : good(detail);
  } catch (error) {
    return doubtful(`cannot be read at ${folder}: ${reasonOf(error)}`, 'Check that the folder can be read.');
  }
}

function portCheck(
  name: string,
  variable: 'CARILLON_METRICS_LISTEN' | 'CARILLON_HEALTH_LISTEN',
  worker: { path: string; sign: string },
): Check {
  return {
    name,
    look: async ({ config: { [variable]: address } }) => {
      if (address === undefined) return good(`not served (${variable} is not set)`);
      const found = await findListenFault(variable, address);
      if (found === null) return good(`${listenText(address)} is free for a worker`);
      return (await isWorker(address, worker)) ? good(`a worker listens at ${listenText(address)}`) : bad(found.detail, found.advice);
    },
  };
}

const limitMs = 2_000;
/** Where to query a listener on all addresses. */
const ownAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

async function isWorker(address: ListenAddress, { path, sign }: { path: string; sign: string }): Promise<boolean> {
  const localAddress = { ...address, host: ownAddresses[address.host] ?? address.host };
  try {
    const answer = await fetch(`http://${listenText(localAddress)}${path}`, {
      signal: AbortSignal.timeout(limitMs),
      redirect: 'manual',
    });
    return (await answer.text()).includes(sign);
  } catch {
    return false;
  }
}

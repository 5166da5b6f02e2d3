import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { isStale } from '../../../campaign/preflight/warnings.ts';
import { describePackagedRules } from '../../../campaign/file/legal-rules.ts';
import { type Config, listenText, type ListenAddress, readConfig } from '../../../shared/config.ts';
import { zoneDataRelease } from '../../../rules/hours/time-zone.ts';
import { cachedBinaryPath } from '../../../temporal/binary-cache.ts';
import { findOnPath } from '../../../temporal/programs.ts';
import { findTemporalBinary } from '../../../temporal/server-binary.ts';
import { isOldZoneData, timeZoneDataAge } from '../../../operations/control/check/check.ts';
import { readVersion } from '../terminal/own-command.ts';
import { fetch } from 'undici';
import { findListenFault, isSame, listenVariables, samePort } from '../access/local-worker.ts';
import { Command } from 'commander';
import pc from 'picocolors';
import { jsonText } from '../../../shared/input/printable.ts';
import { checkDatabase, checkTemporal, checkWorkers, fault, ok, reasonOf, warning, type Finding } from './doctor-reach.ts';
import { checkProxies } from './doctor-proxy.ts';
import { checkInterface } from './doctor-interface.ts';
import { checkService, checkWebhooks, readWebhooks } from './doctor-service.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { runProve } from './doctor-prove.ts';

const oldestNode = { major: 20, minor: 19 };
const mebibyte = 1024 * 1024;

export function checkVersions(nodeVersion: string = process.versions.node): Finding[] {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const fits = major > oldestNode.major || (major === oldestNode.major && minor >= oldestNode.minor);
  const sdk = createRequire(import.meta.url)('@temporalio/client/package.json') as { version: string };
  return [
    ok('Carillon', readVersion()),
    fits ? ok('Node', nodeVersion) : fault('Node', nodeVersion, `Use Node ${oldestNode.major}.${oldestNode.minor} or newer.`),
    ok('Temporal SDK', sdk.version),
  ];
}

/** Only campaigns with hooks need it, so that its absence is no fault. */
export function checkHookSecret({ CARILLON_HOOK_SECRET: secret }: Config): Finding {
  return ok('Hook secret', secret === undefined ? 'not set; campaigns with hooks are refused' : 'set (CARILLON_HOOK_SECRET)');
}

/** Whether `carillon serve` takes what the service sends by itself, and what that spares; nothing for the contract without a secret. */
export function checkSentEvents({ SVC_API: api, SVC_WEBHOOK_SECRET: secret }: Config): Finding[] {
  const name = 'Records sent';
  if (secret !== undefined)
    return [ok(name, 'taken by carillon serve (SVC_WEBHOOK_SECRET is set): the record of an answered call needs no read')];
  return api === 'contract' ? [] : [ok(name, 'not taken (SVC_WEBHOOK_SECRET is not set): each ended call costs a read of its record')];
}

/** Which program a dev server would be started with; finding none blocks only when none can be fetched and none is named. */
export async function checkTemporalBinary(config: Config): Promise<Finding> {
  const name = 'Temporal program';
  const skipped: string[] = [];
  try {
    const found = await findTemporalBinary(config, (reason) => skipped.push(reason));
    if (found !== null) return ok(name, `${found.path} (${steps[found.step]}), server ${found.serverVersion}`);
  } catch (error) {
    return fault(name, reasonOf(error), 'Correct CARILLON_TEMPORAL_BIN or unset it.');
  }
  if (config.TEMPORAL_ADDRESS !== undefined) return ok(name, 'none; not needed, TEMPORAL_ADDRESS is set');
  const tried = skipped.length === 0 ? '' : ` (${skipped.join('; ')})`;
  const go = await findOnPath('go', config.PATH);
  if (go !== null) {
    const advice = 'The first carillon dev or demo downloads it, or builds it with Go: once, 2-4 minutes.';
    return warning(name, `none yet${tried}; Go is at ${go}`, advice);
  }
  const advice =
    'The first carillon dev or demo tries to download it. Where that is blocked: install Go, or the Temporal CLI, or set TEMPORAL_ADDRESS.';
  return warning(name, `none${tried}, and no Go to build it`, advice);
}

const steps = {
  configured: 'CARILLON_TEMPORAL_BIN',
  path: 'on PATH',
  cache: 'cached',
  download: 'downloaded',
  go: 'built',
};

/** Calling hours are reckoned with this data, and countries change their clocks at short notice. */
export function checkTimeZoneData(nowMs: number, release: string = zoneDataRelease): Finding {
  const name = 'Time-zone data';
  const advice =
    'Update Carillon, or the package moment-timezone alone (docs/operations.md): calling hours follow this data, and clock changes since then are missing.';
  const age = timeZoneDataAge(release, nowMs);
  if (age === null) return warning(name, 'moment-timezone does not tell which it has', advice);
  if (age.kind === 'newer') return ok(name, `${release}, newer than the releases that this version of Carillon knows`);
  if (age.kind === 'superseded') return warning(name, `${release}, older than ${age.by}`, advice);
  const detail = `${release}, about ${Math.round(age.days / 30.44)} months old`;
  return isOldZoneData(age) ? warning(name, detail, advice) : ok(name, detail);
}

/** Space where the database grows and where Temporal is kept. */
export async function checkDisk(config: Config): Promise<Finding[]> {
  const places: Place[] = [];
  if (config.DATABASE_URL === undefined) places.push({ name: 'Disk (database)', path: resolve(config.CARILLON_DB), neededMib: 1024 });
  const path = cachedBinaryPath(config);
  // Go needs the module sources and its build cache beside the finished program.
  if (!existsSync(path) && config.TEMPORAL_ADDRESS === undefined) places.push({ name: 'Disk (Temporal)', path, neededMib: 4096 });
  return Promise.all(places.map(checkSpace));
}

interface Place {
  name: string;
  path: string;
  neededMib: number;
}

async function checkSpace({ name, path, neededMib }: Place): Promise<Finding> {
  let folder = dirname(path);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  try {
    const { bavail, bsize } = await statfs(folder);
    const freeMib = Math.floor((bavail * bsize) / mebibyte);
    const detail = `${(freeMib / 1024).toFixed(1)} GiB free at ${folder}`;
    if (freeMib < 100) return fault(name, detail, 'Make room: nothing can be stored safely there.');
    return freeMib < neededMib ? warning(name, detail, `Make room: ${neededMib / 1024} GiB are advisable.`) : ok(name, detail);
  } catch (error) {
    return warning(name, `cannot be read at ${folder}: ${reasonOf(error)}`, 'Check that the folder can be read.');
  }
}

/** The rules by law that come with the program; without them no campaign can be read. */
export async function checkLaw(nowMs: number): Promise<Finding[]> {
  const name = 'Rules by law';
  try {
    const { asOf, count } = await describePackagedRules();
    const detail = `${count} rules as of ${asOf}`;
    const advice = 'Update Carillon, or look them up and name a file of your own in campaign files (docs/campaign-file.md).';
    return [isStale(asOf, nowMs) ? warning(name, detail, advice) : ok(name, detail)];
  } catch (error) {
    return [fault(name, reasonOf(error), 'Install Carillon again.')];
  }
}

const limitMs = 2_000;
/** Where to ask one that listens on all addresses. */
const ownAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const kinds = {
  CARILLON_METRICS_LISTEN: { name: 'Metrics', path: '/metrics', sign: 'carillon_' },
  CARILLON_HEALTH_LISTEN: { name: 'Probes', path: '/healthz', sign: '"healthy":true' },
} as const;

/** Whether a worker could open the ports that the settings name, or one has done so. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    listenVariables.map(async (variable): Promise<Finding> => {
      const address = config[variable];
      const { name, ...kind } = kinds[variable];
      if (address === undefined) return ok(name, `not served (${variable} is not set)`);
      const found = await findListenFault(variable, address);
      if (found === null) return ok(name, `${listenText(address)} is free for a worker`);
      if (await isWorker(address, kind)) return ok(name, `a worker listens at ${listenText(address)}`);
      return fault(name, found.detail, found.advice);
    }),
  );
  return isSame(config) ? [...findings, fault('Ports', samePort.detail, samePort.advice)] : findings;
}

async function isWorker(address: ListenAddress, { path, sign }: { path: string; sign: string }): Promise<boolean> {
  const asked = { ...address, host: ownAddresses[address.host] ?? address.host };
  try {
    const answer = await fetch(`http://${listenText(asked)}${path}`, {
      signal: AbortSignal.timeout(limitMs),
      redirect: 'manual',
    });
    return (await answer.text()).includes(sign);
  } catch {
    return false;
  }
}

const examples = `
Exit code 1 if a fault keeps Carillon from working, otherwise 0.

Examples:
  carillon doctor --json
  carillon doctor campaign.yaml
  SVC_API=batch-calling carillon doctor --prove-lookup --to +12125550123`;

type DoctorIo = Pick<Io, 'stdout' | 'env' | 'colour' | 'now' | 'exitCode'>;

interface DoctorFlags {
  json: boolean;
  proveLookup: boolean;
  to?: string;
  yes: boolean;
}

export function doctorCommand(io: Io): Command {
  return new Command('doctor')
    .description('Diagnose this installation and suggest fixes. Places no call, and changes nothing but with --prove-lookup.')
    .argument('[campaign]', 'campaign file whose agent and caller numbers are to be looked at')
    .option('--json', 'print the findings as JSON', false)
    .addHelpText('after', examples)
    .option('--prove-lookup', 'schedule one call 30 days ahead, look it up and take it back; keeps what was seen', false)
    .option('--to <number>', 'with --prove-lookup: your own phone number, in E.164 form; it is not called')
    .option('-y, --yes', 'with --prove-lookup: do not ask for confirmation', false)
    .action(async (campaignPath: string | undefined, { proveLookup, to, yes, json }: DoctorFlags) => {
      if (!proveLookup && (to !== undefined || yes)) throw new UsageError('--to and --yes belong to --prove-lookup.');
      if (!proveLookup) return void (await runDoctor(io, { json, campaignPath }));
      if (to === undefined) throw new UsageError('--prove-lookup needs a number of your own: --to +12125550123');
      await runProve(io, { to, campaignPath: campaignPath ?? null, yes, json });
    });
}

/** Looks at everything at once, each with a limit of some seconds, and prints what it found. */
export async function runDoctor(io: DoctorIo, options: { json: boolean; campaignPath?: string | undefined }): Promise<Finding[]> {
  const findings = await examine(readConfig(io.env), io.now(), options.campaignPath ?? null);
  const works = findings.every(({ status }) => status !== 'fault');
  const text = options.json ? `${jsonText({ ok: works, findings }, 2)}\n` : render(findings, io.colour);
  io.stdout.write(text);
  io.exitCode = works ? 0 : 1;
  return findings;
}

async function examine(config: Config, nowMs: number, campaignPath: string | null): Promise<Finding[]> {
  const webhooks = readWebhooks(config);
  const groups = await Promise.all([
    checkLaw(nowMs),
    checkTemporalBinary(config),
    checkTemporal(config),
    checkDatabase(config),
    checkDisk(config),
    checkService(config),
    checkProxies(config, campaignPath, webhooks),
    checkInterface(config, campaignPath),
    checkPorts(config),
    checkWorkers(config, nowMs),
    checkWebhooks(config, nowMs, webhooks),
  ]);
  return [...checkVersions(), checkTimeZoneData(nowMs), checkHookSecret(config), ...checkSentEvents(config), ...groups.flat()];
}

function render(findings: readonly Finding[], colour: boolean): string {
  const { green, yellow, red, bold } = pc.createColors(colour);
  const marks = { ok: green('ok     '), warning: yellow('warning'), fault: red('FAULT  ') };
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, status, detail, advice }) => {
    const line = `${marks[status]}  ${name.padEnd(width)}  ${detail}`;
    return advice === null ? [line] : [line, `${' '.repeat(width + 11)}${advice}`];
  });
  const count = (wanted: Finding['status']): number => findings.filter(({ status }) => status === wanted).length;
  const [faults, warnings] = [count('fault'), count('warning')];
  lines.push(
    '',
    bold(faults === 0 ? 'Carillon can work here.' : 'Carillon cannot work here as it is set up.') +
      ` Faults: ${faults}, warnings: ${warnings}.`,
  );
  return `${lines.join('\n')}\n`;
}

import pc from 'picocolors';
import { readConfig } from '../../../shared/config.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { commandOf, type CommandOutput } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { Around, examine, type Check, type Finding } from './doctor-check.ts';
import { machineChecks } from './doctor-machine.ts';
import { runProve } from './doctor-prove.ts';
import { reachChecks } from './doctor-reach.ts';
import { serviceChecks } from './doctor-service.ts';

const checks: readonly Check[] = [...machineChecks, ...reachChecks, ...serviceChecks];

/** All checks or the named ones, in the order of the checks. */
export function findingsOf(around: Around, names: readonly string[] | null = null): Promise<Finding[]> {
  return examine(names === null ? checks : checks.filter(({ name }) => names.includes(name)), around);
}

interface DoctorFlags {
  proveLookup: boolean;
  to?: string;
}

export const doctorCommand = commandOf<DoctorFlags, string | undefined>({
  name: 'doctor',
  says: 'Diagnose this installation and suggest fixes. Places no call, and changes nothing but with --prove-lookup.',
  argument: ['[campaign]', 'campaign file whose agent and caller numbers are to be looked at'],
  flags: [
    ['--prove-lookup', 'schedule one call 30 days ahead, look it up and take it back; keeps what was seen', false],
    ['--to <number>', 'with --prove-lookup: your own phone number, in E.164 form; it is not called'],
  ],
  asks: 'with --prove-lookup: do not ask for confirmation',
  json: 'print the findings as JSON',
  help: '\nExit code 1 if a fault keeps Carillon from working, otherwise 0.',
  examples: [
    'carillon doctor --json',
    'carillon doctor campaign.yaml',
    'SVC_API=batch-calling carillon doctor --prove-lookup --to +12125550123',
  ],
  run: async (io, { proveLookup, to, yes, json }, path) => {
    const campaignPath = path ?? null;
    if (!proveLookup) {
      if (to !== undefined || yes) throw new UsageError('--to and --yes belong to --prove-lookup.');
      return formatFindings(io, await findingsOf(new Around(readConfig(io.env), io.now(), campaignPath)));
    }
    if (to === undefined) throw new UsageError('--prove-lookup needs a number of your own: --to +12125550123');
    await runProve(io, { to, campaignPath, yes, json });
    return null;
  },
});

function formatFindings(io: Io, findings: readonly Finding[]): CommandOutput {
  const works = findings.every(({ status }) => status !== 'fault');
  io.exitCode = works ? 0 : 1;
  return { data: { ok: works, findings }, words: render(findings, io.colour) };
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

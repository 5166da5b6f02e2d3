import { Command } from 'commander';
import pc from 'picocolors';
import { jsonText } from '../../../shared/input/printable.ts';
import { readConfig, type Config } from '../../../shared/config.ts';
import {
  type Finding,
  checkDisk,
  checkHookSecret,
  checkLaw,
  checkTemporalBinary,
  checkTimeZoneData,
  checkVersions,
  checkPorts,
} from './doctor-machine.ts';
import { checkDatabase, checkTemporal, checkWorkers } from './doctor-reach.ts';
import { checkService, checkWebhooks } from './doctor-service.ts';
import type { Io } from '../terminal/io.ts';

type DoctorIo = Pick<Io, 'stdout' | 'env' | 'colour' | 'now' | 'exitCode'>;

export function doctorCommand(io: DoctorIo): Command {
  return new Command('doctor')
    .description('Diagnose this installation and suggest fixes. Changes nothing and places no call.')
    .option('--json', 'print the findings as JSON', false)
    .addHelpText('after', '\nExit code 1 if a fault keeps Carillon from working, otherwise 0.\n\nExample:\n  carillon doctor --json')
    .action(async (flags: { json: boolean }) => void (await runDoctor(io, flags)));
}

/** Looks at everything at once, each with a limit of some seconds, and prints what it found. */
export async function runDoctor(io: DoctorIo, options: { json: boolean }): Promise<Finding[]> {
  const findings = await examine(readConfig(io.env), io.now());
  const works = findings.every(({ status }) => status !== 'fault');
  const text = options.json ? `${jsonText({ ok: works, findings }, 2)}\n` : render(findings, io.colour);
  io.stdout.write(text);
  io.exitCode = works ? 0 : 1;
  return findings;
}

async function examine(config: Config, nowMs: number): Promise<Finding[]> {
  const groups = await Promise.all([
    checkLaw(nowMs),
    checkTemporalBinary(config),
    checkTemporal(config),
    checkDatabase(config),
    checkDisk(config),
    checkService(config),
    checkPorts(config),
    checkWorkers(config, nowMs),
    checkWebhooks(config, nowMs),
  ]);
  return [...checkVersions(), checkTimeZoneData(nowMs), checkHookSecret(config), ...groups.flat()];
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

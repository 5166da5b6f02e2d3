import { Command } from 'commander';
import { isLoopbackAddress } from '../../../sandbox/core/allowed-host.ts';
import { sandboxKey } from '../../../sandbox/http/authentication.ts';
import type { RunningSandbox } from '../../../sandbox/start.ts';
import { untilAborted } from '../terminal/interrupt.ts';
import type { Io } from '../terminal/io.ts';
import { controlCommands } from './control.ts';
import { execCommand } from './exec.ts';
import { addSandboxFlags, defaultPort, startFromFlags, type SandboxFlags } from './flags.ts';

export type { SandboxFlags };

export interface SandboxIo {
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
  /** Aborted to stop the sandbox. */
  stop: AbortSignal;
}

const examples = `
Examples:
  carillon sandbox                               on port ${defaultPort}, in real time
  carillon sandbox --port 0 --json               on any free port; one JSON line on stdout when ready
  carillon sandbox --speed 120 --seed 7          two hours of calls in a minute, the same calls every time
  carillon sandbox --dialect spec                only what the contract promises
  carillon sandbox exec -- npm test              run a command with a private sandbox and judge it at the end
  carillon sandbox --faults faults.json          with [{"operation":14,"nth":2,"effect":{"type":"reset","when":"after"}}]
  carillon sandbox --world people.yaml           with the callees of this file
  carillon sandbox --fixture fixture.yaml        with agents, numbers, webhooks, callees and faults of this file
  carillon sandbox --host 0.0.0.0                for containers and other machines, with a control token
  carillon sandbox advance 2h                    advance a running sandbox; see also faults, fixture, reset, snapshot

While it runs, GET /_sandbox/conduct?format=text judges the client, /_sandbox/calls lists calls, /_sandbox/journal lists requests,
and /_sandbox/faults lists fault rules. None of these needs a key.`;

export function sandboxCommand(io?: Pick<Io, 'exitCode' | 'stdout' | 'env'>): Command {
  const end = (code: number): void => {
    (io ?? process).exitCode = code;
  };
  const command = addSandboxFlags(new Command('sandbox'), String(defaultPort))
    .description('Run the voice-agent service locally with a simulated phone network')
    .option('--json', 'print one JSON line to stdout when ready')
    .enablePositionalOptions()
    .helpCommand(false)
    .addCommand(execCommand(end))
    .addHelpText('after', examples)
    .action(async (flags: SandboxFlags) => {
      const stopping = new AbortController();
      const stop = (): void => stopping.abort();
      process.once('SIGINT', stop).once('SIGTERM', stop);
      try {
        end(await runSandbox(flags, { stdout: process.stdout, stderr: process.stderr, stop: stopping.signal }));
      } finally {
        process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
      }
    });
  for (const control of controlCommands(io ?? { stdout: process.stdout, env: undefined, exitCode: 0 })) command.addCommand(control);
  return command;
}

/** Returns the exit code: 0, or 2 when it could not start. */
export async function runSandbox(flags: SandboxFlags, io: SandboxIo): Promise<number> {
  const sandbox = await startFromFlags(flags, io.stderr);
  if (sandbox === null) return 2;
  io.stderr.write(banner(sandbox, flags));
  if (flags.json === true) io.stdout.write(`${JSON.stringify(readyLine(sandbox, flags))}\n`);
  await untilAborted(io.stop);
  await sandbox.close();
  const kept = sandbox.dataFile === null ? 'nothing of it is kept' : `its state is in ${sandbox.dataFile}`;
  io.stderr.write(`The sandbox has stopped; ${kept}.\n`);
  return 0;
}

function readyLine(sandbox: RunningSandbox, flags: SandboxFlags): Record<string, unknown> {
  return {
    ready: true,
    url: sandbox.url,
    port: sandbox.port,
    apiKey: sandboxKey,
    dialect: flags.dialect ?? 'extended',
    speed: sandbox.clock.speed,
    storage: sandbox.dataFile === null ? 'memory' : 'file',
    agents: sandbox.agents.map(({ agentId }) => agentId),
    phoneNumbers: sandbox.phoneNumbers.map(({ phoneNumberId }) => phoneNumberId),
  };
}

function describeSpeed({ clock }: RunningSandbox): string {
  return clock.speed === 0 ? 'a clock that is moved by hand' : `speed ${clock.speed}`;
}

function banner(sandbox: RunningSandbox, flags: SandboxFlags): string {
  const agents = sandbox.agents.map(({ agentId, name }) => `${agentId} (${name})`);
  const numbers = sandbox.phoneNumbers.map(
    ({ phoneNumberId, phoneNumber, verified }) => `${phoneNumberId} ${phoneNumber}${verified ? '' : ' (not verified)'}`,
  );
  return [
    `The sandbox listens on ${sandbox.url} (dialect ${flags.dialect ?? 'extended'}, ${describeSpeed(sandbox)}). Nothing real is called.`,
    `  state          ${sandbox.dataFile === null ? 'in memory: nothing is kept' : `kept in ${sandbox.dataFile}`}`,
    ...(flags.host === undefined || isLoopbackAddress(flags.host) ? [] : [othersLine(flags.host, sandbox.port)]),
    `  SVC_BASE_URL=${sandbox.url} SVC_API_KEY=${sandboxKey}${flags.dialect === 'published' ? ' SVC_API=batch-calling' : ''}`,
    `  agents         ${someOf(agents)}`,
    `  caller numbers ${someOf(numbers)}`,
    `  conduct report ${sandbox.url}/_sandbox/conduct?format=text`,
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}

function othersLine(host: string, port: number): string {
  return `  others         reach it on ${host}, port ${port}; the page and /_sandbox ask them for the control token`;
}

const mostNamed = 10;

function someOf(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > mostNamed ? `, and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}

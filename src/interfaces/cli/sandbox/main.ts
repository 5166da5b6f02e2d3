#!/usr/bin/env node
import { argv, exit, stderr, stdout } from 'node:process';
import { CommanderError, type Command } from 'commander';
import { sandboxVersion } from '../../../sandbox/core/version.ts';
import { describeFailure } from '../terminal/failure.ts';
import { sandboxCommand } from './sandbox.ts';

// The package carillon-sandbox: `carillon sandbox` alone.
const name = 'carillon-sandbox';
const asTyped = (text: string): string => text.replaceAll('carillon sandbox', name);

function prepare(command: Command): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => void stdout.write(asTyped(text)),
    writeErr: (text) => void stderr.write(text),
  });
  for (const inner of command.commands) prepare(inner);
}

const io = { stdout, env: undefined, exitCode: 0 };
try {
  const command = sandboxCommand(io).name(name).version(sandboxVersion, '-V, --version', 'print the version');
  prepare(command);
  await command.parseAsync(argv.slice(2), { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) io.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    const { message, exitCode } = describeFailure(error, false);
    if (message !== '') stderr.write(`${asTyped(message)}\n`);
    io.exitCode = exitCode;
  }
}
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
exit(io.exitCode);

#!/usr/bin/env node
import { argv, exit, stderr, stdout } from 'node:process';
import { environmentProxies } from '../../shared/config.ts';
import { describeFailure } from './terminal/failure.ts';
import { processIo } from './terminal/io.ts';
import { runCli, reportFailure } from './run-cli.ts';

// Ledger, results and Temporal's data contain what recipients said. A command run by `sandbox exec` keeps its user's mask.
if (!(argv[2] === 'sandbox' && argv.includes('exec'))) process.umask(0o077);
// The only place that ends the process.
const args = argv.slice(2);
const io = processIo(exit, args);
const stop = (error: unknown): void => {
  reportFailure(args, io, describeFailure(error, false));
  exit(1);
};
process.on('uncaughtException', stop);
process.on('unhandledRejection', stop);

const proxies = environmentProxies();
// Lazy import: slower than many commands.
if (proxies.http !== null || proxies.https !== null) (await import('../../shared/network/connector.ts')).routeFetch(proxies);

const code = await runCli(args, io);
// Piped output may still be in flight; an open library handle must not keep a finished command alive.
await Promise.all([stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))));
exit(io.endedByReader() ? 0 : code);

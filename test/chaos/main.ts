/** Disturbs campaigns in every way and judges them by the service's own call log: npm run chaos -- --help */
import { runActivitiesLevel } from './activities-level.ts';
import { help, parseFlags, WrongUsageError, type ChaosFlags } from './chaos-flags.ts';
import { runLedgerLevel } from './ledger-level.ts';
import { Progress } from './progress.ts';
import { runSystemLevel } from './system-level.ts';

/** What a killed process left waiting would keep this one. */
function end(text: string, code: 0 | 1): void {
  process.stdout.write(`${text.trimEnd()}\n`, () => process.exit(code));
}

function readFlags(): ChaosFlags {
  try {
    return parseFlags(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof WrongUsageError)) throw error;
    process.stderr.write(`${error.message} See npm run chaos -- --help.\n`);
    process.exit(2);
  }
}

function endWith(parts: readonly string[], broken: readonly string[]): void {
  end(parts.join('\n\n'), broken.length > 0 ? 1 : 0);
}

const flags = readFlags();
const progress = new Progress();
const stopping = new AbortController();
const watch = { progress, stop: stopping.signal };
process.once('SIGINT', () => stopping.abort());
switch (flags.kind) {
  case 'help':
    end(help, 0);
    break;
  case 'activities': {
    const { figures, broken } = await runActivitiesLevel(flags.options, watch);
    progress.end();
    endWith([figures], broken);
    break;
  }
  case 'system': {
    const { figures, broken } = await runSystemLevel(flags.options, watch);
    progress.end();
    endWith([figures], broken);
    break;
  }
  case 'ledger': {
    const results = await runLedgerLevel(flags.options, watch);
    progress.end();
    endWith(
      results.flatMap(({ figures, matrix }) => [figures, matrix.format()]),
      results.flatMap(({ broken }) => broken),
    );
    break;
  }
}

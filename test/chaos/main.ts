/** Disturbs campaigns in every way and judges them by the service's own call log: npm run chaos -- --help */
import { runActivitiesLevel } from './activities-level.ts';
import { help, parseFlags, WrongUsageError, type ChaosFlags } from './chaos-flags.ts';
import { runLedgerLevel } from './ledger-level.ts';
import { Progress } from './progress.ts';
import { writeMatrix, writeSection } from './proof-section.ts';

const shownStories = 5;

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
  const more = broken.length > shownStories ? [`and ${broken.length - shownStories} more`] : [];
  end([...parts, ...broken.slice(0, shownStories), ...more].join('\n\n'), broken.length > 0 ? 1 : 0);
}

const flags = readFlags();
const progress = new Progress();
switch (flags.kind) {
  case 'help':
    end(help, 0);
    break;
  case 'activities': {
    const { figures, broken } = await runActivitiesLevel(flags.options, progress);
    progress.end();
    if (flags.write) await writeSection('activities', figures);
    endWith([figures], broken);
    break;
  }
  case 'ledger': {
    const { figures, broken, matrix } = await runLedgerLevel(flags.options, progress);
    progress.end();
    if (flags.write) {
      await writeSection('ledger', figures);
      await writeMatrix(matrix);
    }
    endWith([figures, matrix.format()], broken);
    break;
  }
}

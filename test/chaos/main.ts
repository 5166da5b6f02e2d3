/** Disturbs small campaigns in every way and judges them by the service's own call log: npm run chaos -- --help */
import { help, parseFlags, runChaos, WrongUsageError } from './command.ts';

/** What a killed process left waiting would keep this one. */
function end(text: string, code: 0 | 1 | 2, to: NodeJS.WriteStream = process.stdout): void {
  to.write(`${text.trimEnd()}\n`, () => process.exit(code));
}

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());
try {
  const asked = parseFlags(process.argv.slice(2));
  if (asked === null) end(help, 0);
  else {
    const say = (text: string) => process.stderr.write(`${text}\n`);
    const { text, isBroken } = await runChaos(asked, { tell: (story) => say(`${story}\n`), progress: say, stop: stopping.signal });
    end(text, isBroken ? 1 : 0);
  }
} catch (error) {
  if (!(error instanceof WrongUsageError)) throw error;
  end(`${error.message} See npm run chaos -- --help.`, 2, process.stderr);
}

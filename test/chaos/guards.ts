/** Takes guards out of a copy of the code, one at a time, and says which case of the design catches it: npm run chaos:guards -- --help */
import { setImmediate } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { aims } from './aims.ts';
import { GuardSearch } from './guard-search.ts';

const longestMinutes = 5;

const help = `Takes guards out of a copy of the code, one at a time, and looks for the case of the design that catches it. A guard that no case
can see is taken out under the test that does see it.

Usage: npm run chaos:guards -- [--guard NAME]

  --guard NAME   one of them (default: all, in about half an hour):
${aims.map(({ guard }) => `                   "${guard}"`).join('\n')}

Examples:
  npm run chaos:guards -- --guard "the second entry makes it unknown"
  npm run chaos:guards

A search ends after ${longestMinutes} minutes. Where it looks is written in test/chaos/aims.ts.
Exits with 0 if each was caught and the whole code is clean in the same cases, with 1 if not, and with 2 on wrong usage.
`;

function refuse(problem: string): never {
  process.stderr.write(`${problem} See npm run chaos:guards -- --help.\n`);
  process.exit(2);
}

function readFlags() {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { guard: string, help: boolean } }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ')[0]}.`);
  }
}

const flags = readFlags();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}
const asked = aims.filter(({ guard }) => flags.guard === undefined || guard === flags.guard);
if (asked.length === 0) refuse(`There is no guard "${flags.guard}".`);
const search = new GuardSearch(longestMinutes * 60_000);
process.once('SIGINT', () => process.exit(1));
process.on('exit', () => search.cleanUp());
let missed = 0;
for (const [index, each] of asked.entries()) {
  // Whoever ends it with Ctrl-C is heard between two guards: what runs for one ends with it.
  await setImmediate();
  process.stderr.write(`${index + 1} of ${asked.length}: ${each.guard}\n`);
  const finding = await search.find(each);
  if (!finding.ok) missed += 1;
  process.stdout.write(`${each.guard}; ${finding.by}${finding.whole === '' ? '' : `; ${finding.whole}`}\n`);
}
if (missed > 0) process.stdout.write(`${missed} of ${asked.length} guards were not caught as they are to be.\n`);
process.exit(missed === 0 ? 0 : 1);

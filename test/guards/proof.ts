/** Takes each guard out of a copy of the code and looks for violations: npm run proof [-- --guard NAME] [--seeds 200] */
import { parseArgs } from 'node:util';
import { startPostgresServer, type PostgresServer } from '../support/postgres-server.ts';
import { Copy } from './copy.ts';
import type { Edit, Guard } from './guard.ts';
import { guards } from './guards.ts';
import type { Asked } from './plays.ts';

const { values } = parseArgs({
  options: {
    guard: { type: 'string', multiple: true, default: [] },
    /** Of the worlds; 0: only interleavings and tests. */
    seeds: { type: 'string', default: '200' },
  },
});
const seeds = Number(values.seeds);
/** Limit of the interleavings; at most some hundred reach a guard. */
const mostCases = 10_000;

const copies = new Set<Copy>();
process.on('exit', () => {
  for (const copy of copies) copy.remove();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

function copyWithout(edits: readonly Edit[]): Copy {
  const copy = new Copy(edits);
  copies.add(copy);
  return copy;
}

const whole = copyWithout([]);
let server: PostgresServer | undefined;
let databases = 0;

async function newDatabase(): Promise<string> {
  server ??= await startPostgresServer();
  return server.createDatabase(`guard_${(databases += 1)}`);
}

/** What showed that a guard was gone; `caught`: only without the guard. */
interface Finding {
  caught: boolean;
  text: string;
}

/** Plays the copy up to the first broken promise; then the same with the whole code. */
async function findByPlays(copy: Copy, ask: () => Promise<Asked>, endless = false): Promise<Finding> {
  const found = await copy.play(await ask(), endless);
  if ('clean' in found) return { caught: false, text: `not by any of ${found.clean} plays` };
  const beside = await whole.play({ ...(await ask()), most: found.nth });
  const text = 'clean' in beside ? `whole: ${beside.clean} clean` : `whole: broken too, ${beside.at}`;
  return { caught: 'clean' in beside, text: `${found.at}: ${found.broken}; ${text}` };
}

function findByTest(copy: Copy, test: NonNullable<Guard['test']>): Finding {
  const [without, within] = [copy.test(test), whole.test(test)];
  const text = `${test[0]}: ${without.failed} of ${without.run} fail; whole: ${within.failed} of ${within.run} fail`;
  return { caught: without.failed > 0 && within.failed === 0, text };
}

async function prove({ edits, worlds = [], api = 'contract', aim, endless, test }: Guard): Promise<Finding> {
  const copy = copyWithout(edits);
  const findings: Finding[] = [];
  try {
    if (worlds.length > 0 && seeds > 0) findings.push(await findByPlays(copy, async () => ({ worlds, api, most: seeds })));
    if (aim !== undefined) {
      const ask = async () => ({ aim, most: mostCases, ...(aim.database === undefined ? {} : { databaseUrl: await newDatabase() }) });
      const found = await findByPlays(copy, ask, endless);
      // Worlds may not reach it; an aim that does not is wrong.
      if (!found.caught) return found;
      findings.push(found);
    }
    if (test !== undefined && !findings.some(({ caught }) => caught)) findings.push(findByTest(copy, test));
    return { caught: findings.some(({ caught }) => caught), text: findings.map(({ text }) => text).join(' | ') };
  } finally {
    copy.remove();
    copies.delete(copy);
  }
}

const chosen = guards.filter(({ name }) => values.guard.length === 0 || values.guard.some((part) => name.includes(part)));
if (chosen.length === 0) throw new Error(`No guard is named so. There are: ${guards.map(({ name }) => name).join('; ')}.`);

let missed = 0;
for (const guard of chosen) {
  const { caught, text } = await prove(guard).catch((error: Error): Finding => ({ caught: false, text: error.message }));
  if (!caught) missed += 1;
  process.stdout.write(`${caught ? '' : 'NOT CAUGHT: '}${guard.name}: ${text}\n`);
}
process.stdout.write(`${chosen.length - missed} of ${chosen.length} guards were caught.\n`);
await server?.stop();
process.exit(missed === 0 ? 0 : 1);

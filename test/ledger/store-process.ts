import type { Disposition } from '../../src/rules/disposition.ts';
import { settleAttempts } from '../../src/ledger/rows/settle.ts';
import { openStore, type StoreLocation } from '../../src/ledger/open-ledger.ts';
import { lockSqliteFile } from '../../src/ledger/worker-lock.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import { buildRows, buildRules, minuteMs } from '../support/campaign-rules.ts';
import { beginProven, noon, numbers } from './scenario.ts';

const [what, location = '{}'] = process.argv.slice(2);
const place = JSON.parse(location) as StoreLocation;

const dispositions: [Disposition, ...Disposition[]] = ['answered', 'voicemail', 'busy', 'no_answer', 'failed'];

/** Dials, settles and corrects a campaign; prints a line for each transaction. */
async function writeForEver(): Promise<never> {
  const store = await openStore(place);
  const rows = buildRows(numbers(600), (index) => `Guest ${index}`);
  const retry = { ...buildRules().retry, maxAttempts: 4 };
  const pacing = { maxConcurrentCalls: 12, startsPerMinute: null, batchSize: 6, refillThreshold: 1 };
  const scenario = await beginProven(store, { rows, rules: { retry, pacing } });
  const random = new Random('writes', 1);
  const posted: string[] = [];
  for (let [now, n] = [noon, 1]; ; now += minuteMs) {
    const plan = await scenario.plan(n, now);
    if (plan.kind === 'batch') {
      posted.push(...(await scenario.dial(n, now)));
      n += 1;
    }
    const attemptId = random.pick(posted.slice(-30) as [string, ...string[]]);
    const disposition = random.pick(dispositions);
    const result = { disposition, detail: null, counted: disposition !== 'failed' };
    await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
    console.log(n);
  }
}

if (what === 'open') {
  const store = await openStore(place);
  console.log(store.ledgerId);
  await store.close();
} else if (what === 'write') {
  await writeForEver();
} else {
  try {
    lockSqliteFile(place.sqlitePath);
    console.log('locked');
    // Holds it until it is killed.
    setInterval(() => {}, 1_000);
  } catch (error) {
    console.log((error as Error).message);
  }
}

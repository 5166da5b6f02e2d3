import { setTimeout as pause } from 'node:timers/promises';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { answered, noon, Scenario } from '../test/ledger/scenario.ts';
import { readInput, writeResult } from './child.ts';

/** A worker's share of the ledger, five times a second: a batch of 20 is planned, posted, confirmed, and its records are collected. */
const everyMs = 200;
const { location, campaignId, firstBatch } = readInput() as {
  location: StoreLocation;
  campaignId: string;
  firstBatch: number;
};
const store = await openStore(location, 'as-is');
const scenario = new Scenario(store, campaignId);
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
writeResult({ ready: true });
for (let n = firstBatch; !stopping.signal.aborted; n++) {
  const begun = performance.now();
  const at = noon + n * 1_000;
  // Everybody was called.
  if ((await scenario.plan(n, at)).kind !== 'batch') break;
  const attempts = await scenario.dial(n, at);
  const calls = await store.db.selectFrom('attempts').select(['attempt_id', 'e164']).where('attempt_id', 'in', attempts).execute();
  await scenario.sweep(
    at + 600_000,
    calls.map(({ attempt_id: attempt, e164 }) => answered(`conv_${attempt}`, e164, at + 5_000)),
  );
  await pause(Math.max(0, everyMs - (performance.now() - begun)));
}
await store.close();

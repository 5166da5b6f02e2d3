import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { commandFolder } from './terminal.ts';
import type { Store } from '../../../src/ledger/tx.ts';

/** Campaign `spring`, without Temporal or service: answered, busy, and rejected. */
export async function createLedger() {
  const nobody = '127.0.0.1:1';
  const folder = commandFolder({ TEMPORAL_ADDRESS: nobody, SVC_BASE_URL: `http://${nobody}` });
  const change = async (work: (store: Store) => Promise<unknown>): Promise<void> => {
    const store = await openStore({ sqlitePath: folder.env.CARILLON_DB });
    try {
      await work(store);
    } finally {
      await store.close();
    }
  };
  await change(async (store) => {
    const rows = buildRows(['+12125550101', '+12125550102', ''], (index) => ['Ana', 'Ben', '=1+1'][index] ?? '');
    const scenario = await beginProven(store, {
      rows: rows.map((row, index) => (index === 2 ? { ...row, e164: null, verdict: 'rejected', reason: 'missing_phone' } : row)),
      rules: { retry: { maxAttempts: 1 } },
    });
    await scenario.dial(1, noon);
    await settle(store, 'spring/1/1', 'answered', noon + minuteMs);
  });
  const read = (name: string) => readFileSync(folder.path(name), 'utf8');
  const cells = (name: string): string[][] => parse(read(name));
  return { ...folder, read, cells, change };
}

export type Ledger = Awaited<ReturnType<typeof createLedger>>;

async function settle(store: Store, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result = { disposition, detail: null, counted: true };
  await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

/** The second row was busy, and that was its only attempt. */
export async function endCampaign(store: Store): Promise<void> {
  await settle(store, 'spring/2/1', 'busy', noon + 2 * minuteMs);
  expect(await closeRound(store, { campaignId: 'spring', now: noon + 3 * minuteMs }, 1)).toBe(true);
}

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, onTestFinished } from 'vitest';
import type { Io } from '../../../src/interfaces/cli/terminal/io.ts';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import type { Disposition } from '../../../src/rules/disposition.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { closeRound } from '../../../src/ledger/campaign/rounds.ts';
import { settleAttempts } from '../../../src/ledger/rows/settle.ts';
import { beginProven, noon } from '../../ledger/scenario.ts';
import { buildRows, minuteMs } from '../../support/campaign-rules.ts';
import { createTerminal } from './terminal.ts';
import type { Store } from '../../../src/ledger/tx.ts';

export interface Ledger {
  folder: string;
  path(name: string): string;
  read(name: string): string;
  /** Cells of a CSV file, its header first. */
  cells(name: string): string[][];
  /** Works on the database as a worker would. */
  change(work: (store: Store) => Promise<unknown>): Promise<void>;
  run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  begin(
    args: string[],
    io?: Partial<Io>,
  ): {
    written: () => { stdout: string; stderr: string };
    interrupt: () => void;
    ended: Promise<{ code: number; stdout: string; stderr: string }>;
  };
}

/** Campaign `spring` in a database of its own, without Temporal or service: answered, busy, and one that was rejected. */
export async function createLedger(): Promise<Ledger> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-results-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sqlitePath = join(folder, 'carillon.db');
  const env = {
    CARILLON_DB: sqlitePath,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SVC_BASE_URL: 'http://127.0.0.1:1',
    SVC_API_KEY: 'sk_sandbox_ok',
  };
  const change: Ledger['change'] = async (work) => {
    const store = await openStore({ sqlitePath });
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
  const begin: Ledger['begin'] = (args, settings = {}) => {
    let interrupt = (): void => {};
    const onInterrupt: Io['onInterrupt'] = (handler) => {
      interrupt = () => handler();
      return () => {};
    };
    const io = createTerminal({ env, onInterrupt, ...settings });
    const ended = runCli(args, io).then((code) => ({ code, ...io.written() }));
    return { written: () => io.written(), interrupt: () => interrupt(), ended };
  };
  return {
    folder,
    path: (name) => join(folder, name),
    read: (name) => readFileSync(join(folder, name), 'utf8'),
    cells: (name) => parse(readFileSync(join(folder, name), 'utf8')),
    change,
    run: (...args) => begin(args).ended,
    begin,
  };
}

async function settle(store: Store, attemptId: string, disposition: Disposition, now: number): Promise<void> {
  const result = { disposition, detail: null, counted: true };
  await store.transaction((tx) => settleAttempts(tx, { campaignId: 'spring', now }, [{ attemptId, result }]));
}

/** The second row was busy, and that was its only attempt. */
export async function endCampaign(store: Store): Promise<void> {
  await settle(store, 'spring/2/1', 'busy', noon + 2 * minuteMs);
  expect(await closeRound(store, { campaignId: 'spring', now: noon + 3 * minuteMs }, 1)).toBe(true);
}

import { expect } from 'vitest';
import { campaignWorkflowId } from '../../src/rules/ids.ts';
import type { ConductReport } from '../../src/sandbox/judge/conduct-report.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { readResults } from '../../src/ledger/read/result-rows.ts';
import { booksOf, readLedger, rowsOf, type Ledger } from '../world/gather.ts';
import { auditOf, isDoubtCaused } from '../world/judge/doubt.ts';
import type { Attempt, Evidence } from '../world/judge/evidence.ts';
import { judge } from '../world/judge/judge.ts';
import type { CampaignRun } from './campaign-run.ts';
import { findTokens, textOfWorkflow } from './leak-scan.ts';
import type { PlantedList } from './planted-list.ts';

export interface RunFaults {
  /** Ids of POSTs whose reply was lost with its process. */
  lostReplies?: readonly string[];
  /** Batches that never reached the service: an operator decides about their rows. */
  destroyed?: readonly string[];
  /** Checks of the conduct report that the test itself makes a caller break. */
  misconduct?: readonly ConductReport['checks'][number]['name'][];
  others?: readonly { id: string; list: PlantedList }[];
  dialect?: 'spec' | 'extended';
}

/** The whole run must keep every promise; returns the ledger. */
export async function judgeRun(run: CampaignRun, faults: RunFaults = {}): Promise<Ledger> {
  const ledger = await readLedger(run.store.db);
  const calls = run.sandbox.calls().filter((call) => call.batchId !== null);
  const campaigns = [{ id: run.id, list: run.list }, ...(faults.others ?? [])];
  const evidence: Evidence = {
    calls,
    rows: campaigns.flatMap(({ id, list }) => rowsOf({ campaignId: id, rows: list.rows })),
    finals: ledger.recipients,
    faults: [],
    doubt: { by: 'books' },
    books: booksOf(ledger, { dialect: faults.dialect ?? 'extended', lost: faults.lostReplies ?? [] }),
  };
  expect(judge(evidence), await run.describe()).toEqual([]);

  const log = await verifyLog(run.store.db, null);
  expect(log.rules.flatMap(({ violations }) => violations)).toEqual([]);
  expect(log.calls).toBeGreaterThanOrEqual(calls.length);

  const audit = auditOf(evidence);
  // Before any record, absence proves nothing.
  const isUnshown = (row: Attempt) => row.detail === 'no_record_shown' && audit !== null && isDoubtCaused(audit, row);
  const caused = ledger.attempts.filter((row) => faults.destroyed?.includes(row.batch_id) || isUnshown(row));
  // Only time distinguishes those of two campaigns.
  const wordless = calls.filter(({ transcriptTurns }) => faults.others && transcriptTurns === 0);
  const mayDoubt = new Set([...caused.map((row) => row.recipient_id), ...wordless.map(({ to }) => to)]);
  const unresolved = ledger.recipients.filter((row) => row.outcome === 'unresolved');
  const left = unresolved.filter((row) => ![row.recipient_id, row.e164 ?? ''].some((key) => mayDoubt.has(key)));
  expect(left, JSON.stringify(ledger.attempts)).toEqual([]);

  const broken = run.sandbox.conduct().checks.filter(({ ok, name }) => !ok && !faults.misconduct?.includes(name));
  expect(broken).toEqual([]);

  for (const { id, list } of campaigns) {
    const results = [];
    for await (const row of readResults(run.store.db, id)) results.push(row);
    expect(results.map((row) => row.row)).toEqual(list.rows.map((row) => row.row));
    expect(results.map((row) => row.cells)).toEqual(list.rows.map((row) => row.cells));
    await expectNoLeak(run, id, list);
  }
  return ledger;
}

/** Nothing planted is in a history, a status, a description or a log of the run. */
export async function expectNoLeak(run: CampaignRun, id = run.id, list = run.list): Promise<void> {
  const tokens = [run.apiKey, ...list.tokens];
  const kept = await textOfWorkflow(run.client, campaignWorkflowId(id, 1), ['status', '__temporal_workflow_metadata']);
  expect(kept).toContain(id);
  expect(findTokens(kept, tokens), 'in what Temporal keeps').toEqual([]);
  for (const worker of run.workers) expect(findTokens(worker.output(), tokens), 'in a log').toEqual([]);
}

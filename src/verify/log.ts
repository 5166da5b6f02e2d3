import type { Queries } from '../ledger/tx.ts';
import { LogAudit } from './fold.ts';
import { logRules, type LogRule, type LogViolation } from './log-rules.ts';
import { ServiceAudit, type ServiceList } from './service.ts';
import { auditTables } from './tables.ts';
import * as stored from './reader.ts';

export interface LogReport {
  ok: boolean;
  events: number;
  /** May have been placed, over all campaigns. */
  calls: number;
  campaigns: string[];
  rules: { rule: LogRule; promise: string; violations: LogViolation[] }[];
  /** What could not be audited or may need an operator's attention; no violations. */
  notes: string[];
}

export interface VerifyOptions {
  onProgress?: (events: number) => void;
  /** The service's own conversation and batch lists, if they can be read. */
  service?: ServiceList;
}

/** Most rereads of a log that grows during the audit. */
const maxRereads = 5;

/**
 * Audits a database's event log, then its tables against it. Reads all campaigns, as do-not-call entries and open calls span them;
 * `campaignId` only filters the report. Changes nothing.
 */
export async function verifyLog(
  db: Queries,
  campaignId: string | null,
  { onProgress = () => {}, service }: VerifyOptions = {},
): Promise<LogReport> {
  const audit = new LogAudit(await stored.meta(db, 'row_key'), await stored.meta(db, 'ledger_id'));
  let read = await follow(db, audit, 0, onProgress);
  let differences = await auditTables(db, audit);
  for (let rereads = 0; differences.length > 0 && rereads < maxRereads; rereads += 1) {
    // New log lines may explain what the tables had first.
    const end = await stored.lastSeq(db);
    if (end === read) break;
    read = await follow(db, audit, read, onProgress);
    differences = await auditTables(db, audit, differences);
  }
  const { violations, events, calls, campaigns } = audit.finish();
  const notes = notesOf(audit);
  const moving = (await stored.lastSeq(db)) !== read;
  if (moving && differences.length > 0) {
    notes.push(`The log grows: ${differences.length} differences between it and the tables may be calls under way.`);
    differences = [];
  }
  const reported = new ServiceAudit(db, audit);
  if (service === undefined) notes.push("The service's own list of conversations was not read: no service was named.");
  else await reported.read(service);
  notes.push(...reported.notes);
  const excused = await excusedLines(db, audit);
  const all = violations.filter((violation) => !excused.has(violation));
  for (const { rule, campaignId, what } of [...differences, ...reported.differences])
    all.push({ rule, campaignId, seq: null, at: null, what });
  const reportedViolations = all.filter((violation) => campaignId === null || violation.campaignId === campaignId);
  const rules = (Object.keys(logRules) as LogRule[]).map((rule) => ({
    rule,
    promise: logRules[rule].promise,
    violations: reportedViolations.filter((violation) => violation.rule === rule),
  }));
  return { ok: reportedViolations.length === 0, events, calls, campaigns, rules, notes };
}

/** Returns the number of the last event. */
async function follow(db: Queries, audit: LogAudit, from: number, onProgress: (events: number) => void): Promise<number> {
  for (let after = from; ;) {
    const page = await stored.log(db, after);
    const posted = page.flatMap(({ type, attemptId }) => (type === 'attempt.posted' ? (attemptId ?? []) : []));
    const facts = await stored.callFacts(db, posted);
    for (const event of page) audit.take(event, facts.get(event.attemptId ?? ''));
    const last = page.at(-1);
    if (last === undefined) return after;
    after = last.seq;
    onProgress(after);
  }
}

/** Excess lines explained by unowned records: the planner could take those calls for over. */
async function excusedLines(db: Queries, audit: LogAudit): Promise<Set<LogViolation>> {
  const excused = new Set<LogViolation>();
  for (const { violation, campaign, excess } of audit.explicable)
    if (violation.rule === 'lines_exceeded' && (await stored.countUnownedOver(db, campaign.rules.agentId, violation.at ?? 0)) >= excess)
      excused.add(violation);
  return excused;
}

function notesOf({ falls, campaigns }: LogAudit): string[] {
  const notes: string[] = [];
  for (const { campaignId, cellBook } of campaigns.values())
    if (!cellBook.isHashed) notes.push(`The log of ${campaignId} has no hashes of its cells: whether a cell was changed was not judged.`);
  if (falls.count > 0)
    notes.push(`${falls.count} times lie up to ${falls.mostMs} ms before the one above them, as clocks of several machines do.`);
  return notes;
}

import { readAllEvents } from '../store/events.ts';
import type { Queries } from '../store/open-store.ts';
import { LogJudge } from './log-judge.ts';
import { logRules, type LogRule, type LogViolation } from './log-rules.ts';

export interface LogReport {
  ok: boolean;
  events: number;
  /** Calls placed, over all campaigns of the log. */
  calls: number;
  campaigns: string[];
  rules: { rule: LogRule; promise: string; violations: LogViolation[] }[];
}

const eventsPerPage = 5_000;

/**
 * Reads the whole event log of a database, and nothing else of it, and judges it. Do-not-call entries and open calls concern all
 * campaigns, so all are read; `campaignId` leaves the others' violations out of the report.
 */
export async function verifyLog(
  db: Queries,
  campaignId: string | null,
  onProgress: (events: number) => void = () => {},
): Promise<LogReport> {
  const judge = new LogJudge();
  let read = 0;
  for (let after = 0; ;) {
    const page = await readAllEvents(db, after, eventsPerPage);
    for (const event of page) judge.take(event);
    read += page.length;
    onProgress(read);
    const last = page.at(-1);
    if (last === undefined || page.length < eventsPerPage) break;
    after = last.seq;
  }
  const { violations, events, calls, campaigns } = judge.finish();
  const told = violations.filter((violation) => campaignId === null || violation.campaignId === campaignId);
  const rules = (Object.keys(logRules) as LogRule[]).map((rule) => ({
    rule,
    promise: logRules[rule],
    violations: told.filter((violation) => violation.rule === rule),
  }));
  return { ok: told.length === 0, events, calls, campaigns, rules };
}

import { access } from 'node:fs/promises';
import { candidateLines, describeProblem, readDecisions } from '../../results/candidates-file.ts';
import { refuseToOverwrite, writeWholeFile } from '../../results/whole-file.ts';
import {
  DecisionsRefusedError,
  type DecisionLine,
  type DecisionProblem,
  type DoubtDecision,
} from '../../ledger/people/decision-checks.ts';
import { findUnresolved, readDoubtfulRows, type DoubtfulRow } from '../../ledger/doubt/doubtful-rows.ts';
import { resolveDoubt, type DoubtResolution } from '../../ledger/people/resolve-doubt.ts';
import { writeJson } from '../terminal/json-output.ts';
import { plural } from '../../input/figures.ts';
import { UsageError } from '../../input/usage-error.ts';
import { atDesk, whenAgreed, type Desk, type DeskInput } from './resolve-desk.ts';

/** What is decided about a row; about one of its records, or null. */
export interface RowDecision {
  decision: DoubtDecision;
  conversationId: string | null;
}

type Call = Pick<DecisionLine, 'attemptId' | 'conversationId'>;

const mostShown = 20;

/** Thrown when decisions cannot be carried out; nothing has been changed. */
class RefusedError extends Error {
  override readonly name = 'RefusedError' as const;
  readonly exitCode = 2;

  constructor(source: string, problems: readonly DecisionProblem[]) {
    const shown = problems.slice(0, mostShown).map((problem) => describeProblem(source, problem));
    const rest = problems.length - shown.length;
    super([...shown, ...(rest > 0 ? [`and ${rest} more`] : []), 'Nothing was changed.'].join('\n'));
  }
}

/** Writes the rows in doubt with the records that may be theirs, or carries out what stands in the file that was written so. */
export async function resolveCandidates(at: DeskInput, path: string): Promise<void> {
  await atDesk(at, async (desk) => {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (!exists) return writeCandidates(desk, path);
    const { lines, problems } = await readDecisions(path);
    if (problems.length > 0) throw new RefusedError(path, problems);
    if (lines.every(({ decision }) => decision === null))
      throw new UsageError(
        `${path} exists, and its column decision is empty: nothing was changed. Fill it in and run this again, or name another file to have the rows written anew.`,
      );
    await carryOut(desk, path, lines);
  });
}

const nothingDone: DoubtResolution = { assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 0 };

/** Carries out one decision about one row. */
export async function resolveRow(at: DeskInput, row: number, { decision, conversationId }: RowDecision): Promise<void> {
  await atDesk(at, async (desk) => {
    const { io, campaignId, json } = desk;
    const [doubtful] = await readRows(desk, [row]);
    if (doubtful === undefined && json) return writeJson(io, { campaignId, ...nothingDone });
    if (doubtful === undefined) {
      io.stdout.write(`Row ${row} of campaign ${campaignId} is not in doubt, or was given up: nothing was changed.\n`);
      return;
    }
    const place = `--row ${row}`;
    const calls = doubtful.calls.flatMap(({ attempt, records }): Call[] => {
      const ids = records.length === 0 ? [null] : records.map((record) => record.conversationId);
      return ids.map((id) => ({ attemptId: attempt.attempt_id, conversationId: id }));
    });
    const shown: Call[] = calls.length === 0 ? [{ attemptId: null, conversationId: null }] : calls;
    // A record that was not among the possible ones is taken for that of the last call.
    const meant = calls.filter((call) => call.conversationId === conversationId);
    const last = { attemptId: calls.at(-1)?.attemptId ?? null, conversationId };
    const named = meant.length > 0 ? meant.slice(0, decision === 'theirs' ? 1 : undefined) : [last];
    const lines = conversationId === null ? shown : named;
    await carryOut(
      desk,
      campaignId,
      lines.map((call) => ({ place, row, ...call, decision })),
    );
  });
}

async function readRows({ store, campaign, clock }: Desk, rows: readonly number[] | null): Promise<DoubtfulRow[]> {
  const unresolved = await findUnresolved(store.db, campaign.campaignId, rows);
  return readDoubtfulRows(store.db, campaign, { recipients: unresolved, now: Math.round(clock.now()) });
}

async function writeCandidates(desk: Desk, path: string): Promise<void> {
  const { io, campaignId, json } = desk;
  const rows = await readRows(desk, null);
  if (rows.length === 0) {
    if (json) writeJson(io, { campaignId, path: null, rows: 0, records: 0 });
    else io.stdout.write(`No row of campaign ${campaignId} is in doubt, so no file was written.\n`);
    return;
  }
  await refuseToOverwrite(path, []);
  await writeWholeFile(path, candidateLines(rows));
  const records = new Set(
    rows.flatMap(({ calls }) => calls.flatMap((call) => call.records)).map((record) => record.conversationId),
  );
  if (json) return writeJson(io, { campaignId, path, rows: rows.length, records: records.size });
  io.stdout.write(
    `${plural(rows.length, 'row')} in doubt and ${plural(records.size, 'record')} that may be theirs written to ${path}.\n` +
      `Fill in its column decision (theirs, not_theirs, redial, give_up, or nothing) and run the same command again.\n`,
  );
}

const risk = 'If one of the records is theirs after all, or one is still to come, they are called twice.';

async function carryOut(desk: Desk, source: string, lines: readonly DecisionLine[]): Promise<void> {
  const { io, store, campaignId, clock, json } = desk;
  const redialled = new Set(lines.filter(({ decision }) => decision === 'redial').map(({ row }) => row)).size;
  const question = `Dial ${plural(redialled, 'row')} of ${campaignId} again?`;
  await whenAgreed(desk, redialled > 0 ? { risk, question } : null, async (setOff) => {
    const resolution = await resolveDoubt(store, { campaignId, now: Math.round(clock.now()) }, lines).catch(
      (error: unknown) => {
        throw error instanceof DecisionsRefusedError ? new RefusedError(source, error.problems) : error;
      },
    );
    const going = resolution.redialled === 0 ? '' : await setOff();
    if (json) writeJson(io, { campaignId, ...resolution });
    else io.stdout.write(`${tell(resolution)}${going}\n`);
  });
}

function tell({ assigned, dismissed, redialled, givenUp, over }: DoubtResolution): string {
  const parts = [
    ...(assigned > 0 ? [`${plural(assigned, 'record')} ascribed`] : []),
    ...(dismissed > 0 ? [`${plural(dismissed, 'record')} of others put aside`] : []),
    ...(redialled > 0 ? [`${plural(redialled, 'row')} to be dialled again`] : []),
    ...(givenUp > 0 ? [`${plural(givenUp, 'row')} given up`] : []),
    ...(over > 0 ? [`${plural(over, 'row')} not in doubt any more or decided before, left alone`] : []),
  ];
  return parts.length === 0 ? 'Nothing to change: all of it was decided before.' : `${parts.join(', ')}.`;
}

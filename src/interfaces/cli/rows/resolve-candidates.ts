import { access } from 'node:fs/promises';
import { candidateLines, describeProblem, readDecisions } from '../../../presentation/results/candidates-file.ts';
import { refuseToOverwrite, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import { withControl, type Control } from '../../../operations/control/control.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import {
  decide,
  readDoubtful,
  readRowDecision,
  type RowDecision,
  requireRedialable,
  type SetOff,
} from '../../../operations/control/resolve.ts';
import { plural } from '../../../shared/input/figures.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { DecisionsRefusedError, type DecisionLine, type DecisionProblem } from '../../../ledger/people/decision-checks.ts';
import type { DoubtResolution } from '../../../ledger/people/resolve-doubt.ts';
import { writeJson, mayBegin } from '../terminal/answer.ts';
import type { Io } from '../terminal/io.ts';

/** What the flags say about a row. */
export type FlaggedDecision = Pick<RowDecision, 'decision' | 'conversationId'>;

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
export async function resolveCandidates(at: Asker, path: string): Promise<void> {
  await withControl(at.io, async (control) => {
    const exists = await access(path).then(
      () => true,
      () => false,
    );
    if (!exists) return writeCandidates(at, control, path);
    await requireCampaign(control.store, at.campaignId);
    const { lines, problems } = await readDecisions(path);
    if (problems.length > 0) throw new RefusedError(path, problems);
    if (lines.every(({ decision }) => decision === null))
      throw new UsageError(
        `${path} exists, and its column decision is empty: nothing was changed. Fill it in and run this again, or name another file to have the rows written anew.`,
      );
    await carryOut(at, control, { source: path, lines });
  });
}

const nothingDone: DoubtResolution = { assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 0 };

/** Carries out one decision about one row. */
export async function resolveRow(at: Asker, row: number, decision: FlaggedDecision): Promise<void> {
  const { io, campaignId, json } = at;
  await withControl(io, async (control) => {
    const lines = await readRowDecision(control, campaignId, { ...decision, row, place: `--row ${row}` });
    if (lines !== null) return carryOut(at, control, { source: campaignId, lines });
    if (json) return writeJson(io, { campaignId, ...nothingDone });
    io.stdout.write(`Row ${row} of campaign ${campaignId} is not in doubt, or was given up: nothing was changed.\n`);
  });
}

async function writeCandidates({ io, campaignId, json }: Asker, control: Control, path: string): Promise<void> {
  const rows = await readDoubtful(control, campaignId, null);
  if (rows.length === 0) {
    if (json) writeJson(io, { campaignId, path: null, rows: 0, records: 0 });
    else io.stdout.write(`No row of campaign ${campaignId} is in doubt, so no file was written.\n`);
    return;
  }
  await refuseToOverwrite(path, []);
  await writeWholeFile(path, candidateLines(rows));
  const records = new Set(rows.flatMap(({ calls }) => calls.flatMap((call) => call.records)).map((record) => record.conversationId));
  if (json) return writeJson(io, { campaignId, path, rows: rows.length, records: records.size });
  io.stdout.write(
    `${plural(rows.length, 'row')} in doubt and ${plural(records.size, 'record')} that may be theirs written to ${path}.\n` +
      `Fill in its column decision (theirs, not_theirs, redial, give_up, or nothing) and run the same command again.\n`,
  );
}

const risk = 'If one of the records is theirs after all, or one is still to come, they are called twice.';

async function carryOut(at: Asker, control: Control, { source, lines }: { source: string; lines: readonly DecisionLine[] }): Promise<void> {
  const { io, campaignId, json } = at;
  const redialled = new Set(lines.filter(({ decision }) => decision === 'redial').map(({ row }) => row)).size;
  const question = `Dial ${plural(redialled, 'row')} of ${campaignId} again?`;
  if (redialled > 0 && !(await mayRedial(at, control, { risk, question }))) return;
  const { resolution, setOff } = await decide(control, campaignId, lines).catch((error: unknown) => {
    throw error instanceof DecisionsRefusedError ? new RefusedError(source, error.problems) : error;
  });
  if (json) writeJson(io, { campaignId, ...resolution });
  else io.stdout.write(`${tell(resolution)}${tellSetOff(campaignId, setOff)}\n`);
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

/** Who decides about calls in doubt of which campaign, and how that is told. */
export interface Asker {
  io: Io;
  campaignId: string;
  yes: boolean;
  json: boolean;
}

/** Whether rows may be dialled again: a person knows the risk and has said yes. Throws as `requireRedialable`. */
export async function mayRedial(
  { io, campaignId, yes }: Asker,
  control: Control,
  { risk, question }: { risk: string; question: string },
): Promise<boolean> {
  await requireRedialable(control, campaignId);
  io.stderr.write(`${risk}\n`);
  return mayBegin(io, yes, question);
}

/** What became of rows that are dialled again, to stand behind a sentence. */
export function tellSetOff(campaignId: string, setOff: SetOff): string {
  if (setOff === null) return '';
  if (setOff.kind === 'paused') return ` The campaign is paused: carillon resume ${campaignId} sets it going.`;
  return ` Round ${setOff.round} has been started: carillon status ${campaignId}`;
}

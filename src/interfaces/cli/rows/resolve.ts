import { foreseen, UsageError } from '../../../shared/input/errors.ts';
import { Command, Option } from 'commander';
import { withControl, type Control } from '../../../operations/control/control.ts';
import {
  decide,
  readDoubtful,
  readRowDecision,
  type RowDecision,
  requireRedialable,
  type SetOff,
} from '../../../operations/control/resolve.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import type { RunAnswer } from '../../../operations/runs/perform.ts';
import { plural, span } from '../../../shared/input/figures.ts';
import type { Io } from '../terminal/io.ts';
import { writeJson, mayBegin } from '../terminal/answer.ts';
import { keyFlag } from '../terminal/command.ts';
import { access } from 'node:fs/promises';
import { candidateLines, describeProblem, readDecisions } from '../../../presentation/results/candidates-file.ts';
import { refuseToOverwrite, writeWholeFile } from '../../../presentation/results/whole-file.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { DecisionsRefusedError, type DecisionLine, type DecisionProblem } from '../../../ledger/people/decision-checks.ts';
import type { DoubtResolution } from '../../../ledger/people/resolve-doubt.ts';

const examples = `
A recipient is unresolved if it cannot be known whether the call was placed, or which record belongs to it: the answer to a batch was
lost, or a record may belong to several calls. Carillon never calls such a recipient again by itself; you decide.

  --redial    recipients without a record wait again and are dialled. If a lost batch was carried out after all, they are called
              twice. Rows whose records cannot be told apart are skipped; decide about them with --candidates.
  --give-up   they keep the outcome "unresolved".

  --candidates FILE   every doubtful row with its candidate records. If FILE does not exist, it is written as CSV. Fill in its
                      column "decision" and run the same command again. All decisions are applied, or none.
                        theirs      this conversation is the row's call; the row ends as the record says
                        not_theirs  this conversation is not the row's call
                        redial      none of the row's records is its call; dial the row again
                        give_up     leave the row as it is
                      An empty decision changes nothing.
  --row N             one row of the list, with --conversation ID (theirs), --not ID, --redial or --give-up

If the campaign has ended, redialling starts its next round. Redialling is refused while the campaign drains and after its ends_at.
Batches whose outcome may still become known are left alone.

  --give-up --open   also ends calls whose outcome can no longer be learned, because the service has not let their records be read
                     for an hour (the agent was deleted, the key was withdrawn). They become "unresolved", so that the campaign
                     can end.

Examples:
  carillon resolve reminders --redial
  carillon resolve reminders --redial --yes
  carillon resolve reminders --give-up
  carillon resolve reminders --candidates doubt.csv
  carillon resolve reminders --row 12 --conversation conv_7d1
  carillon resolve reminders --row 12 --redial --yes
  carillon resolve reminders --give-up --open`;

/** Thrown for a missing or contradictory decision. */
class DecisionError extends foreseen('DecisionError', true) {}

export function resolveCommand(io: Io): Command {
  return new Command('resolve')
    .argument('<campaign>', 'id of the campaign')
    .addOption(new Option('--redial', 'dial them again').conflicts('giveUp'))
    .option('--give-up', 'leave them as they are')
    .option('--open', 'with --give-up: include open calls whose records can no longer be read', false)
    .option('-y, --yes', 'do not ask for confirmation; required for --redial without a terminal', false)
    .option('--json', 'print JSON', false)
    .option(...keyFlag)
    .addHelpText('after', examples)
    .option('--candidates <file>', 'write the doubtful rows with their candidate records, or apply the edited file')
    .option('--row <number>', 'decide about one row of the list')
    .option('--conversation <id>', 'with --row: this conversation belongs to its call')
    .option('--not <id>', 'with --row: this conversation does not belong to its call')
    .action((campaignId: string, flags: Flags) => readDecision(io, campaignId, flags));
}

interface Flags {
  redial?: boolean;
  giveUp?: boolean;
  open: boolean;
  yes: boolean;
  json: boolean;
  candidates?: string;
  row?: string;
  conversation?: string;
  not?: string;
  key?: string;
}

async function readDecision(io: Io, campaignId: string, flags: Flags): Promise<void> {
  const { open } = flags;
  const decisions = decisionsOf(flags);
  const [decision] = decisions;
  const at = { io, campaignId, yes: flags.yes, json: flags.json, key: flags.key };
  if (flags.candidates !== undefined) {
    if (decision !== undefined || flags.row !== undefined || open || flags.key !== undefined)
      throw new DecisionError('--candidates goes alone: the file says what is decided about each row.');
    return resolveCandidates(at, flags.candidates);
  }
  if (flags.row !== undefined) {
    if (decision === undefined || decisions.length > 1 || open)
      throw new DecisionError('With --row say one thing: --conversation ID, --not ID, --redial or --give-up.');
    if (flags.key !== undefined) throw new DecisionError('--key does not go with --row: a row that is decided is left alone anyway.');
    return resolveRow(at, readRow(flags.row), decision);
  }
  if (flags.conversation !== undefined || flags.not !== undefined)
    throw new DecisionError('Say whose record it is, or is not: add --row and its number in the list.');
  if (decision === undefined)
    throw new DecisionError('Say which: carillon resolve <campaign> --redial, --give-up, or --candidates FILE. --help explains them.');
  if (open && flags.redial === true)
    throw new DecisionError('--open goes with --give-up only: a call that may still be under way is never redialled.');
  await decideAll(at, flags.redial === true ? 'redial' : 'give_up', open);
}

function decisionsOf({ redial, giveUp, conversation, not }: Flags): FlaggedDecision[] {
  return [
    ...(redial === true ? [{ decision: 'redial' as const, conversationId: null }] : []),
    ...(giveUp === true ? [{ decision: 'give_up' as const, conversationId: null }] : []),
    ...(conversation === undefined ? [] : [{ decision: 'theirs' as const, conversationId: conversation }]),
    ...(not === undefined ? [] : [{ decision: 'not_theirs' as const, conversationId: not }]),
  ];
}

function readRow(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new DecisionError(`--row ${text}: a row of the list by its number, such as 12 (the first below the header is 1).`);
}

const riskOfAll = 'If a lost batch was carried out after all, its recipients are called twice; no record can rule this out.';

/** Applies one decision to all rows that can be decided together; `open` gives up open calls too. */
async function decideAll(at: Asker, decision: 'redial' | 'give_up', open: boolean): Promise<void> {
  const { io, campaignId, json, key } = at;
  await withControl(io, async (control) => {
    const question = `Dial the unresolved recipients of ${campaignId} again?`;
    if (decision === 'redial' && !(await mayRedial(at, control, { risk: riskOfAll, question }))) return;
    const resolved = await performHere(control, 'resolveAll', { params: { campaign: campaignId }, body: { decision, open }, key });
    const { recipients, apart, tooEarly, decidableAt, openGivenUp } = resolved;
    if (json) return writeJson(io, { campaignId, decision, recipients, apart, tooEarly, decidableAt, openGivenUp });
    if (open) io.stdout.write(`${plural(openGivenUp, 'open call')} of campaign ${campaignId} given up.\n`);
    io.stdout.write(formatResolved(decision, resolved));
  });
}

function formatResolved(decision: 'redial' | 'give_up', resolved: RunAnswer<'resolveAll'>): string {
  const { campaignId, recipients, apart, tooEarly, decidableAt, decidableInMs, openGivenUp, goesOn } = resolved;
  const going = formatSetOff(campaignId, goesOn);
  const lines: string[] = [];
  if (recipients > 0) {
    const what = decision === 'redial' ? 'will be dialled again' : 'stay unresolved; the decision is on record';
    lines.push(`${plural(recipients, 'recipient')} of campaign ${campaignId} ${what}.${going}`);
  } else if (openGivenUp === 0 && apart === 0) {
    lines.push(`No recipient of campaign ${campaignId} is unresolved${tooEarly > 0 ? ' yet' : ''}.${going}`);
  }
  if (apart > 0) {
    const command = `carillon resolve ${campaignId} --candidates FILE`;
    lines.push(`${plural(apart, 'row')} whose records cannot be told apart are left; decide about them with ${command}.`);
  }
  if (tooEarly > 0) {
    const until = decidableAt === null || decidableInMs === null ? 'soon' : `after ${decidableAt} (in ${span(decidableInMs)})`;
    lines.push(`${plural(tooEarly, 'batch', 'batches')} cannot be decided about yet: results may still come. Try again ${until}.`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

type FlaggedDecision = Pick<RowDecision, 'decision' | 'conversationId'>;

const mostShown = 20;

/** Thrown when decisions cannot be applied; nothing was changed. */
class RefusedError extends Error {
  override readonly name = 'RefusedError' as const;
  readonly exitCode = 2;

  constructor(source: string, problems: readonly DecisionProblem[]) {
    const shown = problems.slice(0, mostShown).map((problem) => describeProblem(source, problem));
    const rest = problems.length - shown.length;
    super([...shown, ...(rest > 0 ? [`and ${rest} more`] : []), 'Nothing was changed.'].join('\n'));
  }
}

/** Writes the rows in doubt with their candidate records; if the file exists, applies its decisions. */
async function resolveCandidates(at: Asker, path: string): Promise<void> {
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
        `${path} exists, and its column decision is empty: nothing was changed. Fill it in and run this again, or name another file to have the rows written again.`,
      );
    const work = async () => {
      const { resolution, setOff: goesOn } = await decide(control, at.campaignId, lines);
      return { resolution, goesOn };
    };
    await carryOut(at, control, { source: path, lines, work });
  });
}

const nothingDone: DoubtResolution = { assigned: 0, dismissed: 0, redialled: 0, givenUp: 0, over: 0 };

async function resolveRow(at: Asker, row: number, { decision, conversationId }: FlaggedDecision): Promise<void> {
  const { io, campaignId, json } = at;
  await withControl(io, async (control) => {
    const lines = await readRowDecision(control, campaignId, { decision, conversationId, row, place: `--row ${row}` });
    const body = { decision, ...(conversationId !== null && { conversationId }) };
    const work = () => performHere(control, 'resolveRow', { params: { campaign: campaignId, row }, body });
    if (lines !== null) return carryOut(at, control, { source: campaignId, lines, work });
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

interface Decided {
  source: string;
  lines: readonly DecisionLine[];
  work: () => Promise<{ resolution: DoubtResolution; goesOn: SetOff }>;
}

async function carryOut(at: Asker, control: Control, { source, lines, work }: Decided): Promise<void> {
  const { io, campaignId, json } = at;
  const redialled = new Set(lines.filter(({ decision }) => decision === 'redial').map(({ row }) => row)).size;
  const question = `Dial ${plural(redialled, 'row')} of ${campaignId} again?`;
  if (redialled > 0 && !(await mayRedial(at, control, { risk, question }))) return;
  const { resolution, goesOn } = await work().catch((error: unknown) => {
    const refused = (error as Error).cause ?? error;
    throw refused instanceof DecisionsRefusedError ? new RefusedError(source, refused.problems) : error;
  });
  if (json) writeJson(io, { campaignId, ...resolution });
  else io.stdout.write(`${formatResolution(resolution)}${formatSetOff(campaignId, goesOn)}\n`);
}

function formatResolution({ assigned, dismissed, redialled, givenUp, over }: DoubtResolution): string {
  const parts = [
    ...(assigned > 0 ? [`${plural(assigned, 'record')} ascribed`] : []),
    ...(dismissed > 0 ? [`${plural(dismissed, 'record')} of others put aside`] : []),
    ...(redialled > 0 ? [`${plural(redialled, 'row')} to be dialled again`] : []),
    ...(givenUp > 0 ? [`${plural(givenUp, 'row')} given up`] : []),
    ...(over > 0 ? [`${plural(over, 'row')} not in doubt any more or decided before, left alone`] : []),
  ];
  return parts.length === 0 ? 'Nothing to change: all of it was decided before.' : `${parts.join(', ')}.`;
}

interface Asker {
  io: Io;
  campaignId: string;
  yes: boolean;
  json: boolean;
  key: string | undefined;
}

/** Shows the risk and asks for confirmation. Throws as `requireRedialable`. */
async function mayRedial(
  { io, campaignId, yes }: Asker,
  control: Control,
  { risk, question }: { risk: string; question: string },
): Promise<boolean> {
  await requireRedialable(control, campaignId);
  io.stderr.write(`${risk}\n`);
  return mayBegin(io, yes, question);
}

/** Follow-up sentence about rows that are dialled again. */
function formatSetOff(campaignId: string, setOff: SetOff): string {
  if (setOff === null) return '';
  if (setOff.kind === 'paused') return ` The campaign is paused: carillon resume ${campaignId} sets it going.`;
  return ` Round ${setOff.round} has been started: carillon status ${campaignId}`;
}

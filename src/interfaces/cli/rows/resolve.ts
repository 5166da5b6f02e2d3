import { foreseen } from '../../../shared/input/errors.ts';
import { Command, Option } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { resolveAll, type Resolved } from '../../../operations/control/resolve.ts';
import { plural, span } from '../../../shared/input/figures.ts';
import type { Io } from '../terminal/io.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { writeJson } from '../terminal/answer.ts';
import { mayRedial, tellSetOff, type Asker, resolveCandidates, resolveRow, type FlaggedDecision } from './resolve-candidates.ts';

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

/** Thrown when neither or both of the decisions are given. */
class DecisionError extends foreseen('DecisionError', true) {}

export function resolveCommand(io: Io): Command {
  return new Command('resolve')
    .argument('<campaign>', 'id of the campaign')
    .addOption(new Option('--redial', 'dial them again').conflicts('giveUp'))
    .option('--give-up', 'leave them as they are')
    .option('--open', 'with --give-up: include open calls whose records can no longer be read', false)
    .option('-y, --yes', 'do not ask for confirmation; required for --redial without a terminal', false)
    .option('--json', 'print JSON', false)
    .addHelpText('after', examples)
    .option('--candidates <file>', 'write the doubtful rows with their candidate records, or apply the edited file')
    .option('--row <number>', 'decide about one row of the list')
    .option('--conversation <id>', 'with --row: this conversation belongs to its call')
    .option('--not <id>', 'with --row: this conversation does not belong to its call')
    .action((campaignId: string, flags: Flags) => decide(io, campaignId, flags));
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
}

async function decide(io: Io, campaignId: string, flags: Flags): Promise<void> {
  const { open } = flags;
  const decisions = decisionsOf(flags);
  const [decision] = decisions;
  const at = { io, campaignId, yes: flags.yes, json: flags.json };
  if (flags.candidates !== undefined) {
    if (decision !== undefined || flags.row !== undefined || open)
      throw new DecisionError('--candidates goes alone: the file says what is decided about each row.');
    return resolveCandidates(at, flags.candidates);
  }
  if (flags.row !== undefined) {
    if (decision === undefined || decisions.length > 1 || open)
      throw new DecisionError('With --row say one thing: --conversation ID, --not ID, --redial or --give-up.');
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

/** One decision about all that can be decided about together; `open` gives up open calls as well. */
async function decideAll(at: Asker, decision: 'redial' | 'give_up', open: boolean): Promise<void> {
  const { io, campaignId, json } = at;
  await withControl(io, async (control) => {
    const question = `Dial the unresolved recipients of ${campaignId} again?`;
    if (decision === 'redial' && !(await mayRedial(at, control, { risk: riskOfAll, question }))) return;
    const resolved = await resolveAll(control, { campaignId, decision, open });
    const { resolution, openGivenUp } = resolved;
    if (json) return writeJson(io, withInstants({ campaignId, decision, ...resolution, openGivenUp }));
    if (open) io.stdout.write(`${plural(openGivenUp, 'open call')} of campaign ${campaignId} given up.\n`);
    io.stdout.write(tellResolved(campaignId, decision, resolved));
  });
}

function tellResolved(
  campaignId: string,
  decision: 'redial' | 'give_up',
  { resolution, openGivenUp, setOff, decidableInMs }: Resolved,
): string {
  const { recipients, apart, tooEarly, decidableAt } = resolution;
  const going = tellSetOff(campaignId, setOff);
  const lines: string[] = [];
  if (recipients > 0) {
    const what = decision === 'redial' ? 'will be dialled again' : 'stay unresolved; the decision is on record';
    lines.push(`${plural(recipients, 'recipient')} of campaign ${campaignId} ${what}.${going}`);
  } else if (openGivenUp === 0 && apart === 0) {
    lines.push(`No recipient of campaign ${campaignId} is unresolved${tooEarly > 0 ? ' yet' : ''}.${going}`);
  }
  if (apart > 0) {
    const look = `carillon resolve ${campaignId} --candidates FILE`;
    lines.push(`${plural(apart, 'row')} whose records cannot be told apart are left; decide about them with ${look}.`);
  }
  if (tooEarly > 0) {
    const until =
      decidableAt === null || decidableInMs === null ? 'soon' : `after ${new Date(decidableAt).toISOString()} (in ${span(decidableInMs)})`;
    lines.push(`${plural(tooEarly, 'batch', 'batches')} cannot be decided about yet: results may still come. Try again ${until}.`);
  }
  return lines.map((line) => `${line}\n`).join('');
}

import type { Command } from 'commander';
import { jsonText } from '../../../shared/input/printable.ts';
import type { Io } from '../terminal/io.ts';
import { pauseLines, renderOutcomes, statusAsJson } from '../../../presentation/words/campaign.ts';
import { readToStart, type StartResult, startFromFile } from '../../../operations/control/start.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { countDoubt } from '../../../ledger/read/doubt-counts.ts';
import { createCampaignView, watchCampaign } from '../access/watch-campaign.ts';
import { commandOf } from '../terminal/command.ts';
import { untilInterrupted } from '../terminal/interrupt.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { writeJson, RowProgress } from '../terminal/answer.ts';
import { unresolvedLines } from '../../../presentation/words/needs.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readCampaign, type ReadCampaign } from '../../../campaign/preflight/import-list.ts';
import { ListEncodingError } from '../../../shared/input/errors.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { connected, withControl, type Control, type Session } from '../../../operations/control/control.ts';
import { openLedger, type LedgerAccess } from '../../../operations/control/ledger.ts';
import { superviseCampaign } from '../../../operations/control/supervision.ts';

const startHelp = `
Checks the campaign file, its list, the API key, the agent and the caller number first; if one of them is wrong, nothing is
imported. Repeating the command is harmless: it attaches to a campaign with the same id and files. It refuses a campaign whose files
have changed, and one whose ends_at or list.expires_at leaves somebody without a call even if everybody answers the first one
(carillon check shows what is needed). --allow-partial starts such a campaign anyway, unless nobody can be called.

Exit code 0 if the campaign runs or has ended, 1 if it could not be started, 2 if the file or the list is invalid.

Examples:
  carillon start campaign.yaml            import, start, return
  carillon start campaign.yaml --json     the same, with one JSON object on standard output`;

export const startCommand = startingCommand({
  name: 'start',
  says: 'Start a campaign or attach to it, and return; a worker does the rest',
  json: 'print one JSON object',
  help: startHelp,
  work: printStarted,
});

async function printStarted(io: Io, { path, json, result, session }: StartedCampaign): Promise<void> {
  io.stdout.write(json ? `${jsonText(asJson(result))}\n` : formatStart(result));
  if (result.kind === 'ended') return;
  const id = result.campaign.campaignId;
  const lines = [
    ...pauseLines(result.campaign),
    ...(session === null ? [] : await superviseCampaign(session, id)),
    `Watch it: carillon run ${path}   Show its progress: carillon status ${id}`,
    `Pause it: carillon pause ${id}   End it: carillon cancel ${id}`,
  ];
  if (!json) io.stderr.write(`${lines.join('\n')}\n`);
}

function asJson(result: StartResult): object {
  const { campaignId, state, stateReason, rowsTotal, rowsRejected } = result.campaign;
  const round = result.kind === 'ended' ? null : { round: result.round.round, workflowId: result.round.workflowId };
  const imported = result.kind !== 'ended' && result.imported;
  return { campaignId, result: result.kind, imported, state, stateReason, rowsTotal, rowsRejected, ...round };
}

const help = `
Refuses whatever carillon start refuses. Ctrl-C leaves and the campaign continues; run the same command to watch it again.

Exit code 0 if the campaign completed; 1 if it was cancelled, could not be started, or you left before its end; 2 if the file or
the list is invalid.

Examples:
  carillon run campaign.yaml
  carillon run campaign.yaml --json > end.json     progress on standard error, the final status on standard output`;

export const runCommand = startingCommand({
  name: 'run',
  says: 'Start a campaign or attach to it, and watch it until it ends',
  json: 'print the final status as JSON',
  help,
  work: watch,
});

async function watch(io: Io, started: StartedCampaign): Promise<void> {
  const { config, store, path, json, result, session } = started;
  const { campaignId } = result.campaign;
  (json ? io.stderr : io.stdout).write(formatStart(result));
  // The live display is for people: --json gets lines on standard error.
  const view = json
    ? createCampaignView({ ...io, isTerminal: false }, io.stderr, '')
    : createCampaignView(io, io.stdout, 'Press Ctrl-C to leave; the campaign continues.');
  const fromSeq = result.kind === 'started' ? 0 : null;
  const { campaign, status } = await untilInterrupted(
    io,
    ({ signal: leave }) => watchCampaign({ config, store, campaignId, session, fromSeq, view, leave }),
    { streams: true },
  );
  if (json) writeJson(io, withInstants(statusAsJson(campaign, status)));
  if (!hasEnded(campaign)) {
    io.stderr.write(
      `You left; campaign ${campaignId} continues while a worker is running.\n` +
        `Watch it again: carillon run ${path}   Show its progress: carillon status ${campaignId}   Pause it: carillon pause ${campaignId}\n`,
    );
    io.exitCode = 1;
    return;
  }
  if (!json) {
    io.stdout.write(renderOutcomes(campaign, status, io.colour));
    const doubt = await countDoubt(store.db, campaign, { status, now: Date.now() });
    for (const line of unresolvedLines(campaign, doubt)) io.stdout.write(`${line}\n`);
    io.stdout.write(`\nEvery row with its outcome: carillon results ${campaignId}\n`);
  }
  io.exitCode = campaign.state === 'completed' ? 0 : 1;
}

interface StartFlags {
  /** Check key, agent and caller number at the service before the import. */
  check: boolean;
  /** Start even if not all recipients can be called before the end. */
  allowPartial: boolean;
}

interface StartedCampaign extends LedgerAccess {
  path: string;
  json: boolean;
  result: StartResult;
  /** Null for a campaign that has ended: Temporal is not needed. */
  session: Session | null;
}

interface StartingCommand {
  name: string;
  says: string;
  json: string;
  help: string;
  work: (io: Io, started: StartedCampaign) => Promise<void>;
}

/** Starts a file's campaign or attaches to it, then runs `work`. */
function startingCommand({ work, ...text }: StartingCommand): (io: Io) => Command {
  return commandOf<StartFlags>({
    ...text,
    argument: ['<campaign.yaml>', 'campaign file'],
    flags: [
      ['--no-check', 'do not ask the service for agent and caller number first'],
      ['--allow-partial', 'start even if there is not enough time to call everyone before the end', false],
    ],
    run: async (io, { check, allowPartial, json }, path) => {
      const file = await readCampaignFile(path);
      const first = await readCampaign(file, io.now()).catch((error: unknown) => {
        // Only the database shows whether the campaign predates named encodings.
        if (!(error instanceof ListEncodingError)) throw error;
      });
      const begin = async (control: Control): Promise<void> => {
        const { config, store } = control;
        const read = first ?? (await readToStart(control, file, io.now()));
        const result = await performHere(
          control,
          'createCampaign',
          {},
          {
            log: file.id,
            run: () => startAloud(io, control, read, { check, allowPartial }),
            hasActed: ({ kind }) => kind === 'started',
          },
        );
        const session = result.kind === 'ended' ? null : await connected(control);
        await work(io, { config, store, path, json, result, session });
      };
      await withControl(io, begin, openLedger);
      return null;
    },
  });
}

/** Notes, warnings and progress go to standard error. Throws as `startFromFile`. */
export async function startAloud(
  io: Io,
  control: Control,
  read: ReadCampaign,
  how: { check: boolean; allowPartial: boolean },
): Promise<StartResult> {
  const progress = new RowProgress(io, 'imported');
  return startFromFile(control, read, {
    ...how,
    onNote: (note) => io.stderr.write(`${note}\n`),
    onProgress: (rows) => progress.update(rows),
    onWarnings: (warnings) => {
      progress.clear();
      for (const warning of warnings) io.stderr.write(`Warning: ${warning}.\n`);
      io.stderr.write(`carillon check ${read.file.path} says more.\n`);
    },
  }).finally(() => progress.clear());
}

export function formatStart(result: StartResult): string {
  const { campaign } = result;
  const id = campaign.campaignId;
  if (result.kind === 'ended') {
    return `Campaign ${id} has ended (${campaign.state}): every row has its outcome. Its results: carillon results ${id}\n`;
  }
  const rows = result.imported
    ? `${plural(campaign.rowsTotal, 'row')} imported: ${count(campaign.rowsTotal - campaign.rowsRejected)} to be called, ${count(campaign.rowsRejected)} rejected (they stand in the results with the reason).\n`
    : '';
  const state = result.kind === 'attached' ? 'is already running' : 'has been started';
  return `${rows}Campaign ${id} ${state}, round ${result.round.round}.\n`;
}

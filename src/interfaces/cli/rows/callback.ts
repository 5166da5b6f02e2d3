import { InvalidArgumentError } from 'commander';
import { callbackStates } from '../../../rules/callback-rules.ts';
import { listCallbacks } from '../../../operations/control/callbacks.ts';
import { withControl } from '../../../operations/control/control.ts';
import { rowNumberOf } from '../../../operations/control/rows.ts';
import type { Callback } from '../../../ledger/people/callbacks.ts';
import { editOperations as operations } from '../../../operations/edits.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { localTimeText, reasonText } from '../../../presentation/words/callbacks.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { mayBegin, warnIfNotNotified } from '../terminal/answer.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import type { Io } from '../terminal/io.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';

const examples = `
A call back is a promise: the number is not called by any campaign before its time, and the call is requested from then on, before all
others, within callback.late (30m). Hours, law, caps and the do-not-call list hold. What was not kept is told, and is not called late by
habit. People make promises in calls (callback: in the campaign file); you make, move and cancel them here.

Examples:
  carillon callback list reminders                                    the next ones first, then those that need you
  carillon callback list reminders --state unclear,missed             only what needs a decision
  carillon callback set reminders --row 17 --at '2030-11-30 17:00'    in the time of the person called
  carillon callback set reminders --row 17 --at 2030-11-30T17:00:00-05:00
  carillon callback cancel reminders --id A17`;

const campaignArgument = ['<campaign>', 'id of the campaign'] as const;
const rowFlags = [
  ['--row <row>', 'number of the row, as in the results', readRow],
  ['--id <id>', "instead of --row: the row's id, as in the campaign's id column"],
] as const;

export const callbackCommand = groupOf({ name: 'callback', help: examples }, [
  commandOf<{ state?: Callback['state'][] }>({
    name: 'list',
    says: operations.listCallbacks.says,
    argument: campaignArgument,
    flags: [['--state <states>', `only ${callbackStates.join(', ')}; several with commas between them`, readStates]],
    examples: ['carillon callback list reminders --state unclear,missed'],
    run: (io, { state }, campaignId) =>
      withControl(io, async (control) => {
        const found = await listCallbacks(control, campaignId, state);
        return { data: withInstants({ campaign: campaignId, callbacks: found }), words: render(io, campaignId, found) };
      }),
  }),
  commandOf<{ row?: number; id?: string; at?: string }>({
    name: 'set',
    says: operations.setCallback.says,
    argument: campaignArgument,
    flags: [...rowFlags, ['--at <time>', "time of the person called, such as '2030-11-30 17:00', or an instant with its offset"]],
    changes: true,
    examples: ["carillon callback set reminders --row 17 --at '2030-11-30 17:00'"],
    run: (io, { at, key, ...named }, campaignId) => {
      if (at === undefined) throw new UsageError('Write the time with --at.');
      return withControl(io, async (control) => {
        const row = await rowNumberOf(control, campaignId, named);
        const sent = { params: { campaign: campaignId, row }, body: { at }, key };
        const { dueAt, notice } = await performHere(control, 'setCallback', sent);
        warnIfNotNotified(io, campaignId, notice);
        return {
          data: { campaign: campaignId, row, dueAt },
          words: `Row ${row} of campaign ${campaignId} is called back at ${dueAt}.\n`,
        };
      });
    },
  }),
  commandOf<{ row?: number; id?: string }>({
    name: 'cancel',
    says: operations.cancelCallback.says,
    argument: campaignArgument,
    flags: rowFlags,
    asks: true,
    changes: true,
    examples: ['carillon callback cancel reminders --id A17'],
    run: (io, { yes, key, ...named }, campaignId) =>
      withControl(io, async (control) => {
        const row = await rowNumberOf(control, campaignId, named);
        if (!(await mayBegin(io, yes, `Break the promise to call row ${row} of campaign ${campaignId} back?`))) return null;
        const { notice } = await performHere(control, 'cancelCallback', { params: { campaign: campaignId, row }, key });
        warnIfNotNotified(io, campaignId, notice);
        return { data: { campaign: campaignId, row }, words: `Row ${row} of campaign ${campaignId} is not called back.\n` };
      }),
  }),
]);

function render(io: Io, campaignId: string, found: readonly Callback[]): string {
  if (found.length === 0) return `Campaign ${campaignId} has no call backs.\n`;
  const table = renderTable(
    [
      { title: 'Row', value: ({ row }: Callback) => String(row) },
      { title: 'State', value: ({ state, isOverdue }) => (isOverdue ? 'open, overdue' : state) },
      { title: 'Their time', value: (callback) => localTimeText(callback) },
      { title: 'Instant', value: ({ dueAt }) => (dueAt === null ? '-' : new Date(dueAt).toISOString()) },
      { title: 'Made by', value: ({ madeBy }) => (madeBy === null ? 'the person called' : printable(madeBy)) },
      { title: 'Why', value: ({ reason }) => (reason === null ? '' : reasonText(reason)) },
      { title: 'Said', value: ({ said }) => (said === null ? '' : printable(said)), flexible: true },
    ],
    found,
    terminalWidth(io),
  );
  return `${plural(found.length, 'call back')} of campaign ${campaignId}.\n\n${table}`;
}

function readRow(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text.trim())) throw new InvalidArgumentError('Write the number of a row, from 1.');
  return Number(text);
}

function readStates(text: string): Callback['state'][] {
  const states = text.split(',').map((state) => callbackStates.find((known) => known === state.trim()));
  const known = states.filter((state) => state !== undefined);
  if (known.length < states.length) throw new InvalidArgumentError(`Write ${callbackStates.join(', ')}, with commas between them.`);
  return known;
}

import { InvalidArgumentError } from 'commander';
import { withControl } from '../../../operations/control/control.ts';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { performHere } from '../../../operations/runs/command-line.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { printable } from '../../../shared/input/printable.ts';
import { warnIfNotNotified } from '../terminal/answer.ts';
import { commandOf } from '../terminal/command.ts';

const examples = `
Adds one row to a campaign that has not ended. It is judged as a row of the list is. A row whose id the campaign has is known, and stays as
it is: repeating the command calls nobody twice. carillon update adds the rows of a file; programs send up to 500 rows to
POST /api/v1/campaigns/{campaign}/rows. With stays_open in the campaign file the campaign waits for such rows until carillon drain.

Exit code 2 if the row cannot be used; nothing was added then.

Examples:
  carillon add leads --id lead-17 --set phone=+12125550123 --set first_name=Ana`;

export const addCommand = commandOf<{ id?: string; set?: Record<string, string> }>({
  name: 'add',
  argument: ['<campaign>', 'id of the campaign'],
  flags: [
    ['--id <id>', "your own id of the row, for the campaign's id column"],
    ['--set <column=value>', 'a cell, by the name of its column; once for each', readCell],
  ],
  changes: true,
  help: examples,
  run: async (io, { key, id, set = {} }, campaignId) =>
    withControl(io, async (control) => {
      const { rules } = await requireCampaign(control.store, campaignId);
      const { idColumn } = rules.list;
      const cells = id === undefined || idColumn === null ? set : { ...set, [idColumn]: id };
      const sent = { params: { campaign: campaignId }, body: { rows: [{ cells }] }, key };
      const { rows, notice } = await performHere(control, 'addRows', sent);
      const [added] = rows;
      if (added === undefined || added.result === 'failed')
        throw new UsageError(`The row was not added: ${added?.code ?? ''}: ${printable(added?.hint ?? '')}.`);
      warnIfNotNotified(io, campaignId, notice);
      const { row, result, state } = added;
      const words = result === 'known' ? `is known already, and stays as it is (${state ?? ''})` : 'was added, and is in line';
      return { data: { campaign: campaignId, row, result, state }, words: `Row ${row ?? ''} of campaign ${campaignId} ${words}.\n` };
    }),
});

function readCell(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  const column = text.slice(0, at).trim();
  if (at < 1 || column === '') throw new InvalidArgumentError('Write column=value, such as phone=+12125550123.');
  if (column in before) throw new InvalidArgumentError(`Write ${column} once.`);
  return { ...before, [column]: text.slice(at + 1) };
}

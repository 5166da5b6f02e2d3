import { decide, readRowDecision, resolveAll, type SetOff } from '../control/resolve.ts';
import { cancelCallback, setCallback } from '../control/callbacks.ts';
import { addRows } from '../control/add-rows.ts';
import { fixRows } from '../control/fix-rows.ts';
import { retryRows, withdraw } from '../control/rows.ts';
import { printable } from '../../shared/input/printable.ts';
import { withInstants } from '../../shared/input/times.ts';
import { DecisionsRefusedError } from '../../ledger/people/decision-checks.ts';
import type { Control } from '../control/control.ts';
import type { Answer } from '../list.ts';
import { runsOf } from './run.ts';

export const rowRuns = runsOf({
  withdrawRows: {
    run: (context, { campaign: campaignId, body: { ids = [], rows, reason: note = null, dryRun } }) =>
      withdrawNamed(context, { campaignId, named: rows === undefined ? { ids } : { rows }, note, dryRun }),
  },
  addRows: {
    run: async (context, { campaign: campaignId, body: { rows: newRows } }): Promise<Answer<'addRows'>> => {
      const { rows, notice } = await addRows(context, { campaignId, rows: newRows.map(({ cells }) => cells) });
      return { campaignId, rows, notice };
    },
  },
  fixRows: {
    run: async (context, { campaign: campaignId, body: { rows: fixes, dryRun } }) => {
      const { notice, ...fixed } = await fixRows(context, { campaignId, fixes, dryRun });
      return { campaignId, dryRun, ...fixed, notice };
    },
  },
  setCallback: {
    run: async (context, { campaign: campaignId, row, body: { at } }) => {
      const { dueAt, notice } = await setCallback(context, { campaignId, row, at, by: context.by });
      return withInstants({ campaignId, row, dueAt, notice });
    },
  },
  cancelCallback: {
    run: async (context, { campaign: campaignId, row }) => {
      const { notice } = await cancelCallback(context, { campaignId, row, by: context.by });
      return { campaignId, row, notice };
    },
  },
  retryRows: {
    run: async (context, { campaign: campaignId, body: { outcomes } }) => ({
      campaignId,
      ...(await retryRows(context, { campaignId, outcomes })),
    }),
  },
  resolveRow: {
    actionOf: ({ body }) => `resolve_row_${body.decision}`,
    run: async (context, { campaign: campaignId, row, body: { decision, conversationId = null } }) => {
      const line = { row, decision, conversationId, place: `--row ${row}` };
      const lines = await readRowDecision(context, campaignId, line);
      if (lines === null) throw new NotInDoubtError(campaignId, row);
      const { setOff, resolution } = await decide(context, campaignId, lines).catch((error: unknown) => {
        throw error instanceof DecisionsRefusedError ? new ToldDecisionsError(error) : error;
      });
      return { campaignId, row, setOff: setOffText(setOff), resolution, goesOn: setOff };
    },
  },
  resolveAll: {
    actionOf: ({ body }) => `resolve_${body.decision}`,
    run: async (context, { campaign: campaignId, body: { decision, open } }) => {
      const { resolution, setOff, ...besides } = await resolveAll(context, { campaignId, decision, open });
      return { ...withInstants({ campaignId, ...resolution, ...besides, setOff: setOffText(setOff) }), goesOn: setOff };
    },
  },
});

/** Throws as `withdraw`. */
export async function withdrawNamed(control: Control, input: Parameters<typeof withdraw>[1]) {
  const { campaignId, dryRun } = input;
  const { results, notice } = await withdraw(control, input);
  const left = results.flatMap(({ key, campaignRow, result }) => (result === 'withdrawn' ? [] : [{ key, row: campaignRow, why: result }]));
  return { campaignId, dryRun, withdrawn: results.length - left.length, left, notice };
}

class NotInDoubtError extends Error {
  override readonly name = 'NotInDoubtError' as const;
  readonly isBadInput = false;

  constructor(campaignId: string, row: number) {
    super(`Row ${row} of campaign ${campaignId} is not in doubt, or was left as it is.`);
  }
}

/** Lists the problems, which DecisionsRefusedError only counts. */
class ToldDecisionsError extends Error {
  override readonly name = 'DecisionsRefusedError' as const;
  readonly isBadInput = true;

  constructor(cause: DecisionsRefusedError) {
    const why = cause.problems.map(({ value, problem }) => `${printable(value)}: ${problem}`).join('; ');
    super(`Nothing was changed. ${why}.`, { cause });
  }
}

function setOffText(setOff: SetOff): string | null {
  if (setOff === null) return null;
  return setOff.kind === 'round' ? `round ${setOff.round} was started` : 'the campaign is paused: resume it';
}

import { hasClosed } from '../../../rules/lifecycle.ts';
import { count, empty, link } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { EditRefusedError } from '../../../ledger/people/edit-refusal.ts';
import { readCampaignRows, readCells } from '../../../ledger/read/campaign-rows.ts';
import { fixRows, type FixedRow } from '../../../operations/control/fix-rows.ts';
import { operations } from '../../../operations/list.ts';
import { actionForm, apiCall, type ConsoleAction, type Given } from '../core/action.ts';
import { fixTable, sentFixes, type FixLine } from '../core/fixes.ts';
import { campaignPath, fixPath, rowsPath } from '../core/links.ts';
import { inCampaign, numbersForm, openCampaign } from '../core/rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import type { ViewRequest } from '../core/view.ts';
import { listCells } from '../core/cells.ts';

const pageSize = 100;

/** Rejected rows, each with the cell to write another value in; also after the end, into the next round. */
export const fixRejected: ConsoleAction = {
  path: '/campaigns/:campaign/fix',
  role: operations.fixRows.role,
  form: async (request, given) => {
    const { campaign, campaignId } = await openCampaign(request);
    const back = rowsPath(campaignId, { outcome: 'rejected' });
    const seen = await readRejected(request, given);
    const ended = hasClosed(campaign);
    const obstacle = typeof seen === 'string' ? seen : seen.lines.length === 0 ? 'No row of the list is wrong any more.' : null;
    const last = typeof seen === 'string' ? undefined : seen.next;
    return {
      title: 'Rows that cannot be called',
      ...inCampaign(campaign, [rowsPath(campaignId), 'People']),
      actions: numbersForm(request, campaignId, { to: fixPath(campaignId) }),
      body:
        typeof seen === 'string' || obstacle !== null
          ? empty(given.refused ?? obstacle ?? '', link(campaignPath(campaignId), 'Back to the campaign'))
          : html`<section class="panel pad-all stack">
              ${given.answer === null ? null : html`<p class="refused" role="alert">${toldText(given.answer as unknown as Fixed)}</p>`}
              ${actionForm(given, {
                button: ended ? `Save, and start round ${campaign.round + 1} with them` : 'Save, and put them in line',
                back,
                body: [
                  html`<p class="hint" id="fix-hint">
                    Write what is right into the fields; rows that you leave as they are stay as they are. The list is changed here, not in
                    your file.
                    ${ended ? 'The campaign has ended: rows that can be called now begin another round, under the same rules.' : 'Rows that can be called now wait for their turn.'}
                  </p>`,
                  fixTable(seen.lines, 'fix-hint'),
                  last === undefined ? null : html`<p>${link(fixPath(campaignId, last), `Behind row ${last}`)}</p>`,
                ],
              })}
            </section>`,
    }; // prettier-ignore
  },
  call: async ({ params, fields }, request) => {
    const { campaignId, db, campaign } = await openCampaign(request);
    const sent = sentFixes(fields);
    const known = await readCells(db, campaignId, [...sent.keys()]);
    const { columns } = campaign.rules.list;
    const rows = [...sent].flatMap(([row, cells]) => {
      const own = known.get(row) ?? '[]';
      const old = JSON.parse(own) as string[];
      const masked = maskedIn(request, campaign, own);
      const changed = [...cells].filter(([at, value]) => (masked.has(at) ? value !== '' : value !== (old[at] ?? '')));
      return changed.length === 0 ? [] : [{ row, cells: Object.fromEntries(changed.map(([at, value]) => [columns[at] ?? '', value])) }];
    });
    const again = fields.getAll('again').flatMap((row) => (/^\d{1,9}$/.test(row) ? [{ row: Number(row), cells: {} }] : []));
    if (rows.length + again.length === 0)
      throw new UsageError('No field was changed, so nothing was saved. Write another value into one of them.');
    return { ...apiCall('fixRows', params), body: { rows: [...rows, ...again] } };
  },
  done: ({ params }, { body }) => {
    const answer = body as unknown as Fixed;
    if (answer.rows.some(({ result }) => result === 'failed')) return null;
    return { to: campaignPath(params['campaign'] ?? ''), said: toldText(answer) };
  },
};

/** What the API says of rows that were sent. */
interface Fixed {
  rows: FixedRow[];
  round: number | null;
  notice: string | null;
}

function toldText({ rows, round, notice }: Fixed): string {
  const failed = rows.filter(({ result }) => result === 'failed').length;
  const inLine = rows.length - failed;
  const begun = round === null ? '' : ` Round ${round} was started.`;
  const left = failed === 0 ? '' : ` ${count(failed, 'row')} still cannot be called, and ${failed === 1 ? 'stays' : 'stay'} as before.`;
  return `${count(inLine, 'row')} put back in line.${begun}${left}${notice === null ? '' : ` ${notice}`}`;
}

/** The first of them with what is wrong, as a fix that changes nothing is told; or why none can be fixed now. */
async function readRejected(request: ViewRequest, given: Given): Promise<{ lines: FixLine[]; next: number | undefined } | string> {
  const { campaign, campaignId, db } = await openCampaign(request);
  const after = /^\d{1,9}$/.test(request.query('after')) ? Number(request.query('after')) : 0;
  const query = { outcomes: ['rejected'] as const, afterRow: after, limit: pageSize + 1 };
  const found = await readCampaignRows(db, campaignId, query, request.now);
  const rows = found.slice(0, pageSize);
  const numbers = rows.map(({ row }) => row);
  const cells = await readCells(db, campaignId, numbers);
  let tried: FixedRow[] = [];
  try {
    const fixes = numbers.map((row) => ({ row, cells: {} }));
    if (rows.length > 0) tried = (await fixRows(request.context, { campaignId, fixes, dryRun: true })).rows;
  } catch (error) {
    if (error instanceof EditRefusedError) return error.message;
    throw error;
  }
  const told = new Map([...tried, ...((given.answer as unknown as Fixed | null)?.rows ?? [])].map((each) => [each.row, each]));
  const { columns } = campaign.rules.list;
  const lines = rows.map(({ row, reason }): FixLine => {
    const own = cells.get(row) ?? '[]';
    const known = told.get(row);
    const { column = null } = known ?? {};
    const at = column === null || known?.code === 'malformed_row' ? -1 : columns.indexOf(column);
    const value = (JSON.parse(own) as string[])[at] ?? '';
    const hidden = maskedIn(request, campaign, own).get(at);
    const hint = known?.hint ?? reasonText(reason ?? '');
    const written = given.fields?.get(`fix.${row}.${at}`) ?? undefined;
    return {
      row,
      column,
      at: at === -1 ? null : at,
      isMended: known?.result === 'corrected',
      hint:
        known?.result === 'corrected'
          ? 'nothing is wrong with it any more'
          : hidden === undefined
            ? hint
            : hint.replaceAll(value.trim() || '\0', hidden),
      value: written ?? value,
      masked: written === undefined || written === '' ? hidden : undefined,
    };
  });
  return { lines, next: found.length > pageSize ? numbers.at(-1) : undefined };
}

/** The cells of a row that are shown masked, by the place of their column. `cells`: JSON. */
function maskedIn(request: ViewRequest, { campaignId, rules }: Campaign, cells: string): Map<number, string> {
  if (request.numbersShown(campaignId)) return new Map();
  const whole = listCells(cells, rules.list, true);
  return new Map(
    listCells(cells, rules.list, false).flatMap(({ place, value }) => (value === whole[place]?.value ? [] : [[place, value]])),
  );
}

import { hasClosed } from '../../../rules/lifecycle.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { facts, figure, link, table } from '../../../presentation/html/elements.ts';
import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import { editRefusalOf, EditRefusedError } from '../../../ledger/people/edit-refusal.ts';
import { readCampaignRows } from '../../../ledger/read/campaign-rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { fixRows, type FixedRow } from '../../../operations/control/fix-rows.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import type { ConsoleAction } from '../core/action.ts';
import type { FormInput } from '../core/press.ts';
import { listCells } from '../core/cells.ts';
import { fixTable, sentFixes, type FixLine } from '../core/fixes.ts';
import { campaignPath, fixPath, rowsPath } from '../core/links.ts';
import { inCampaign, numbersForm, openCampaign } from '../core/rows.ts';
import type { ViewRequest } from '../core/view.ts';

const pageSize = 100;

/** Rejected rows, each with an editable cell; after the end, fixed rows begin the next round. */
const fixRejected: ConsoleAction = {
  path: '/campaigns/:campaign/fix',
  op: 'fixRows',
  form: async (request, given) => {
    const { campaign, campaignId } = await openCampaign(request);
    const seen = await readRejected(request, given);
    const { lines, next } = typeof seen === 'string' ? { lines: [], next: undefined } : seen;
    const ended = hasClosed(campaign);
    const then = ended
      ? 'The campaign has ended: rows that can be called now begin another round, under the same rules.'
      : 'Rows that can be called now wait for their turn.';
    return {
      title: 'Rows that cannot be called',
      ...inCampaign(campaign, [rowsPath(campaignId), 'People']),
      actions: numbersForm(request, campaignId, { to: fixPath(campaignId) }),
      back: lines.length === 0 ? [campaignPath(campaignId), 'the campaign'] : [rowsPath(campaignId, { outcome: 'rejected' }), 'the people'],
      isWide: true,
      obstacle: typeof seen === 'string' ? seen : lines.length === 0 ? 'No row of the list is wrong any more.' : null,
      found: given.answer === null ? null : html`<p class="refused" role="alert">${fixedText(given.answer as Fixed)}</p>`,
      button: ended ? `Save, and start round ${campaign.round + 1} with them` : 'Save, and put them in line',
      body: [
        html`<p class="hint" id="fix-hint">
          Write what is right into the fields; rows that you leave as they are stay as they are. The list is changed here, not in your file.
          ${then}
        </p>`,
        fixTable(lines, 'fix-hint'),
        next === undefined ? null : html`<p>${link(fixPath(campaignId, next), `Behind row ${next}`)}</p>`,
      ],
    };
  },
  call: async ({ fields }, request) => {
    const { campaignId, db, campaign } = await openCampaign(request);
    const sent = sentFixes(fields);
    const query = { rows: [...sent.keys()], limit: sent.size, cells: true };
    const known = new Map((await readCampaignRows(db, campaignId, query, request.now)).map(({ row, cells }) => [row, cells]));
    const { columns } = campaign.rules.list;
    const rows = [...sent].flatMap(([row, cells]) => {
      const own = known.get(row) ?? '[]';
      const old = JSON.parse(own) as string[];
      const masked = maskedCells(request, campaign, own);
      const changed = [...cells].filter(([at, value]) => (masked.has(at) ? value !== '' : value !== (old[at] ?? '')));
      return changed.length === 0 ? [] : [{ row, cells: Object.fromEntries(changed.map(([at, value]) => [columns[at] ?? '', value])) }];
    });
    const again = fields.getAll('again').flatMap((row) => (/^\d{1,9}$/.test(row) ? [{ row: Number(row), cells: {} }] : []));
    if (rows.length + again.length === 0)
      throw new UsageError('No field was changed, so nothing was saved. Write another value into one of them.');
    return { body: { rows: [...rows, ...again] } };
  },
  done: ({ campaignId }, body) => {
    const answer = body as Fixed;
    return answer.rows.some(({ result }) => result === 'failed') ? null : { to: campaignPath(campaignId), said: fixedText(answer) };
  },
};

type Fixed = {
  rows: FixedRow[];
  round: number | null;
};

function fixedText({ rows, round }: Fixed): string {
  const failed = rows.filter(({ result }) => result === 'failed').length;
  const begun = round === null ? '' : ` Round ${round} was started.`;
  const left = failed === 0 ? '' : ` ${plural(failed, 'row')} still cannot be called, and ${failed === 1 ? 'stays' : 'stay'} as before.`;
  return `${plural(rows.length - failed, 'row')} put back in line.${begun}${left}`;
}

/** With their errors, or why none can be fixed now. */
async function readRejected(request: ViewRequest, given: FormInput): Promise<{ lines: FixLine[]; next: number | undefined } | string> {
  const { campaign, campaignId, db } = await openCampaign(request);
  const afterRow = /^\d{1,9}$/.test(request.query('after')) ? Number(request.query('after')) : 0;
  const query = { outcomes: ['rejected'] as const, afterRow, limit: pageSize + 1, cells: true };
  const found = await readCampaignRows(db, campaignId, query, request.now);
  const rows = found.slice(0, pageSize);
  const numbers = rows.map(({ row }) => row);
  let tried: FixedRow[] = [];
  try {
    const fixes = numbers.map((row) => ({ row, cells: {} }));
    if (rows.length > 0) tried = (await fixRows(request.context, { campaignId, fixes, dryRun: true })).rows;
  } catch (error) {
    if (error instanceof EditRefusedError) return error.message;
    throw error;
  }
  const fixedByRow = new Map([...tried, ...((given.answer as Fixed | null)?.rows ?? [])].map((each) => [each.row, each]));
  const { columns } = campaign.rules.list;
  const lines = rows.map(({ row, reason, cells: own = '[]' }): FixLine => {
    const { column = null, code, result, hint: newHint } = fixedByRow.get(row) ?? {};
    const hint = newHint ?? reasonText(reason ?? '');
    const at = column === null || code === 'malformed_row' ? -1 : columns.indexOf(column);
    const value = (JSON.parse(own) as string[])[at] ?? '';
    const hidden = maskedCells(request, campaign, own).get(at);
    const isMended = result === 'corrected';
    const shown = hidden === undefined ? hint : hint.replaceAll(value.trim() || '\0', hidden);
    const written = given.fields?.get(`fix.${row}.${at}`) ?? undefined;
    return {
      row,
      column,
      at: at === -1 ? null : at,
      isMended,
      hint: isMended ? 'nothing is wrong with it any more' : shown,
      value: written ?? value,
      masked: written === undefined || written === '' ? hidden : undefined,
    };
  });
  return { lines, next: found.length > pageSize ? numbers.at(-1) : undefined };
}

/** Masked cells of a row, by column index. `cells`: JSON. */
function maskedCells(request: ViewRequest, { campaignId, rules }: Campaign, cells: string): Map<number, string> {
  if (request.numbersShown(campaignId)) return new Map();
  const whole = listCells(cells, rules.list, true);
  const shown = listCells(cells, rules.list, false).filter(({ place, value }) => value !== whole[place]?.value);
  return new Map(shown.map(({ place, value }) => [place, value]));
}

type Update = Record<'rows' | 'accepted' | 'corrected' | 'unchanged' | 'failed' | 'mayStillBeCalled', number> & {
  failures: { code: string; count: number; examples: { row: number; line: number | null; id: string | null }[] }[];
};

const isChange = (fields: URLSearchParams): boolean => fields.get('step') === 'change';

/** The first submit counts the changes; the second one, with the same file, applies them. */
const updateList: ConsoleAction = {
  path: '/campaigns/:campaign/update',
  op: 'updateList',
  files: ['list'],
  form: async (request, { fields, answer }) => {
    const { campaign, campaignId } = await openCampaign(request);
    const counted = answer !== null;
    const option = (name: 'add' | 'restore', text: string): HtmlValue => {
      const chosen = fields?.get(name) === 'yes';
      // Only what was counted is applied.
      if (counted) return chosen ? html`<input type="hidden" name="${name}" value="yes" />` : null;
      return html`<label><input type="checkbox" name="${name}" value="yes" ${chosen ? html`checked` : null} /> ${text}</label>`;
    };
    return {
      title: counted ? 'Update the list like this?' : 'Update the list',
      ...inCampaign(campaign),
      back: [campaignPath(campaignId), 'the campaign'],
      isWide: true,
      obstacle: editRefusalOf(campaign, request.now),
      says: 'Rows are matched by the id column. New ones are added behind the last row, changed ones are corrected, and what the file no longer has stays as it is. Rows with a call that is planned or open, or with an outcome that stays, are left alone.',
      found: counted ? counts(answer as Update) : null,
      button: counted ? 'Update the list' : 'Say what this does',
      body: html`<label class="field"
          >${counted ? 'The same file again' : 'The list, CSV or a workbook'}
          <input name="list" type="file" accept=".csv,.txt,.xlsx,text/csv" required
        /></label>
        ${option('restore', 'restore withdrawn rows that the file has')}
        ${option('add', 'take the file even if it looks like the list of another campaign')}
        <input type="hidden" name="step" value="${counted ? 'change' : 'count'}" />
        ${counted ? html`<input type="hidden" name="seen" value="${fields?.get('seen') ?? ''}" />` : null}`,
    };
  },
  call: ({ fields, files: { hashes } }) => {
    const { list } = hashes;
    if (list !== undefined) {
      if (isChange(fields) && fields.get('seen') !== list)
        throw new UsageError('Nothing was changed: this is not the file of which you were shown what it does. Have it counted first.');
      fields.set('seen', list);
    }
    const [add, restore] = ['add', 'restore'].map((name) => String(fields.get(name) === 'yes')) as [string, string];
    return { query: { dry_run: String(!isChange(fields)), add, restore } };
  },
  done: ({ campaignId, fields }, answer) => {
    if (!isChange(fields)) return null;
    const { accepted, corrected, failed } = answer as Update;
    const said = `${plural(accepted, 'row')} added, ${count(corrected)} corrected, ${count(failed)} left as they were.`;
    return { to: campaignPath(campaignId), said };
  },
};

function counts({ rows, accepted, corrected, unchanged, failed, mayStillBeCalled, failures }: Update): HtmlValue {
  return [
    facts([
      ['Rows of the file', figure(rows)],
      ['New, added after the last row', figure(accepted)],
      ['Corrected, and back in line where they were not', figure(corrected)],
      ['Unchanged', figure(unchanged)],
      ['Left as they are, see below', figure(failed)],
      ['Left, and may still be called at the old number', figure(mayStillBeCalled)],
    ]),
    table(
      'Rows that are left as they are',
      failures.map(({ code, count: times, examples }) => ({
        key: `failure-${code}`,
        cells: { Why: reasonText(code), Rows: figure(times), 'Such as': examples.map(placeOf).join('; ') },
      })),
    ),
  ];
}

function placeOf({ row, line, id }: Update['failures'][number]['examples'][number]): string {
  const where = line === null ? `row ${row}` : `line ${line}`;
  return id === null ? where : `${where}, ${printable(id)}`;
}

export const listActions = [fixRejected, updateList];

import { hasEnded } from '../../../rules/lifecycle.ts';
import { openAttemptStates } from '../../../rules/ledger.ts';
import { wallText, wallTime } from '../../../rules/hours/local-time.ts';
import { withdraw } from '../../../operations/control/rows.ts';
import { editRefusalOf, EditRefusedError } from '../../../ledger/people/edit-refusal.ts';
import type { WithdrawResult } from '../../../ledger/people/withdraw-recipients.ts';
import { listCallbacks } from '../../../ledger/people/callbacks.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { figure, instant } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { localTimeText } from '../../../presentation/words/callbacks.ts';
import type { ConsoleAction } from '../core/action.ts';
import { lineField, readTerms, termFields, written } from '../core/fields.ts';
import { campaignPath, rowPath, rowsPath } from '../core/links.ts';
import { callFacts } from '../core/press.ts';
import { inCampaign, openCampaign, personName, requireRow, rowBadge, shownNumber } from '../core/rows.ts';
import type { ViewRequest } from '../core/view.ts';

const prefix = 'cell.';

const addPerson: ConsoleAction = {
  path: '/campaigns/:campaign/add',
  op: 'addRows',
  form: async (request, { fields, answer }) => {
    const { campaign, campaignId } = await openCampaign(request);
    const { columns, idColumn, phoneColumn } = campaign.rules.list;
    const [row] = (answer?.['rows'] ?? []) as { hint: string | null; column: string | null }[];
    return {
      title: 'Add a person',
      ...inCampaign(campaign, [rowsPath(campaignId), 'People']),
      back: [campaignPath(campaignId), 'the campaign'],
      obstacle: addObstacle(campaign, request.now),
      says: 'They are called as the others are: hours, law, caps and the do-not-call list hold. Whoever is in the campaign by that id stays as they are.',
      standing: [['People of the campaign', figure(campaign.rowsTotal)]],
      found:
        row === undefined
          ? null
          : html`<p class="refused" role="alert">Nobody was added. ${printable(`${row.column ?? 'The row'}: ${row.hint ?? ''}`)}.</p>`,
      button: 'Add to campaign',
      body: columns.map((column) =>
        lineField(fields, {
          name: `${prefix}${column}`,
          label: column === idColumn ? `${column} (your own id)` : column,
          required: column === idColumn || column === phoneColumn,
        }),
      ),
    };
  },
  call: ({ fields }) => {
    const cells = [...fields].flatMap(([name, value]) => (name.startsWith(prefix) ? [[name.slice(prefix.length), value] as const] : []));
    return { body: { rows: [{ cells: Object.fromEntries(cells) }] } };
  },
  done: ({ campaignId }, { rows }) => {
    const [added] = rows as { result: string; row: number | null }[];
    if (added?.row == null) return null;
    const resultText =
      added.result === 'known' ? 'is in the campaign by that id already; nothing was changed' : 'was added, and is in line';
    return { to: rowPath(campaignId, added.row), said: `Row ${added.row} of the list ${resultText}.` };
  },
};

function addObstacle(campaign: Campaign, now: number): string | null {
  if (campaign.rules.list.idColumn === null)
    return 'Its file names no column of ids (list.id), so somebody who is added twice would be called twice. Send a corrected list to a new campaign.';
  return editRefusalOf(campaign, now);
}

/** The person in the path, and the crumbs of a form below people or callbacks. */
async function openPerson(request: ViewRequest) {
  const { campaign, campaignId, db } = await openCampaign(request);
  const row = await requireRow(request, campaignId);
  const name = personName(row.row, row.externalId);
  const back = [rowPath(campaignId, row.row), name] as const;
  const filter = { states: ['open', 'unclear'] as const, row: row.row };
  return {
    campaign,
    campaignId,
    db,
    row,
    name,
    amongPeople: { ...inCampaign(campaign, [rowsPath(campaignId), 'People'], back), back },
    amongCallbacks: { ...inCampaign(campaign, [campaignPath(campaignId, '/callbacks'), 'Call backs']), back },
    readCallback: async () => (await listCallbacks(db, { campaignId, now: request.now }, filter))[0],
  };
}

/** Sets or moves a callback. `at`: local time of the recipient. */
const setRowCallback: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/callback',
  op: 'setCallback',
  form: async (request, { fields }) => {
    const { campaign, row, name, amongCallbacks, readCallback } = await openPerson(request);
    const open = await readCallback();
    const { zones } = row.terms;
    const [zone = 'UTC'] = zones;
    const usual = wallText(wallTime(open?.dueAt ?? request.now + 60 * 60_000, zone));
    return {
      ...amongCallbacks,
      title: open === undefined ? `Call ${name} back?` : `Move the call back of ${name}?`,
      obstacle: hasEnded(campaign) ? 'The campaign has ended: nobody is called back. Begin another one with this person.' : null,
      says: 'No campaign calls the number before. Hours, law, caps and the do-not-call list hold; if nobody can dial in time, you are told.',
      standing: [
        ['Now', rowBadge(row)],
        ['Their clock now', localTimeText({ dueAt: request.now, local: null, zones })],
        ['Promised for', open?.dueAt == null ? null : html`${localTimeText(open)} (${instant(open.dueAt, 'minute')})`],
      ],
      button: open === undefined ? 'Promise the call back' : 'Move the call back',
      body: html`<label class="field"
        >Date and time by their clock (${zone.replaceAll('_', ' ')})
        <input name="at" type="datetime-local" required value="${fields?.get('at') ?? usual}"
      /></label>`,
    };
  },
  call: ({ fields }) => ({ body: { at: (fields.get('at') ?? '').trim().replace('T', ' ').slice(0, 16) } }),
  done: ({ campaignId, row }) => ({
    to: campaignPath(campaignId, '/callbacks'),
    said: `Row ${row} of the list is called back at the time that you gave.`,
  }),
};

const cancelRowCallback: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/cancel-callback',
  op: 'cancelCallback',
  form: async (request) => {
    const { campaignId, row, name, amongCallbacks, readCallback } = await openPerson(request);
    const found = await readCallback();
    return {
      ...amongCallbacks,
      title: `Not call ${name} back?`,
      back: [campaignPath(campaignId, '/callbacks'), 'call backs'],
      obstacle: found === undefined ? `${name} is not to be called back.` : null,
      says: 'Whoever was talked to is not called any more. Whoever was not is called as before.',
      standing: [
        ['Now', rowBadge(row)],
        ['Promised for', found?.dueAt == null ? 'a time that is not clear' : localTimeText(found)],
      ],
      button: 'Cancel the call back',
      danger: true,
    };
  },
  call: () => ({ body: {} }),
  done: ({ campaignId, row }) => ({ to: campaignPath(campaignId, '/callbacks'), said: `Row ${row} of the list is not called back.` }),
};

/** Puts the number of a row on the do-not-call list without showing it. */
const suppressRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/suppress',
  op: 'addSuppressions',
  form: async (request, { fields }) => {
    const { campaignId, db, row, amongPeople } = await openPerson(request);
    const { e164 } = row;
    const onlyHere = fields?.get('scope') === 'campaign';
    return {
      ...amongPeople,
      title: 'Do not call this number?',
      obstacle: e164 === null ? 'This person has no number that could be called.' : null,
      says:
        'This number is not called from now on. Calls that are planned and not sent yet are stopped; open calls go on. ' +
        'Taking a number off the list again takes the role admin.',
      standing: e164 === null ? [] : [['Number', shownNumber(request, campaignId, e164)], ...(await callFacts(db, [e164]))],
      button: 'Do not call this number',
      danger: true,
      body: html`<fieldset>
          <legend>For</legend>
          <label><input type="radio" name="scope" value="all" ${onlyHere ? null : html`checked`} /> all campaigns</label>
          <label><input type="radio" name="scope" value="campaign" ${onlyHere ? html`checked` : null} /> only ${campaignId}</label>
        </fieldset>
        ${termFields(fields)}`,
    };
  },
  call: async ({ fields, campaignId }, request) => {
    const { e164 } = await requireRow(request, campaignId);
    const scope = fields.get('scope') === 'campaign' ? { campaign: campaignId } : {};
    return { body: { numbers: e164 === null ? [] : [e164], ...scope, ...readTerms(fields, request.now) } };
  },
  done: ({ campaignId, row }, { added }) => ({
    to: rowPath(campaignId, row),
    said: added === 1 ? 'The number is on the do-not-call list.' : 'The number was on the do-not-call list already, for at least as long.',
  }),
};

const withdrawn: Readonly<Record<WithdrawResult['result'], string>> = {
  withdrawn: 'They end as cancelled, and are not called in this campaign. A corrected list can put them back while it goes on.',
  withdrawing:
    'The planned or open call is asked back from the service. If it has not rung, they end as removed; if it has, they end with that call. They are not called again.',
  call_open: 'A call to them is planned or open, and this service cannot give it back: it goes on, and they stay in the campaign.',
  already_ended: 'They have their outcome, and keep it.',
  not_found: 'The campaign has no such person.',
};

const withdrawRow: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/withdraw',
  op: 'withdrawRows',
  form: async (request, { fields }) => {
    const { campaignId, row, name, amongPeople } = await openPerson(request);
    const tried = await tryWithdrawing(request, campaignId, row.row);
    const isTaken = tried === 'withdrawn' || tried === 'withdrawing';
    const open = await countOpenCalls(request, campaignId, row.row);
    return {
      ...amongPeople,
      title: `Remove ${name} from the campaign?`,
      obstacle: isTaken ? null : (withdrawn[tried as WithdrawResult['result']] ?? tried),
      says: withdrawn[isTaken ? tried : 'withdrawn'],
      standing: [
        ['Now', rowBadge(row)],
        ['People who are removed', figure(isTaken ? 1 : 0)],
        [tried === 'withdrawing' ? 'Planned or open calls that are asked back' : 'Planned or open calls that go on', figure(open)],
      ],
      button: 'Remove from campaign',
      danger: true,
      body: lineField(fields, { name: 'reason', label: 'Reason, for the log; no word about a person' }),
    };
  },
  call: ({ row, fields }) => ({ body: { rows: [row], ...written(fields, 'reason') } }),
  done: ({ campaignId, row }, body) => {
    const [left] = body['left'] as { why: WithdrawResult['result'] }[];
    const unchanged = left?.why === 'withdrawing' ? '' : 'Nothing was changed. ';
    return {
      to: rowPath(campaignId, row),
      said: left === undefined ? `Row ${row} of the list is removed from the campaign.` : `${unchanged}${withdrawn[left.why]}`,
    };
  },
};

async function tryWithdrawing({ context }: ViewRequest, campaignId: string, row: number): Promise<string> {
  try {
    const { results } = await withdraw(context, { campaignId, named: { rows: [row] }, note: null, dryRun: true });
    return results[0]?.result ?? 'not_found';
  } catch (error) {
    if (error instanceof EditRefusedError) return error.message;
    throw error;
  }
}

async function countOpenCalls({ context }: ViewRequest, campaignId: string, row: number): Promise<number> {
  const found = await context.store.db
    .selectFrom('attempts')
    .innerJoin('recipients', 'recipients.recipient_id', 'attempts.recipient_id')
    .select('attempts.attempt_id')
    .where('recipients.campaign_id', '=', campaignId)
    .where('recipients.row_number', '=', row)
    .where('attempts.state', 'in', openAttemptStates)
    .execute();
  return found.length;
}

export const personActions = [addPerson, setRowCallback, cancelRowCallback, suppressRow, withdrawRow];

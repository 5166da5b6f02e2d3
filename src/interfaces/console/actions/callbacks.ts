import { hasEnded } from '../../../rules/lifecycle.ts';
import { wallText, wallTime } from '../../../rules/hours/local-time.ts';
import { instant } from '../../../presentation/html/elements.ts';
import { html } from '../../../presentation/html/html.ts';
import { localTimeText } from '../../../presentation/words/callbacks.ts';
import { listCallbacks } from '../../../ledger/people/callbacks.ts';
import { operations } from '../../../operations/list.ts';
import { apiCall, type ConsoleAction } from '../core/action.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { pressView } from '../core/press.ts';
import { inCampaign, openCampaign, personName, requireRow, rowBadge } from '../core/rows.ts';

/** What `<input type="datetime-local">` holds: the time on the wall of the person called. */
const field = 'at';

/** Promises to call one person back, or moves the promise. */
export const setRowCallback: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/callback',
  role: operations.setCallback.role,
  form: async (request, given) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const row = await requireRow(request, campaignId);
    const name = personName(row.row, row.externalId);
    const [open] = await openOf(db, campaignId, row.row, request.now);
    const { zones } = row.terms;
    const [zone = 'UTC'] = zones;
    const usual = open?.dueAt ?? request.now + 60 * 60_000;
    const written = given.fields?.get(field) ?? wallText(wallTime(usual, zone));
    const why = hasEnded(campaign) ? 'The campaign has ended: nobody is called back. Begin another one with this person.' : null;
    return pressView(given, {
      title: open === undefined ? `Call ${name} back?` : `Move the call back of ${name}?`,
      ...inCampaign(campaign, [campaignPath(campaignId, '/callbacks'), 'Call backs']),
      back: [rowPath(campaignId, row.row), name],
      obstacle: why === null ? null : { why, status: 200 },
      says: 'No campaign calls the number before. Hours, law, caps and the do-not-call list hold; if nobody can dial in time, you are told.',
      standing: [
        ['Now', rowBadge(row)],
        ['Their clock now', localTimeText({ dueAt: request.now, local: null, zones })],
        ...(open?.dueAt == null ? [] : [['Promised for', html`${localTimeText(open)} (${instant(open.dueAt, 'minute')})`] as const]),
      ],
      button: open === undefined ? 'Promise the call back' : 'Move the call back',
      body: html`<label class="field"
        >Date and time by their clock (${zone.replaceAll('_', ' ')})
        <input name="${field}" type="datetime-local" required value="${written}"
      /></label>`,
    });
  },
  call: ({ params, fields }) => ({
    ...apiCall('setCallback', params),
    body: { at: (fields.get(field) ?? '').trim().replace('T', ' ').slice(0, 16) },
  }),
  done: ({ params }) => ({
    to: campaignPath(params['campaign'] ?? '', '/callbacks'),
    said: `Row ${Number(params['row'])} of the list is called back at the time that you gave.`,
  }),
};

/** Breaks a promise, or says that an unclear wish comes to nothing. */
export const cancelRowCallback: ConsoleAction = {
  path: '/campaigns/:campaign/rows/:row/cancel-callback',
  role: operations.cancelCallback.role,
  form: async (request, given) => {
    const { campaign, campaignId, db } = await openCampaign(request);
    const row = await requireRow(request, campaignId);
    const name = personName(row.row, row.externalId);
    const [found] = await openOf(db, campaignId, row.row, request.now);
    return pressView(given, {
      title: `Not call ${name} back?`,
      ...inCampaign(campaign, [campaignPath(campaignId, '/callbacks'), 'Call backs']),
      back: [campaignPath(campaignId, '/callbacks'), 'call backs'],
      obstacle: found === undefined ? { why: `${name} is not to be called back.`, status: 200 } : null,
      says: 'Whoever was talked to is not called any more. Whoever was not is called as before.',
      standing: [
        ['Now', rowBadge(row)],
        ['Promised for', found?.dueAt == null ? 'a time that is not clear' : localTimeText(found)],
      ],
      button: 'Cancel the call back',
      danger: true,
    });
  },
  call: ({ params }) => ({ ...apiCall('cancelCallback', params), body: {} }),
  done: ({ params }) => ({
    to: campaignPath(params['campaign'] ?? '', '/callbacks'),
    said: `Row ${Number(params['row'])} of the list is not called back.`,
  }),
};

async function openOf(db: Parameters<typeof listCallbacks>[0], campaignId: string, row: number, now: number) {
  return listCallbacks(db, { campaignId, now }, { states: ['open', 'unclear'], row });
}

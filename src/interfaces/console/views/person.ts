import { requireCampaign } from '../../../operations/control/ledger.ts';
import { empty, facts, figure, id, instant, link, panel, table, withInstants } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readCallee, type Callee, type CalleeRow } from '../../../ledger/read/callee.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import { accountScope, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { nextCallText, reasonText, eventText } from '../../../presentation/words/history.ts';
import { campaignPath, rowPath, rowsPath } from '../core/links.ts';
import { numbersForm, shownNumber } from '../core/numbers.ts';
import { requireRow } from '../core/require-row.ts';
import { rowBadge } from '../core/state-badges.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { personCalls } from './person-calls.ts';

/** One row, and everything that was decided about its number in every campaign of the database. */
export async function personView(request: ViewRequest): Promise<View> {
  const { context, now, params } = request;
  const { db } = context.store;
  const campaign = await requireCampaign(context.store, params['campaign'] ?? '');
  const { campaignId } = campaign;
  const row = await requireRow(request, campaignId);
  const callee = row.e164 === null ? null : await readCallee(db, row.e164, now);
  const own = callee?.rows.find(
    ({ campaign: { campaignId: other }, recipient }) => other === campaignId && recipient.row_number === row.row,
  );
  const others = (callee?.rows ?? []).filter((each) => each !== own);
  const path = rowPath(campaignId, row.row);
  return {
    title: `Row ${row.row} of ${campaignId}`,
    section: 'campaigns',
    // Another campaign may call the number too.
    follows: others.length > 0 ? 'all' : campaignId,
    crumbs: [['/', 'Campaigns'], [campaignPath(campaignId), campaignId], [rowsPath(campaignId), 'Rows']], // prettier-ignore
    body: [
      panel(
        'Now',
        [
          html`<p id="next-call">${own === undefined ? withoutNumber(row) : withInstants(nextCallText(own))}</p>`,
          rowFacts(request, { campaignId, row, callee }),
          buttons(request, campaignId, row),
        ],
        numbersForm(request, campaignId, { to: path }),
      ),
      personCalls(request, callee?.rows ?? []),
      (callee?.suppressions ?? []).length === 0
        ? null
        : panel('On the do-not-call list', suppressionTable(callee?.suppressions ?? [], now)),
      others.length === 0 ? null : panel('In other rows and campaigns', rowTable(others)),
      panel('What was decided', story(callee), html`<p class="aside">Oldest first, by the clock of the service</p>`),
    ],
  };
}

function withoutNumber({ outcome }: CampaignRow): string {
  return outcome === null ? 'Nothing is known of its number.' : `It has its outcome, ${outcome}, and no number that could be called.`;
}

function rowFacts(
  request: ViewRequest,
  { campaignId, row, callee }: { campaignId: string; row: CampaignRow; callee: Callee | null },
): Html {
  const { externalId, e164, reason, attempts, lastDialedAt, changedAt } = row;
  const holding = (callee?.suppressions ?? []).filter((entry) => holds(entry, request.now));
  return facts([
    ['State', rowBadge(row)],
    ['Reason', reason === null ? null : reasonText(reason)],
    ['Number', e164 === null ? 'none that can be called' : shownNumber(request, campaignId, e164)],
    ['ID', externalId === null ? null : id(printable(externalId))],
    ['Calls in this campaign', figure(attempts)],
    ['Last call', lastDialedAt === null ? null : instant(lastDialedAt, 'full')],
    ['Changed', instant(changedAt, 'full')],
    ['Do-not-call list', e164 === null ? null : holding.length === 0 ? 'not on it' : holding.map(scopeText).join(', ')],
  ]);
}

function buttons(request: ViewRequest, campaignId: string, { row, e164, state, outcome }: CampaignRow): Html | null {
  if (!may(request, 'operate')) return null;
  return html`<p class="actions">
    ${e164 === null ? null : buttonTo(rowPath(campaignId, row, '/suppress'), 'Do not call this number')}
    ${state === 'done' ? null : buttonTo(rowPath(campaignId, row, '/withdraw'), 'Withdraw this row')}
    ${outcome === 'unresolved' ? buttonTo(campaignPath(campaignId, '/unresolved'), 'Decide what became of it') : null}
  </p>`;
}

function buttonTo(path: string, text: string): Html {
  return html`<a class="button" href="${path}">${text}</a>`;
}

function holds({ expiresAt }: StoredSuppression, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}

function scopeText({ scope }: StoredSuppression): string {
  return scope === accountScope ? 'for all campaigns' : `for ${scope}`;
}

function suppressionTable(entries: readonly StoredSuppression[], now: number): HtmlValue {
  return table(
    'Entries of the do-not-call list for this number',
    entries.map((entry) => ({
      key: `entry-${entry.scope}`,
      cells: {
        Holds: scopeText(entry),
        'Said by': printable(entry.source),
        Reason: entry.reason === null ? '–' : printable(entry.reason),
        Since: instant(entry.createdAt, 'full'),
        Until: entry.expiresAt === null ? 'for ever' : [instant(entry.expiresAt, 'full'), holds(entry, now) ? '' : ' (over)'],
      },
    })),
  );
}

function rowTable(rows: readonly CalleeRow[]): HtmlValue {
  return table(
    'The same number in other rows and campaigns',
    rows.map((each) => {
      const { campaign, recipient } = each;
      const { campaignId } = campaign;
      return {
        key: `other-${recipient.recipient_id}`,
        cells: {
          Row: link(rowPath(campaignId, recipient.row_number), `${campaignId}, row ${recipient.row_number}`),
          State: rowBadge(recipient),
          Reason: recipient.reason === null ? '–' : reasonText(recipient.reason),
          'Next call': withInstants(nextCallText(each)),
        },
      };
    }),
  );
}

function story(callee: Callee | null): HtmlValue {
  if (callee === null || callee.events.length === 0)
    return empty('Nothing yet', 'Each plan, call, result and decision about this number will stand here as it is made.');
  const shared = new Set(callee.rows.map(({ campaign }) => campaign.campaignId)).size > 1;
  return [
    callee.truncated ? html`<p class="muted">The log holds older lines: carillon events prints them.</p>` : null,
    html`<ol class="story">
      ${callee.events.map(
        (event) =>
          html`<li id="event-${event.seq}">
            ${instant(event.at, 'full')}
            <span>${shared ? [link(campaignPath(event.campaignId), event.campaignId), ': '] : null}${eventText(event)}</span>
          </li>`,
      )}
    </ol>`,
  ];
}

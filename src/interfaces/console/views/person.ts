import { empty, facts, figure, id, instant, link, panel, table, withInstants, duration } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readCallee, type Callee, type CalleeRow, type CalleeCall } from '../../../ledger/read/callee.ts';
import type { CampaignRow } from '../../../ledger/read/campaign-rows.ts';
import { ownFields } from '../../../campaign/file/row-fields.ts';
import { accountScope, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { reasonText } from '../../../presentation/words/causes.ts';
import { nextCallText, eventText, dispositionText } from '../../../presentation/words/history.ts';
import { campaignPath, rowPath, rowsPath, callPath } from '../core/links.ts';
import { openCampaign, inCampaign, numbersForm, shownNumber, requireRow, rowBadge } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

/** One row, and everything that was decided about its number in every campaign of the database. */
export async function personView(request: ViewRequest): Promise<View> {
  const { now } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  const row = await requireRow(request, campaignId);
  const callee = row.e164 === null ? null : await readCallee(db, row.e164, now);
  const own = callee?.rows.find(
    ({ campaign: { campaignId: other }, recipient }) => other === campaignId && recipient.row_number === row.row,
  );
  const others = (callee?.rows ?? []).filter((each) => each !== own);
  const path = rowPath(campaignId, row.row);
  return {
    title: `Row ${row.row} of ${campaignId}`,
    // Another campaign may call the number too.
    follows: others.length > 0 ? 'all' : campaignId,
    ...inCampaign(campaign, [rowsPath(campaignId), 'Rows']),
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
  const { externalId, e164, reason, attempts, lastDialedAt, changedAt, terms } = row;
  const holding = (callee?.suppressions ?? []).filter((entry) => holds(entry, request.now));
  return facts([
    ['State', rowBadge(row)],
    ['Reason', reason === null ? null : reasonText(reason)],
    ['Number', e164 === null ? 'none that can be called' : shownNumber(request, campaignId, e164)],
    ['ID', externalId === null ? null : id(printable(externalId))],
    ...ownFields.map(({ label, term }): [string, HtmlValue] => {
      const said = terms[term];
      if (term === 'notBefore' || term === 'expiresAt') return [label, typeof said === 'number' ? instant(said, 'full') : null];
      return [label, said === null ? null : String(said)];
    }),
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
  return html`<a class="btn" href="${path}">${text}</a>`;
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
    callee.truncated ? html`<p class="soft">The log holds older lines: carillon events prints them.</p>` : null,
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

interface PlacedCall extends CalleeCall {
  row: CalleeRow;
}

/** The calls to one number, and what the agent has collected in them: the words of a person are for whoever may operate. */
function personCalls(request: ViewRequest, rows: readonly CalleeRow[]): HtmlValue {
  const calls = rows
    .flatMap((row) => row.calls.map((call): PlacedCall => ({ ...call, row })))
    .toSorted((a, b) => a.attempt.planned_at - b.attempt.planned_at);
  const collected = calls.filter(({ facts: known }) => hasValues(known?.collected) || hasValues(known?.evaluation));
  return [
    panel(
      'Calls',
      table(
        'Calls to this number, oldest first',
        calls.map((call) => ({
          key: `call-${call.attempt.attempt_id}`,
          cells: cellsOf(request, call, rows.length > 1),
        })),
        empty('No call was planned yet', 'When its turn comes, the call stands here with its result.'),
      ),
    ),
    collected.length === 0
      ? null
      : panel(
          'What was collected',
          may(request, 'operate') ? collected.map(valuesOf) : html`<p class="soft">What people have said takes the role operate.</p>`,
        ),
  ];
}

function hasValues(values: Record<string, unknown> | null | undefined): boolean {
  return Object.keys(values ?? {}).length > 0;
}

function cellsOf(request: ViewRequest, { attempt, facts: known, row }: PlacedCall, shared: boolean) {
  const { number, planned_at: plannedAt, posted_at: postedAt, settled_at: settledAt } = attempt;
  const { campaignId } = row.campaign;
  const isKnown = attempt.conversation_id !== null && may(request, 'operate');
  const durationMs = known?.durationMs ?? null;
  return {
    Call: shared ? link(rowPath(campaignId, row.recipient.row_number), `${campaignId}, call ${number}`) : html`Call ${figure(number)}`,
    Result: resultOf(attempt),
    Requested: postedAt === null ? html`<span class="soft">planned ${instant(plannedAt, 'full')}</span>` : instant(postedAt, 'full'),
    'Result known': instant(settledAt, 'full'),
    Duration: durationMs === null ? '–' : figure(duration(durationMs)),
    Conversation: [
      attempt.conversation_id === null ? '–' : id(printable(attempt.conversation_id)),
      isKnown ? html`<p>${link(callPath(campaignId, row.recipient.row_number, number), 'Transcript and recording')}</p>` : null,
    ],
  };
}

function resultOf({ disposition, detail, counted, state }: CalleeCall['attempt']): HtmlValue {
  if (disposition === null) return reasonText(state);
  return [
    dispositionText(disposition),
    detail === null ? null : html`<span class="soft"> (${reasonText(detail)})</span>`,
    counted === 0 ? html`<span class="soft">, uses up no attempt</span>` : null,
  ];
}

function valuesOf({ attempt, facts: known }: PlacedCall): Html {
  const entries = Object.entries({ ...known?.collected, ...known?.evaluation });
  return html`<div id="values-${attempt.attempt_id}" class="stack">
    <p class="soft">Call ${attempt.number}, ${instant(attempt.posted_at, 'full')}</p>
    ${facts(entries.map(([name, value]) => [printable(name), valueText(value)] as const))}
  </div>`;
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '–';
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

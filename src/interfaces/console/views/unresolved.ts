import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { count, empty, figure, link, panel, table, duration, facts, id, instant } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { findUnresolvedPage, readDoubtfulRows, type DoubtfulRow, type PossibleRecord } from '../../../ledger/doubt/doubtful-rows.ts';
import { countUnresolved } from '../../../ledger/read/doubt-counts.ts';
import { causeText } from '../../../presentation/words/needs.ts';
import { campaignPath, rowPath } from '../core/links.ts';
import { openCampaign, inCampaign, numbersForm, shownNumber } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { randomUUID } from 'node:crypto';
import { printable } from '../../../shared/input/printable.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { dispositionText } from '../../../presentation/words/history.ts';

const pageSize = 25;

/** Rows of which nobody knows what became, by their causes, each with the records that may be its own. */
export async function unresolvedView(request: ViewRequest): Promise<View> {
  const { now } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  const asked = Number(request.query('after'));
  const afterRow = Number.isSafeInteger(asked) && asked > 0 ? asked : 0;
  const causes = await countUnresolved(db, campaignId);
  const found = await findUnresolvedPage(db, campaignId, { afterRow, limit: pageSize + 1 });
  const rows = await readDoubtfulRows(db, campaign, { recipients: found.slice(0, pageSize), now });
  const withRecords = rows.filter(({ calls }) => calls.some(({ records }) => records.length > 0));
  const without = rows.filter((row) => !withRecords.includes(row));
  const path = campaignPath(campaignId, '/unresolved');
  const open = Object.entries(causes).reduce((sum, [cause, times]) => sum + (cause === givenUp ? 0 : times), 0);
  const next = found.length > pageSize ? (rows.at(-1)?.recipient.row_number ?? null) : null;
  return {
    title: `Needs a person: ${campaignId}`,
    follows: campaignId,
    ...inCampaign(campaign),
    body: [
      panel('Rows that nobody knows about', [causeTable(causes), summary(request, { campaignId, open, apart: causes[notToldApart] ?? 0 })]),
      ...(rows.length === 0
        ? [open === 0 ? null : link(path, 'First rows')]
        : [
            html`<div class="between">
              <h2>${afterRow > 0 ? `Behind row ${afterRow}` : 'Row by row'}</h2>
              ${numbersForm(request, campaignId, { to: afterRow > 0 ? `${path}?after=${afterRow}` : path })}
            </div>`,
            withRecords.map((row) => doubtfulRow(request, campaign, row)),
            unrecordedRows(request, campaign, without),
            html`<div class="pages">
              ${afterRow > 0 ? link(path, 'First rows') : null} ${next === null ? null : link(`${path}?after=${next}`, 'Next rows')}
            </div>`,
          ]),
    ],
  };
}

function causeTable(causes: Readonly<Record<string, number>>): HtmlValue {
  return table(
    'Unresolved rows by their cause',
    Object.entries(causes)
      .toSorted((a, b) => b[1] - a[1])
      .map(([cause, rows]) => ({
        key: `cause-${cause}`,
        cells: { Cause: causeText(cause), Rows: figure(rows) },
      })),
    empty('Nothing needs a decision', 'What became of each call is known, or is still being looked for.'),
  );
}

function summary(request: ViewRequest, { campaignId, open, apart }: { campaignId: string; open: number; apart: number }): Html | null {
  if (open === 0) return null;
  const path = campaignPath(campaignId, '/resolve');
  return html`<div class="stack">
    <p>
      It cannot be known whether ${open === 1 ? 'this row was' : 'these rows were'} reached, so nobody calls ${open === 1 ? 'it' : 'them'}
      again unless you say so. ${count(open, 'row')} still ${open === 1 ? 'needs' : 'need'} a decision.
    </p>
    ${
      may(request, 'operate')
        ? html`<p class="actions">
            ${open > apart ? html`<a class="btn" href="${path}?decision=redial">Dial them again …</a>` : null}
            <a class="btn" href="${path}?decision=give_up">Leave them all as they are …</a>
          </p>`
        : null
    }
  </div>`;
}

/** One row in doubt: its calls, and the records among which a person may choose. What they say is for whoever may operate. */
function doubtfulRow(request: ViewRequest, { campaignId }: Campaign, { recipient, calls }: DoubtfulRow): Html {
  const { row_number: row, e164, external_id: externalId, reason } = recipient;
  const path = rowPath(campaignId, row);
  const last = calls.at(-1)?.attempt ?? null;
  const records = calls.flatMap((call) => call.records);
  const mayDecide = may(request, 'operate');
  return html`<section id="doubt-${row}" class="panel">
    <header>
      <h3>${link(path, `Row ${row}`)}</h3>
      ${shownNumber(request, campaignId, e164)}
    </header>
    ${facts([
      ['ID', externalId === null ? null : id(printable(externalId))],
      ['Why nobody knows', reason === null && last === null ? null : causeOf(reason, last?.detail ?? null)],
      ['Calls in doubt', figure(calls.length)],
      ['Last requested', last === null ? null : instant(last.posted_at, 'full')],
      ['Records that may be theirs', figure(records.length)],
    ])}
    ${
      mayDecide && records.length > 0
        ? calls.map(({ attempt, records: own }) => recordTable(path, { attempt, records: own, several: calls.length > 1 }))
        : null
    }
    ${mayDecide ? html`<p class="actions">${wholeRow(path)}</p>` : null}
  </section>`;
}

/** Rows in doubt for which no record comes into question: there is nothing to choose from but to dial again or not. */
function unrecordedRows(request: ViewRequest, { campaignId }: Campaign, rows: readonly DoubtfulRow[]): HtmlValue {
  if (rows.length === 0) return null;
  const mayDecide = may(request, 'operate');
  return panel(
    'Without a record that may be theirs',
    table(
      'Rows in doubt without a record that may be theirs',
      rows.map(({ recipient, calls }) => {
        const { row_number: row, e164, external_id: externalId, reason } = recipient;
        const path = rowPath(campaignId, row);
        const last = calls.at(-1)?.attempt ?? null;
        return {
          key: `doubt-${row}`,
          cells: {
            Row: link(path, figure(row)),
            ID: externalId === null ? '–' : id(printable(externalId)),
            Number: shownNumber(request, campaignId, e164),
            'Why nobody knows': html`<span class="long">${causeOf(reason, last?.detail ?? null)}</span>`,
            Requested: instant(last?.posted_at ?? null, 'full'),
            ...(mayDecide ? { '': html`<span class="choices">${wholeRow(path)}</span>` } : {}),
          },
        };
      }),
    ),
  );
}

function wholeRow(path: string): HtmlValue {
  return [
    html`<a class="btn" href="${path}/resolve?decision=redial">Dial again …</a>`,
    ' ',
    html`<a class="btn" href="${path}/resolve?decision=give_up">Leave it …</a>`,
  ];
}

function causeOf(reason: string | null, detail: string | null): string {
  const ofRow = reason === null ? null : causeText(reason);
  // The reason of the row is a name of its own, or says no more than that nobody knows.
  return ofRow !== null && ofRow !== reason ? ofRow : causeText(detail ?? reason ?? 'unknown');
}

function recordTable(
  path: string,
  { attempt, records, several }: { attempt: DoubtfulRow['calls'][number]['attempt']; records: PossibleRecord[]; several: boolean },
): HtmlValue {
  return [
    several ? html`<p class="soft">Call ${attempt.number}, requested ${instant(attempt.posted_at, 'full')}</p>` : null,
    table(
      `Records that may be that of call ${attempt.number}`,
      records.map(({ conversationId, facts: known }) => ({
        key: `record-${attempt.attempt_id}-${conversationId}`,
        cells: {
          Record: id(printable(conversationId)),
          Began: instant(known.startedAt, 'full'),
          Duration: known.durationMs === null ? '–' : figure(duration(known.durationMs)),
          Call: known.callResult === null ? '–' : dispositionText(known.callResult),
          Replies: figure(known.userTurns),
          'First words': known.openingLine === null ? '–' : html`<q>${printable(known.openingLine)}</q>`,
          '': html`<span class="choices">
            ${decide(path, { decision: 'theirs', conversationId, text: 'It is theirs' })}
            ${decide(path, { decision: 'not_theirs', conversationId, text: 'Not theirs' })}
          </span>`,
        },
      })),
    ),
  ];
}

function decide(
  path: string,
  { decision, conversationId, text }: { decision: 'theirs' | 'not_theirs'; conversationId: string; text: string },
): Html {
  return html`<form class="inline" method="post" action="${path}/resolve">
    <input type="hidden" name="key" value="${randomUUID()}" />
    <input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="conversation" value="${conversationId}" />
    <button class="btn sm">${text}</button>
  </form>`;
}

import { randomUUID } from 'node:crypto';
import { duration, facts, figure, id, instant, link, panel, table } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { DoubtfulRow, PossibleRecord } from '../../../ledger/doubt/doubtful-rows.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { causeText } from '../../../presentation/words/doubts.ts';
import { dispositionText } from '../../../presentation/words/history.ts';
import { rowPath } from '../core/links.ts';
import { shownNumber } from '../core/numbers.ts';
import { may, type ViewRequest } from '../core/view.ts';

/** One row in doubt: its calls, and the records among which a person may choose. What they say is for whoever may operate. */
export function doubtfulRow(request: ViewRequest, { campaignId }: Campaign, { recipient, calls }: DoubtfulRow): Html {
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
export function unrecordedRows(request: ViewRequest, { campaignId }: Campaign, rows: readonly DoubtfulRow[]): HtmlValue {
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
    html`<a class="button" href="${path}/resolve?decision=redial">Dial again …</a>`,
    ' ',
    html`<a class="button" href="${path}/resolve?decision=give_up">Leave it …</a>`,
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
    several ? html`<p class="muted">Call ${attempt.number}, requested ${instant(attempt.posted_at, 'full')}</p>` : null,
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
    <button class="small">${text}</button>
  </form>`;
}

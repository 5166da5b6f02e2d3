import { randomUUID } from 'node:crypto';
import { givenUp } from '../../../rules/attempts/retry-schedule.ts';
import { notToldApart } from '../../../rules/disposition.ts';
import { duration, empty, figure, id, instant, link, linkButton, panel, scrolled } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { readDoubtfulPage, type DoubtfulRow, type PossibleRecord } from '../../../ledger/doubt/doubtful-rows.ts';
import { countUndecided, countUnresolved } from '../../../ledger/read/doubt-counts.ts';
import { causeText } from '../../../presentation/words/needs.ts';
import { capital, count, plural } from '../../../shared/input/figures.ts';
import { printable } from '../../../shared/input/printable.ts';
import { campaignPath, rowPath, withQuery } from '../core/links.ts';
import { pager, postButton } from '../core/tools.ts';
import { inCampaign, numbersForm, openCampaign, personName, shownNumber } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const pageSize = 25;

export async function unresolvedView(request: ViewRequest): Promise<View> {
  const { now } = request;
  const { campaign, campaignId, db } = await openCampaign(request);
  const afterParam = Number(request.query('after'));
  const afterRow = Number.isSafeInteger(afterParam) && afterParam > 0 ? afterParam : 0;
  const causes = await countUnresolved(db, campaignId);
  const { rows, next } = await readDoubtfulPage(db, campaign, { afterRow, limit: pageSize, now });
  const path = campaignPath(campaignId, '/unresolved');
  const open = countUndecided(causes);
  return {
    title: decisionsTitle(open),
    follows: campaignId,
    ...inCampaign(campaign),
    ...(open === 0 ? {} : { meta: html`<span>${whyTheyWait}</span>` }),
    actions: [
      numbersForm(request, campaignId, { to: afterRow > 0 ? `${path}?after=${afterRow}` : path }),
      togetherButtons(request, { campaignId, open, apart: causes[notToldApart] ?? 0 }),
    ],
    body: [
      rows.length > 0
        ? rows.map((row) => decisionPanel(request, campaignId, row))
        : panel(
            'People',
            noDecisions(open === 0 ? 'What became of each call is known, or is still being looked for.' : link(path, 'First people')),
          ),
      pager((at) => withQuery(path, at), [afterRow > 0 && ['First people', {}], next !== null && ['Next people', { after: next }]]),
      causesPanel(causes),
    ],
  };
}

export function decisionsTitle(open: number): string {
  return open === 0 ? 'Nobody needs a decision' : `${plural(open, 'person needs', 'people need')} a decision`;
}

export const whyTheyWait = 'Nobody knows whether they were called. Nobody is called twice by accident, so they wait for you.';

export function noDecisions(next: HtmlValue): Html {
  return empty('Nobody needs a decision', next);
}

/** Null for the role read. */
function togetherButtons(
  request: ViewRequest,
  { campaignId, open, apart }: { campaignId: string; open: number; apart: number },
): HtmlValue {
  if (open === 0 || !may(request, 'operate')) return null;
  const path = campaignPath(campaignId, '/resolve');
  const again = open - apart;
  return [
    again > 0 ? linkButton(`${path}?decision=redial`, `Call ${again === 1 ? '1 person' : count(again)} again…`) : null,
    linkButton(`${path}?decision=give_up`, open === 1 ? 'Leave 1 open…' : `Leave all ${count(open)} open…`),
  ];
}

function causesPanel(causes: Readonly<Record<string, number>>): Html | null {
  const counted = Object.entries(causes).toSorted((a, b) => b[1] - a[1]);
  if (counted.length === 0) return null;
  return panel(
    'Why nobody knows',
    html`<ul class="causes pad">
      ${counted.map(([cause, people]) => html`<li id="cause-${cause}"><span>${cause === givenUp ? 'Left open' : capital(causeText(cause))}</span>${figure(people)}</li>`)}
    </ul>`,
  );
}

/** Contents of records take the role operate. `where`: the campaign, on a page with several. */
export function decisionPanel(request: ViewRequest, campaignId: string, { recipient, calls }: DoubtfulRow, where: HtmlValue = null): Html {
  const { row_number: row, e164, external_id: externalId, reason } = recipient;
  const path = rowPath(campaignId, row);
  const key = `${campaignId}-${row}`;
  const name = personName(row, externalId);
  const last = calls.at(-1)?.attempt ?? null;
  const records = calls.reduce((sum, call) => sum + call.records.length, 0);
  const mayDecide = may(request, 'operate');
  const from = where === null ? '' : 'all';
  const sent = last?.posted_at == null ? null : html`Requested ${instant(last.posted_at, 'minute')}: `;
  return html`<section id="doubt-${key}" class="panel" aria-labelledby="doubt-${key}-name">
    <header>
      <h2 id="doubt-${key}-name"><a href="${path}">${name}</a> <span class="soft">${shownNumber(request, campaignId, e164)}</span></h2>
      <p>${where === null ? null : html`${where} · `}${sent}${causeOf(reason, last?.detail ?? null)}</p>
    </header>
    ${
      records === 0
        ? html`<p class="pad soft">No record comes into question. Whoever is called again may be called a second time.</p>`
        : mayDecide
          ? calls.map((call) => recordTable(path, { ...call, name, from, several: calls.length > 1 }))
          : html`<p class="pad soft">${plural(records, 'record')} may be this call.</p>`
    }
    ${
      mayDecide
        ? html`<footer class="actions">
            <span>${records === 0 ? 'You can:' : 'If none fits:'}</span>
            ${linkButton(withQuery(`${path}/resolve`, { decision: 'redial', from }), 'Call again…', 'sm', 'retry')}
            ${linkButton(withQuery(`${path}/resolve`, { decision: 'give_up', from }), 'Leave open…', 'sm')}
          </footer>`
        : null
    }
  </section>`;
}

function causeOf(reason: string | null, detail: string | null): string {
  const ofRow = reason === null ? null : causeText(reason);
  // The row's reason is its own, or says only that the outcome is unknown.
  return ofRow !== null && ofRow !== reason ? ofRow : causeText(detail ?? reason ?? 'unknown');
}

interface CallInDoubt {
  attempt: DoubtfulRow['calls'][number]['attempt'];
  records: PossibleRecord[];
  name: string;
  from: string;
  several: boolean;
}

function recordTable(path: string, { attempt, records, name, from, several }: CallInDoubt): Html {
  const may = `${plural(records.length, 'record')} may be ${several ? `call ${attempt.number}` : 'this call'}`;
  return scrolled(`${may} to ${name}`, {
    heads: [
      html`<th scope="col">${may}${several ? html`, requested ${instant(attempt.posted_at, 'minute')}` : null}</th>`,
      html`<th scope="col"><span class="hidden">Decide</span></th>`,
    ],
    lines: records.map((record) => recordLine(path, { attemptId: attempt.attempt_id, from }, record)),
  });
}

function recordLine(
  path: string,
  { attemptId, from }: { attemptId: string; from: string },
  { conversationId, facts }: PossibleRecord,
): Html {
  const { openingLine, startedAt, durationMs, callResult, userTurns } = facts;
  return html`<tr id="record-${attemptId}-${conversationId}" class="fix">
    <th scope="row" class="wide">
      <span class="two">
        <span>${openingLine === null ? html`<span class="soft">No words in it</span>` : html`<q>${printable(openingLine)}</q>`}</span>
        <small>
          ${instant(startedAt, 'full')}${durationMs === null ? null : html`, ${figure(duration(durationMs))}`}${callResult === null ? null : `, ${printable(callResult)}`},
          ${plural(userTurns, 'reply', 'replies')}, ${id(printable(conversationId))}
        </small>
      </span>
    </th>
    <td class="r wide">
      <span class="actions">
        ${decide(path, { decision: 'theirs', from, conversation: conversationId, text: 'This is the call' })}
        ${decide(path, { decision: 'not_theirs', from, conversation: conversationId, text: 'Not this one' })}
      </span>
    </td>
  </tr>`;
}

function decide(path: string, { text, ...fields }: Record<'decision' | 'from' | 'conversation' | 'text', string>): Html {
  return postButton(`${path}/resolve`, { key: randomUUID(), ...fields }, text, fields.decision === 'theirs' ? 'sm' : 'sm bare');
}

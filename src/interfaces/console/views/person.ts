import { count, plural } from '../../../shared/input/figures.ts';
import { duration, empty, facts, figure, id, instant, panel } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { icon } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { NumberViewCall, NumberViewRow } from '../../../ledger/read/callee.ts';
import { accountScope, type StoredSuppression } from '../../../ledger/rows/suppressions.ts';
import { purposeOf } from '../../../rules/consent.ts';
import { ownFields } from '../../../list/row-fields.ts';
import { eventText } from '../../../presentation/words/history.ts';
import { callPath, rowPath, rowsPath } from '../core/links.ts';
import { campaignName, inCampaign, numbersForm, personName, rowBadge, shownNumber } from '../core/rows.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';
import { listCells, nameColumn } from '../core/cells.ts';
import { callsOf, lastCallOf, nextCallOf, nextCallSentence, rowStatusBadge, statusOf } from '../people/standing.ts';
import { actsOf, collectedOf, localTime, readPerson, storyOf, type Person } from '../people/person.ts';
import { callTitle } from '../people/steps.ts';

export async function personView(request: ViewRequest): Promise<View> {
  const seen = await readPerson(request);
  const { campaign, row, own, others } = seen;
  const { campaignId } = campaign;
  return {
    title: personName(row.row, row.externalId),
    // Another campaign may call the number too.
    follows: others.length > 0 ? 'all' : campaignId,
    ...inCampaign(campaign, [rowsPath(campaignId), 'People']),
    badge: rowStatusBadge(row),
    actions: row.e164 === null ? null : numbersForm(request, campaignId, { to: rowPath(campaignId, row.row) }),
    meta: headOf(request, seen),
    body: [
      cellsPanel(request, seen),
      html`<div class="cols">
        <div>${callPanels(request, own)} ${logPanel(seen)}</div>
        <div>
          ${factsPanel(request, seen)} ${actsPanel(request, seen)}
          ${panel('What happened', html`<div class="pad">${storyOf(request, seen)}</div>`, html`<p>newest first</p>`)}
          ${elsewherePanel(others)}
        </div>
      </div>`,
    ],
  };
}

/** The name from the list takes the role operate. */
function headOf(request: ViewRequest, { campaign, row, callee }: Person): Html {
  const { campaignId, rules } = campaign;
  const { zones } = row.terms;
  const place = nameColumn(rules.list);
  const name = place === undefined || !may(request, 'operate') ? '' : (listCells(row.cells, rules.list, false)[place]?.value ?? '');
  const holding = (callee?.suppressions ?? []).filter((entry) => holds(entry, request.now));
  return html`${name === '' ? null : html`<b>${name}</b>`}
    <span class="nowrap">${row.e164 === null ? 'No number that can be called' : shownNumber(request, campaignId, row.e164)}</span>
    ${zones.length === 0 ? null : html`<span>${icon('globe')} ${localTime(zones, request.now)}</span>`}
    <span>${icon('phone')} ${count(row.attempts)} of ${plural(rules.retry.maxAttempts, 'call')}</span>
    ${row.e164 === null ? null : html`<span>${holding.length === 0 ? 'Not on the do-not-call list' : `On the do-not-call list ${holding.map(scopeText).join(', ')}`}</span>`}`; // prettier-ignore
}

const mostCells = 12;

/** Null for the role read. */
function cellsPanel(request: ViewRequest, { campaign: { campaignId, rules }, row: { cells } }: Person): Html | null {
  if (!may(request, 'operate')) return null;
  const shown = listCells(cells, rules.list, request.numbersShown(campaignId)).filter(({ value }) => value !== '');
  const list = (some: typeof shown): Html =>
    html`<dl class="list-cells pad">${some.map(({ column, value }) => html`<div><dt>${column}</dt><dd>${value}</dd></div>`)}</dl>`; // prettier-ignore
  const rest = shown.slice(mostCells);
  return panel('In the list', [
    list(shown.slice(0, mostCells)),
    rest.length === 0
      ? null
      : html`<details id="more-cells">
          <summary class="pad">${plural(rest.length, 'more column')}</summary>
          ${list(rest)}
        </details>`,
  ]);
}

function factsPanel(request: ViewRequest, { campaign: { rules }, row, own, callee }: Person): Html {
  const { now } = request;
  return panel(
    'Now',
    html`<div class="pad">
      ${facts([
        ['Status', statusOf(row, now)],
        ['Next call', html`<span id="next-call">${own === undefined ? nextCallOf(row, now) : nextCallSentence(own)}</span>`],
        ['Calls', callsOf(row.attempts, rules.retry.maxAttempts)],
        ['Last call', lastCallOf(row)],
        ...ownFields.map(({ label, term }): [string, HtmlValue] => {
          const termValue = row.terms[term];
          if (term === 'notBefore' || term === 'expiresAt')
            return [label, typeof termValue === 'number' ? instant(termValue, 'minute') : null];
          return [label, termValue === null ? null : String(termValue)];
        }),
        ...(rules.consent === undefined ? [] : [['Agreed', consentOf(row.terms.consentedAt)] as const]),
        ['Changed', instant(row.changedAt, 'minute')],
        ...(callee?.suppressions ?? []).map((entry): [string, HtmlValue] => ['Do not call', suppressionText(entry, now)]),
      ])}
    </div>`,
  );
}

function consentOf(at: number | null): HtmlValue {
  return at === null ? 'Their row tells of no consent' : instant(at, 'minute');
}

function holds({ expiresAt }: StoredSuppression, now: number): boolean {
  return expiresAt === null || expiresAt > now;
}

function scopeText({ scope }: StoredSuppression): string {
  const purpose = purposeOf(scope);
  if (purpose !== null) return `for calls for ${purpose}, by taking back consent`;
  return scope === accountScope ? 'for all campaigns' : `for ${scope}`;
}

function suppressionText(entry: StoredSuppression, now: number): Html {
  const { source, reason, createdAt, expiresAt } = entry;
  const until = expiresAt === null ? '' : html`, ${holds(entry, now) ? 'until' : 'over since'} ${instant(expiresAt, 'minute')}`;
  return html`${scopeText(entry)}, ${printable(source)}, since ${instant(createdAt, 'minute')}${until}
  ${reason === null ? null : html`<br /><span class="soft">${printable(reason)}</span>`}`;
}

function actsPanel(request: ViewRequest, person: Person): Html | null {
  const acts = actsOf(request, person);
  if (acts.length === 0) return null;
  return panel(
    'You can',
    html`<ul class="breakdown flat">
      ${acts.map(
        ([path, drawing, words, small]) =>
          html`<li>
            <a href="${path}">${icon(drawing)}<span>${words}</span>${icon('right')}<small>${small}</small></a>
          </li>`,
      )}
    </ul>`,
  );
}

/** Newest first. Collected values take the role operate. */
function callPanels(request: ViewRequest, own: NumberViewRow | undefined): HtmlValue {
  if (own === undefined || own.calls.length === 0)
    return panel('Calls', empty('No call was planned yet', 'When it is their turn, the call stands here with its result.'));
  return own.calls.toReversed().map((call) => callPanel(request, own, call));
}

function callPanel(request: ViewRequest, { campaign, recipient }: NumberViewRow, { attempt, facts: known }: NumberViewCall): Html {
  const { number, posted_at: postedAt, planned_at: plannedAt, conversation_id: conversation } = attempt;
  const values = collectedOf({ facts: known });
  const mayListen = may(request, 'operate');
  return html`<section class="panel" id="call-${number}" aria-labelledby="call-${number}-title">
    <header>
      <h2 id="call-${number}-title">${callTitle(attempt)}</h2>
      <p>
        ${postedAt === null ? 'planned ' : null}${instant(postedAt ?? plannedAt, 'minute')}${
          attempt.reason === null || attempt.disposition !== null ? null : `, ${printable(attempt.reason).replaceAll('_', ' ')}`
        }${known?.durationMs == null ? null : html`, ${figure(duration(known.durationMs))}`}
      </p>
    </header>
    ${
      values.length === 0
        ? null
        : mayListen
          ? html`<div class="pad">${facts(values)}</div>`
          : html`<p class="pad soft">What people have said takes the role operate.</p>`
    }
    ${
      conversation === null
        ? null
        : html`<footer class="actions">
            ${mayListen ? html`<a class="btn sm" href="${callPath(campaign.campaignId, recipient.row_number, number)}">${icon('play')} Listen and read</a>` : null}
            ${id(printable(conversation))}
          </footer>`
    }
  </section>`; // prettier-ignore
}

function logPanel({ callee, campaign, others }: Person): Html | null {
  if (callee === null || callee.events.length === 0) return null;
  return html`<details class="panel" id="whole-log">
    <summary class="pad-all"><b>The log</b> <span class="soft">${plural(callee.events.length, 'line')}, oldest first</span></summary>
    ${callee.truncated ? html`<p class="soft pad">The log holds older lines: carillon events prints them.</p>` : null}
    <ol class="story pad">
      ${callee.events.map(
        (event) =>
          html`<li id="event-${event.seq}">
            ${instant(event.at, 'full')}
            <span
              >${others.length > 0 && event.campaignId !== campaign.campaignId ? html`<span class="soft">${event.campaignId}: </span>` : null}${eventText(event)}</span
            >
          </li>`,
      )}
    </ol>
  </details>`; // prettier-ignore
}

function elsewherePanel(others: readonly NumberViewRow[]): Html | null {
  if (others.length === 0) return null;
  return panel(
    'Same number elsewhere',
    html`<ul class="breakdown flat">
      ${others.map((each) => {
        const { campaign, recipient, calls } = each;
        return html`<li id="other-${recipient.recipient_id}">
          <a href="${rowPath(campaign.campaignId, recipient.row_number)}">
            ${icon('list')}<span>${campaignName(campaign)}, ${personName(recipient.row_number, recipient.external_id)}</span
            >${rowBadge(recipient)}
            <small>${plural(calls.length, 'call')}. Next: ${nextCallSentence(each)}</small>
          </a>
        </li>`;
      })}
    </ul>`,
  );
}

import type { Service } from '../core/service/service.ts';
import { stateOf, type Call, type CallState } from '../core/state/call.ts';
import { newestCalls, waitingCalls, waitsFrom } from './call-list.ts';
import { agentLink, directionOf, partyOf, resultOf, stateBegan, talkMs } from './call-words.ts';
import {
  badge,
  button,
  count,
  duration,
  empty,
  instant,
  link,
  panel,
  phone,
  since,
  stateBadge,
  stateWord,
  table,
  viewPath,
} from './elements.ts';
import { html, type Html, type HtmlValue } from './html.ts';
import type { View, ViewRequest } from './view.ts';

const mostLive = 60;
const mostWaiting = 20;
const perPage = 50;
const states: readonly CallState[] = ['queued', 'dialing', 'in_progress', 'processing', 'done', 'failed'];

/** Who is on the line, who waits, and what came of the others. */
export function callsView({ service, now, parameter }: ViewRequest): View {
  const state = states.find((known) => known === parameter('state'));
  const batchId = parameter('batch') || undefined;
  const number = parameter('number').replaceAll(/[^\d+]/g, '') || undefined;
  const skip = Math.max(0, Math.floor(Number(parameter('skip')) || 0));
  const filtered = state !== undefined || batchId !== undefined || number !== undefined;
  const { calls, more } = newestCalls(service, filtered ? { state, batchId, number } : { state: 'ended' }, {
    limit: perPage,
    skip,
  });
  const kept = { state, batch: batchId, number };
  return {
    title: 'Calls',
    body: html`
      ${livePanel(service, now)}
      ${panel(
        filtered ? 'Matching calls' : 'Ended calls',
        [
          filterForm({ state, batchId, number }),
          calls.length === 0
            ? nothing(filtered)
            : table(
                'Calls, the newest first',
                ['Number', 'State', 'Result', 'Talk time', 'Agent', 'Direction', 'Accepted'],
                calls.map((call) => ({ key: `call-${call.callId}`, cells: callCells(service, call, now) })),
              ),
          html`<p class="pages">
            ${skip > 0 ? link(viewPath('calls', { ...kept, skip: Math.max(0, skip - perPage) || undefined }), 'Newer') : null}
            ${more ? link(viewPath('calls', { ...kept, skip: skip + perPage }), 'Older') : null}
          </p>`,
        ],
        filtered ? link(viewPath('calls'), 'Show all ended') : null,
      )}
    `,
  };
}

function livePanel(service: Service, now: number): Html {
  const live: Call[] = [];
  for (const state of ['in_progress', 'dialing'] as const)
    live.push(...newestCalls(service, { state }, { limit: mostLive - live.length, skip: 0 }).calls);
  const waiting = waitingCalls(service);
  const aside = html`<p class="aside">
    ${count(service.network.linesInUse, 'line')} of ${service.settings.concurrency} in use,
    ${waiting.length.toLocaleString('en')} waiting
  </p>`;
  if (live.length + waiting.length === 0)
    return panel(
      'Live calls',
      empty(
        'No one is on the line',
        html`Post a batch (operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>) with the address and
          key that the sandbox printed at its start, or let somebody call in from
          ${link(viewPath('numbers'), 'Numbers')}.`,
      ),
      aside,
    );
  return panel(
    'Live calls',
    [
      live.length === 0
        ? empty('No one is on the line', 'Calls wait for a line, or for the time that was set for them.')
        : table(
            'Live calls',
            ['Number', 'State', 'Duration', 'Since', 'Agent', 'Direction', ''],
            live.map((call) => ({ key: `live-${call.callId}`, cells: liveCells(service, call, now) })),
          ),
      waitingFold(service, waiting, now),
    ],
    aside,
  );
}

/** Calls that wait, folded into their number and who is next. */
function waitingFold(service: Service, waiting: readonly Call[], now: number): Html | null {
  const [next] = waiting;
  if (next === undefined) return null;
  const rest = waiting.length - mostWaiting;
  return html`<details id="waiting">
    <summary>${count(waiting.length, 'call')} waiting, next ${phone(next.to)}</summary>
    ${table(
      'Waiting calls, the next first',
      ['Number', 'Waiting', 'From', 'Accepted', 'Agent'],
      waiting.slice(0, mostWaiting).map((call) => ({
        key: `waiting-${call.callId}`,
        cells: [
          partyOf(call),
          waitsFrom(call) > now ? html`<span class="muted">Not yet</span>` : since(waitsFrom(call), now),
          instant(waitsFrom(call)),
          instant(call.acceptedAt),
          agentLink(service, call.agentId),
        ],
      })),
    )}
    ${rest > 0 ? html`<p class="more">and ${count(rest, 'more call')} after these</p>` : null}
  </details>`;
}

function liveCells(service: Service, call: Call, now: number): HtmlValue[] {
  const state = stateOf(call, now);
  const began = stateBegan(call, state);
  return [
    partyOf(call),
    stateBadge(state),
    since(began, now),
    instant(began),
    agentLink(service, call.agentId),
    directionOf(call),
    state === 'in_progress' && (call.channel ?? 'phone') === 'phone'
      ? button(
          'Hang up',
          {
            request: `POST /_sandbox/calls/${call.callId}/course`,
            body: { hang_up: 'now' },
            said: `The call with ${call.to} was hung up.`,
          },
          html`class="small" aria-label="Hang up ${call.to}"`,
        )
      : null,
  ];
}

function callCells(service: Service, call: Call, now: number): HtmlValue[] {
  const talk = talkMs(call, now);
  return [
    partyOf(call),
    stateBadge(stateOf(call, now)),
    [
      resultOf(call, now) ?? html`<span class="muted">Open</span>`,
      call.recordDeleted ? [' ', badge('quiet', 'Record deleted')] : null,
    ],
    html`<span class="num">${talk === null ? '–' : duration(talk)}</span>`,
    agentLink(service, call.agentId),
    directionOf(call),
    instant(call.acceptedAt),
  ];
}

function filterForm({
  state,
  batchId,
  number,
}: {
  state: CallState | undefined;
  batchId: string | undefined;
  number: string | undefined;
}): Html {
  return html`<form class="filter" method="get" action="/">
    <input type="hidden" name="view" value="calls" />
    <label
      >State
      <select name="state">
        <option value="">Any</option>
        ${states.map(
          (each) => html`<option value="${each}" ${each === state ? html`selected` : null}>${stateWord(each)}</option>`,
        )}
      </select>
    </label>
    <label>Number ends with <input name="number" inputmode="tel" value="${number ?? ''}" autocomplete="off" /></label>
    ${
      batchId === undefined
        ? null
        : html`<label>Batch <input name="batch" value="${batchId}" autocomplete="off" /></label>`
    }
    <button>Filter</button>
  </form>`;
}

function nothing(filtered: boolean): Html {
  return filtered
    ? empty('No call matches', link(viewPath('calls'), 'Show all ended calls'))
    : empty('No call has ended yet', 'Every call is listed here when it is over, with what came of it.');
}

import * as ui from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import { callStates, stateOf, waitsFrom, type Call } from '../core/state/call.ts';
import { newestCalls, waitingCalls, type CallFilter, agentLink, directionOf, partyOf, resultOf, talkMs } from './call-words.ts';
import { button, stateBadge, stateWord, viewPath, type View, type ViewRequest } from './elements.ts';

const mostLive = 60;
const mostWaiting = 20;
const perPage = 50;

export function callsView({ service, now, parameter }: ViewRequest): View {
  const state = callStates.find((known) => known === parameter('state'));
  const batchId = parameter('batch') || undefined;
  const number = parameter('number').replaceAll(/[^\d+]/g, '') || undefined;
  const skip = Math.max(0, Math.floor(Number(parameter('skip')) || 0));
  const filtered = state !== undefined || batchId !== undefined || number !== undefined;
  const { calls, more } = newestCalls(service, filtered ? { state, batchId, number } : { state: 'ended' }, { limit: perPage, skip });
  const kept = { state, batch: batchId, number };
  return {
    title: 'Calls',
    body: html`
      ${livePanel(service, now)}
      ${ui.panel(
        filtered ? 'Matching calls' : 'Ended calls',
        [
          filterForm({ state, batchId, number }),
          ui.table(
            'Calls, the newest first',
            calls.map((call) => ({ key: `call-${call.callId}`, cells: callCells(service, call, now) })),
            filtered
              ? ui.empty('No call matches', ui.link(viewPath('calls'), 'Show all ended calls'))
              : ui.empty('No call has ended yet', 'Every call is listed here when it is over, with what came of it.'),
          ),
          html`<p class="pages">
            ${skip > 0 ? ui.link(viewPath('calls', { ...kept, skip: Math.max(0, skip - perPage) || undefined }), 'Newer') : null}
            ${more ? ui.link(viewPath('calls', { ...kept, skip: skip + perPage }), 'Older') : null}
          </p>`,
        ],
        filtered ? ui.link(viewPath('calls'), 'Show all ended') : null,
      )}
    `,
  };
}

function livePanel(service: Service, now: number): Html {
  const live: Call[] = [];
  for (const state of ['in_progress', 'dialing'] as const)
    live.push(...newestCalls(service, { state }, { limit: mostLive - live.length, skip: 0 }).calls);
  const waiting = waitingCalls(service);
  const linesInUse = ui.aside(html`
    ${ui.count(service.network.linesInUse, 'line')} of ${service.settings.concurrency} in use, ${waiting.length.toLocaleString('en')}
    waiting
  `);
  if (live.length + waiting.length === 0)
    return ui.panel(
      'Live calls',
      ui.empty(
        'No one is on the line',
        html`Post a batch (operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>) with the address and key that the sandbox
          printed at its start, or let somebody call in from ${ui.link(viewPath('numbers'), 'Numbers')}.`,
      ),
      linesInUse,
    );
  return ui.panel(
    'Live calls',
    [
      ui.table(
        'Live calls',
        live.map((call) => ({ key: `live-${call.callId}`, cells: liveCells(service, call, now) })),
        ui.empty('No one is on the line', 'Calls wait for a line, or for the time that was set for them.'),
      ),
      waitingFold(service, waiting, now),
    ],
    linesInUse,
  );
}

function waitingFold(service: Service, waiting: readonly Call[], now: number): Html | null {
  const [next] = waiting;
  if (next === undefined) return null;
  const rest = waiting.length - mostWaiting;
  return html`<details id="waiting">
    <summary>${ui.count(waiting.length, 'call')} waiting, next ${ui.phone(next.to)}</summary>
    ${ui.table(
      'Waiting calls, the next first',
      waiting.slice(0, mostWaiting).map((call) => ({
        key: `waiting-${call.callId}`,
        cells: {
          Number: partyOf(call),
          Waiting: waitsFrom(call) > now ? ui.muted('Not yet') : ui.since(waitsFrom(call), now),
          From: ui.instant(waitsFrom(call)),
          Accepted: ui.instant(call.acceptedAt),
          Agent: agentLink(service, call.agentId),
        },
      })),
    )}
    ${rest > 0 ? html`<p class="more">and ${ui.count(rest, 'more call')} after these</p>` : null}
  </details>`;
}

function liveCells(service: Service, call: Call, now: number): ui.Row['cells'] {
  const state = stateOf(call, now);
  const began = (state === 'in_progress' ? call.course?.answeredAt : call.dialedAt) ?? call.acceptedAt;
  return {
    Number: partyOf(call),
    State: stateBadge(state),
    Duration: ui.since(began, now),
    Since: ui.instant(began),
    Agent: agentLink(service, call.agentId),
    Direction: directionOf(call),
    '':
      state === 'in_progress' && (call.channel ?? 'phone') === 'phone'
        ? button(
            'Hang up',
            {
              request: `POST /_sandbox/calls/${call.callId}/course`,
              body: { hang_up: 'now' },
              said: `The call with ${call.to} was hung up.`,
            },
            html`aria-label="Hang up ${call.to}"`,
          )
        : null,
  };
}

function callCells(service: Service, call: Call, now: number): ui.Row['cells'] {
  const talk = talkMs(call, now);
  return {
    Number: partyOf(call),
    State: stateBadge(stateOf(call, now)),
    Result: [resultOf(call, now) ?? ui.muted('Open'), call.recordDeleted ? [' ', ui.badge('quiet', 'Record deleted')] : null],
    'Talk time': ui.figure(talk === null ? '–' : ui.duration(talk)),
    Agent: agentLink(service, call.agentId),
    Direction: directionOf(call),
    Accepted: ui.instant(call.acceptedAt),
  };
}

function filterForm({ state, batchId, number }: CallFilter): Html {
  return html`<form class="filter" method="get" action="/">
    <input type="hidden" name="view" value="calls" />
    <label
      >State
      <select name="state">
        <option value="">Any</option>
        ${callStates.map((each) => html`<option value="${each}" ${each === state ? html`selected` : null}>${stateWord(each)}</option>`)}
      </select>
    </label>
    <label>Number ends with <input name="number" inputmode="tel" value="${number ?? ''}" autocomplete="off" /></label>
    ${batchId === undefined ? null : html`<label>Batch <input name="batch" value="${batchId}" autocomplete="off" /></label>`}
    <button class="btn">Filter</button>
  </form>`;
}

import * as ui from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import { callStates, stateOf, waitsFrom, type Call } from '../core/state/call.ts';
import { newestCalls, waitingCalls, type CallFilter, agentLink, directionOf, partyOf, resultOf, talkMs } from './call-words.ts';
import { button, stateBadge, stateWord, table, viewPath, type View, type ViewRequest } from './elements.ts';

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
          table('Calls, the newest first', calls, {
            key: ({ callId }) => `call-${callId}`,
            columns: callColumns(service, now),
            none: filtered
              ? ui.empty('No call matches', ui.link(viewPath('calls'), 'Show all ended calls'))
              : ui.empty('No call has ended yet', 'Every call is listed here when it is over, with what came of it.'),
          }),
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
      table('Live calls', live, {
        key: ({ callId }) => `live-${callId}`,
        columns: liveColumns(service, now),
        none: ui.empty('No one is on the line', 'Calls wait for a line, or for the time that was set for them.'),
      }),
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
    ${table('Waiting calls, the next first', waiting.slice(0, mostWaiting), {
      key: ({ callId }) => `waiting-${callId}`,
      columns: {
        Number: partyOf,
        Waiting: (call) => (waitsFrom(call) > now ? ui.muted('Not yet') : ui.since(waitsFrom(call), now)),
        From: (call) => ui.instant(waitsFrom(call)),
        Accepted: ({ acceptedAt }) => ui.instant(acceptedAt),
        Agent: ({ agentId }) => agentLink(service, agentId),
      },
    })}
    ${rest > 0 ? html`<p class="more">and ${ui.count(rest, 'more call')} after these</p>` : null}
  </details>`;
}

function liveColumns(service: Service, now: number) {
  const isTalking = (call: Call): boolean => stateOf(call, now) === 'in_progress';
  const began = (call: Call): number => (isTalking(call) ? call.course?.answeredAt : call.dialedAt) ?? call.acceptedAt;
  return {
    Number: partyOf,
    State: (call: Call) => stateBadge(stateOf(call, now)),
    Duration: (call: Call) => ui.since(began(call), now),
    Since: (call: Call) => ui.instant(began(call)),
    Agent: ({ agentId }: Call) => agentLink(service, agentId),
    Direction: directionOf,
    '': (call: Call) => (isTalking(call) && (call.channel ?? 'phone') === 'phone' ? hangUpButton(call) : null),
  };
}

function hangUpButton({ callId, to }: Call): Html {
  const request = `POST /_sandbox/calls/${callId}/course`;
  const said = `The call with ${to} was hung up.`;
  return button('Hang up', { request, body: { hang_up: 'now' }, said }, html`aria-label="Hang up ${to}"`);
}

function callColumns(service: Service, now: number) {
  return {
    Number: partyOf,
    State: (call: Call) => stateBadge(stateOf(call, now)),
    Result: (call: Call) => [
      resultOf(call, now) ?? ui.muted('Open'),
      call.recordDeleted ? [' ', ui.badge('quiet', 'Record deleted')] : null,
    ],
    'Talk time': (call: Call) => {
      const ms = talkMs(call, now);
      return ui.figure(ms === null ? '–' : ui.duration(ms));
    },
    Agent: ({ agentId }: Call) => agentLink(service, agentId),
    Direction: directionOf,
    Accepted: ({ acceptedAt }: Call) => ui.instant(acceptedAt),
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

import { aside, facts, instant, panel } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import { describeClock } from '../control/clock.ts';
import type { Service } from '../core/service/service.ts';
import { sandboxVersion } from '../core/version.ts';
import { button, type View, type ViewRequest } from './elements.ts';

export function controlView({ service, now }: ViewRequest): View {
  return {
    title: 'Control',
    body: [
      panel('Clock', clockControls(service, now), aside(clockWords(service))),
      panel('This sandbox', sandboxFacts(service)),
      panel('Start over', [
        html`<p>Agents, numbers, calls, journal and fault rules go back to how they were at the start. The clock goes on.</p>`,
        html`<div class="actions">
          ${button(
            'Reset',
            {
              request: 'POST /_sandbox/reset',
              said: 'The sandbox is as it was at its start.',
              confirm: 'Throw everything away and start over?',
            },
            null,
            'btn danger',
          )}
          <button class="btn token-only" type="button" id="forget-token">Forget the control token</button>
        </div>`,
      ]),
    ],
  };
}

export function clockWords({ clock }: Service): string {
  if (clock.speed === 0) return 'stands, moved by hand';
  return clock.speed === 1 ? 'real time' : `${clock.speed.toLocaleString('en')} × real time`;
}

export function advanceButtons(): Html[] {
  const steps = [
    ['+1 s', 1],
    ['+10 s', 10],
    ['+1 min', 60],
    ['+10 min', 600],
    ['+1 h', 3600],
  ] as const;
  return steps.map(([text, seconds]) =>
    button(text, { request: 'POST /_sandbox/clock/advance', body: { seconds }, said: `The clock was moved on: ${text}.` }),
  );
}

function clockControls(service: Service, now: number): Html {
  const { movable } = describeClock(service);
  if (movable !== true)
    return html`<p>${instant(now, 'full')}</p>
      <p class="soft">The clock was handed in by the program that started this sandbox; only that program moves it.</p>`;
  // While the clock stands, these buttons are already at the top of every view.
  return html`${service.clock.speed === 0 ? null : html`<div class="actions">${advanceButtons()}</div>`}
    <form class="actions" data-request="POST /_sandbox/clock/advance" data-said="The clock was moved on.">
      <label>Move on to <input type="datetime-local" step="1" name="until" required data-kind="instant" /></label>
      <button class="btn">Move on</button>
    </form>
    <div class="actions">
      ${button('Real time', { request: 'PUT /_sandbox/clock', body: { mode: 'realtime' }, said: 'The clock runs in real time.' })}
      ${button('Stop the clock', { request: 'PUT /_sandbox/clock', body: { mode: 'manual' }, said: 'The clock stands until it is moved.' })}
      <form class="inline" data-request="PUT /_sandbox/clock" data-body='{"mode":"scaled"}' data-said="The clock has another speed.">
        <label
          >Service seconds per second
          <input type="number" name="speed" min="0.01" max="100000" step="any" required value="60" data-kind="number"
        /></label>
        <button class="btn">Set speed</button>
      </form>
    </div>`;
}

function sandboxFacts(service: Service): Html {
  const { settings, storage, state } = service;
  return facts([
    ['Version', sandboxVersion],
    ['Address', service.baseUrl],
    ['Dialect', settings.dialect],
    ['Seed', settings.seed],
    ['State', storage === null ? 'in memory only' : `in the file ${storage.path}`],
    ['Lines', settings.concurrency],
    ['Requests per second', settings.requestsPerSecond ?? 'no limit'],
    ['Calls per batch', settings.maxCallsPerBatch.toLocaleString('en')],
    ['Unknown fields', settings.loose ? 'accepted' : 'refused'],
    ['Conversations', state.conversations.size.toLocaleString('en')],
    ['Accepted calls', state.calls.length.toLocaleString('en')],
  ]);
}

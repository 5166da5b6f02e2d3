import { instant } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import { agentsView, agentView } from './agents-view.ts';
import { batchesView } from './batches-view.ts';
import { callView } from './call-view.ts';
import { callsView } from './calls-view.ts';
import { conductView } from './conduct-view.ts';
import { advanceButtons, clockWords, controlView } from './control-view.ts';
import { viewPath, missingView, type View, type ViewRequest } from './elements.ts';
import { faultsView } from './faults-view.ts';
import { journalView, requestView } from './journal-view.ts';
import { numbersView } from './numbers-view.ts';
import { webhooksView } from './webhooks-view.ts';

const views: Record<string, (request: ViewRequest) => View> = {
  calls: callsView,
  call: callView,
  batches: batchesView,
  agents: agentsView,
  agent: agentView,
  numbers: numbersView,
  journal: journalView,
  request: requestView,
  webhooks: webhooksView,
  faults: faultsView,
  conduct: conductView,
  control: controlView,
};

/** Views of one thing belong to the entry of the navigation that lists such things. */
const listOf: Record<string, string> = { call: 'calls', agent: 'agents', request: 'journal' };

const followedByAll = ['call', 'clock', 'fault', 'state'];

/** Everything on the page that is data: head line, clock, navigation and the view that the address asks for. */
export function renderApp(
  { service, webhooks }: Pick<ViewRequest, 'service' | 'webhooks'>,
  query: Readonly<Record<string, string>>,
): { view: View; markup: Html } {
  const now = service.clock.now();
  const request: ViewRequest = { service, webhooks, now, parameter: (name) => query[name] ?? '' };
  const name = query['view'] ?? 'calls';
  const render = Object.hasOwn(views, name) ? views[name] : undefined;
  const view = render?.(request) ?? missingView('view', 'calls', 'Calls');
  const follows = [...followedByAll, ...(view.follows ?? [])].join(' ');
  return {
    view,
    markup: html`
      ${clockBar(service, now)} ${navigation(request, listOf[name] ?? name)}
      <main id="main" tabindex="-1" data-title="${view.title}" data-follows="${follows}" data-again="${view.againMs}">
        <h1>${view.title}</h1>
        ${view.body}
      </main>
    `,
  };
}

function clockBar(service: Service, now: number): Html {
  const { clock, clockMover } = service;
  const stands = clock.speed === 0 && clockMover.clock !== null;
  return html`<section id="clock" aria-label="Service clock" data-now="${now}" data-speed="${clock.speed}">
    <p>
      <span class="muted">Service time</span> <span id="clock-now">${instant(now, 'full')}</span>
      <span id="clock-zone" class="muted"></span>
      <span class="muted">${clockWords(service)}</span>
    </p>
    ${stands ? html`<div class="actions" id="clock-steps">${advanceButtons()}</div>` : null}
  </section>`;
}

function navigation({ service, webhooks }: ViewRequest, current: string): Html {
  const { state, network, journal } = service;
  const faults = service.faults.list().filter(({ enabled }) => enabled).length;
  const violated = service.conduct.report().checks.filter(({ ok }) => !ok).length;
  const entries = [
    ['calls', 'Calls', network.linesInUse, 'live'],
    ['batches', 'Batches', 0, ''],
    ['agents', 'Agents', state.agents.size, ''],
    ['numbers', 'Numbers', state.numbers.size, ''],
    ['journal', 'Journal', journal.inProgress, 'live'],
    ['webhooks', 'Webhooks', webhooks.list().length, ''],
    ['faults', 'Faults', faults, 'bad'],
    ['conduct', 'Conduct', violated, 'bad'],
    ['control', 'Control', 0, ''],
  ] as const;
  return html`<nav id="views" aria-label="Views">
    <ul>
      ${entries.map(
        ([name, words, number, tone]) =>
          html`<li>
            <a href="${viewPath(name)}" ${name === current ? html`aria-current="page"` : null}
              >${words}${number > 0 ? html` <span class="count ${tone}">${number.toLocaleString('en')}</span>` : null}</a
            >
          </li>`,
      )}
    </ul>
  </nav>`;
}

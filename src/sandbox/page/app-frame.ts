import { instant } from '../../presentation/html/elements.ts';
import { renderFrame, type FrameEntry } from '../../presentation/html/frame.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import { callView } from './call-view.ts';
import { callsView } from './calls-view.ts';
import { advanceButtons, clockWords, controlView } from './control-view.ts';
import { viewPath, missingView, type View, type ViewRequest } from './elements.ts';
import { faultsView } from './faults-view.ts';
import { journalView, requestView } from './journal-view.ts';
import { agentsView, agentView, batchesView, conductView, numbersView } from './lists.ts';
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

/** Detail views belong to the navigation entry of their list. */
const listOf: Record<string, string> = { call: 'calls', agent: 'agents', request: 'journal' };

const followedByAll = ['call', 'clock', 'fault', 'state'];

/** Header, clock, navigation and the requested view. */
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
    markup: renderFrame({
      brand: html`Carillon <span class="soft">sandbox</span>`,
      entries: navigation(request, listOf[name] ?? name),
      clock: clockBar(service, now),
      isLive: true,
      main: html`<main id="main" tabindex="-1" data-title="${view.title}" data-follows="${follows}" data-again="${view.againMs}">
        <div class="wrap">
          <h1>${view.title}</h1>
          ${view.body}
        </div>
      </main>`,
    }),
  };
}

function clockBar(service: Service, now: number): Html {
  const { clock, clockMover } = service;
  const stands = clock.speed === 0 && clockMover.clock !== null;
  return html`<div class="clock" id="clock" data-now="${now}" data-speed="${clock.speed}">
    <b id="clock-now">${instant(now, 'full')}</b>
    <span>Service time, <span id="clock-zone">UTC</span></span>
    <span>${clockWords(service)}</span>
    ${stands ? html`<div class="actions" id="clock-steps">${advanceButtons()}</div>` : null}
  </div>`;
}

function navigation({ service, webhooks }: ViewRequest, current: string): FrameEntry[] {
  const { state, network, journal } = service;
  const faults = service.faults.list().filter(({ enabled }) => enabled).length;
  const violated = service.conduct.report().checks.filter(({ ok }) => !ok).length;
  const entries = [
    ['calls', 'Calls', 'phone', network.linesInUse, 'live', 'is-live'],
    ['batches', 'Batches', 'list', 0, ''],
    ['agents', 'Agents', 'person', state.agents.size, 'agents'],
    ['numbers', 'Numbers', 'globe', state.numbers.size, 'numbers'],
    ['journal', 'Journal', 'file', journal.inProgress, 'in progress', 'is-live'],
    ['webhooks', 'Webhooks', 'hook', webhooks.list().length, 'webhooks'],
    ['faults', 'Faults', 'alert', faults, 'enabled', 'alert'],
    ['conduct', 'Conduct', 'shield', violated, 'violated', 'alert'],
    ['control', 'Control', 'gauge', 0, ''],
  ] as const;
  return entries.map(([name, words, drawing, number, unit, tone]) => ({
    path: viewPath(name),
    words,
    drawing,
    isHere: name === current,
    count: { number, unit, ...(tone === undefined ? {} : { tone }) },
  }));
}

import * as ui from '../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../presentation/html/html.ts';
import { callsByBatch } from '../core/state/batch.ts';
import { countStates, type CallState } from '../core/state/call.ts';
import type { Service } from '../core/service/service.ts';
import type { Agent, PhoneNumber } from '../core/state/agent.ts';
import { describeViolation } from '../judge/conduct-report.ts';
import { concealHeaders } from '../schemas/request-schemas.ts';
import { agentLink } from './call-words.ts';
import { button, table, viewPath, missingView, type View, type ViewRequest } from './elements.ts';

const mostAgents = 200;
const mostBatches = 100;
const mostViolations = 20;

export function agentsView({ service }: ViewRequest): View {
  const { agents } = service.state;
  return {
    title: 'Agents',
    follows: ['agent', 'number'],
    body: ui.panel(
      'Agents',
      table('Agents', [...agents.values()].toReversed().slice(0, mostAgents), {
        key: ({ agentId }) => `agent-${agentId}`,
        columns: {
          Name: ({ agentId, name }) => ui.link(viewPath('agent', { id: agentId }), name),
          Id: ({ agentId }) => ui.id(agentId),
          Numbers: (agent) => numbersOf(service, agent),
          Voice: ({ config }) => config.tts?.voice_id ?? ui.muted('Default'),
          Model: ({ config }) => config.agent?.llm?.model_id ?? ui.muted('Built in'),
          Tags: ({ tags }) => tags.join(', ') || ui.muted('None'),
          Created: ({ createdAt }) => ui.instant(createdAt, 'full'),
        },
        none: ui.empty('No agent yet', html`Operation 1, <code>POST /v1/convai/agents</code>, creates one.`),
      }),
      ui.aside(ui.count(agents.size, 'agent')),
    ),
  };
}

export function agentView({ service, parameter }: ViewRequest): View {
  const agent = service.state.agents.get(parameter('id'));
  if (agent === undefined) return missingView('agent', 'agents', 'Agents');
  const { agent: behaviour, tts } = agent.config;
  return {
    title: agent.name,
    follows: ['agent', 'number'],
    body: [
      html`<p class="crumb">${ui.link(viewPath('agents'), 'Agents')}</p>`,
      ui.panel(
        'Facts',
        ui.facts([
          ['Id', ui.id(agent.agentId)],
          ['Numbers', numbersOf(service, agent)],
          ['Tags', agent.tags.join(', ')],
          ['Voice', tts?.voice_id],
          ['Speech model', tts?.model_id],
          ['Language model', behaviour?.llm?.model_id ?? 'Built in'],
          ['Temperature', behaviour?.llm?.temperature],
          ['Created', ui.instant(agent.createdAt, 'full')],
          ['Changed', ui.instant(agent.updatedAt, 'full')],
        ]),
      ),
      ui.panel('What it says first', html`<p class="quote">${behaviour?.first_message ?? 'Nothing of its own.'}</p>`),
      ui.panel('Prompt', html`<p class="quote">${behaviour?.prompt?.prompt ?? 'None.'}</p>`),
      ui.panel('Settings', [
        ui.code(JSON.stringify(concealHeaders(agent.config), null, 2), 'Settings of the conversation'),
        Object.keys(agent.platform).length === 0
          ? null
          : ui.code(JSON.stringify(agent.platform, null, 2), 'What it evaluates and collects'),
      ]),
    ],
  };
}

function numbersOf({ state }: Service, { agentId }: Agent): HtmlValue {
  const own = [...state.numbers.values()].filter((number) => number.agentId === agentId);
  if (own.length === 0) return ui.muted('None');
  return own.map(({ phoneNumber }, index) => [index === 0 ? null : ', ', ui.phone(phoneNumber)]);
}

export function batchesView({ service, now }: ViewRequest): View {
  // Batches are derived from their calls.
  const batches = callsByBatch(service.state.calls.toReversed()).slice(0, mostBatches);
  return {
    title: 'Batches',
    follows: ['batch'],
    body: ui.panel(
      'Newest batches',
      table('Newest batches', batches, {
        key: ([batchId]) => `batch-${batchId}`,
        columns: {
          Batch: ([batchId]) => ui.link(viewPath('calls', { batch: batchId }), ui.id(batchId)),
          Progress: ([, calls]) => progress(countStates(calls, now)),
          Calls: ([, calls]) => ui.figure(calls.length),
          Agent: ([, [{ agentId }]]) => agentLink(service, agentId),
          'Caller number': ([, [{ phoneNumberId }]]) => service.state.numbers.get(phoneNumberId)?.label ?? ui.id(phoneNumberId),
          Accepted: ([, [{ acceptedAt }]]) => ui.instant(acceptedAt, 'full'),
        },
        none: ui.empty('No batch yet', html`Operation 14, <code>POST /v1/convai/phone-numbers/batch-calls</code>, makes one.`),
      }),
      ui.aside(ui.count(batches.length, 'batch', 'batches')),
    ),
  };
}

function progress(counts: Record<CallState, number>): Html {
  const parts = [
    ['reached', counts.done, 'done'],
    ['decide', counts.failed, 'failed'],
    ['unreached', counts.processing, 'processing'],
    ['calling', counts.dialing + counts.in_progress, 'live'],
    ['waiting', counts.queued, 'waiting'],
  ] as const;
  const words = parts.filter(([, number]) => number > 0).map(([, number, word]) => `${number.toLocaleString('en')} ${word}`);
  return html`<div class="progress">${ui.bar(parts.map(([tone, number]) => [tone, number]))} <span>${words.join(', ')}</span></div>`;
}

export function numbersView({ service }: ViewRequest): View {
  const numbers = [...service.state.numbers.values()];
  const list = table('Numbers', numbers, {
    key: ({ phoneNumberId }) => `number-${phoneNumberId}`,
    columns: {
      Number: ({ phoneNumber }) => ui.phone(phoneNumber),
      Label: ({ label }) => label,
      Id: ({ phoneNumberId }) => ui.id(phoneNumberId),
      Agent: ({ agentId }) => agentLink(service, agentId),
      State: ({ verified }) => (verified ? ui.badge('good', 'Verified') : ui.badge('wait', 'Not verified')),
      '': verifyButton,
    },
    none: ui.empty('No number yet', html`Operation 12, <code>POST /v1/convai/phone-numbers</code>, imports one.`),
  });
  const title = 'Numbers';
  if (numbers.length === 0) return { title, follows: ['number', 'agent'], body: ui.panel(title, list) };
  const body = [ui.panel(title, list, ui.aside(ui.count(numbers.length, 'number'))), ui.panel('Let somebody call', callInForm(numbers))];
  return { title, follows: ['number', 'agent'], body };
}

function verifyButton({ phoneNumberId, phoneNumber, verified }: PhoneNumber): Html {
  const action = verified ? 'Unverify' : 'Verify';
  const request = `POST /_sandbox/numbers/${encodeURIComponent(phoneNumberId)}/${action.toLowerCase()}`;
  const said = `${phoneNumber} is ${verified ? 'no longer' : 'now'} verified.`;
  return button(action, { request, said }, html`aria-label="${action} ${phoneNumber}"`);
}

function callInForm(numbers: readonly PhoneNumber[]): Html {
  return html`<form class="actions" data-request="POST /_sandbox/inbound" data-said="Somebody calls." data-tells="inbound">
    <label
      >Number
      <select name="phone_number_id">
        ${numbers.map(({ phoneNumberId, phoneNumber, label }) => html`<option value="${phoneNumberId}">${label} (${phoneNumber})</option>`)}
      </select>
    </label>
    <label>Called from <input name="from" inputmode="tel" required value="+12125550123" autocomplete="off" /></label>
    <button class="btn">Call in</button>
  </form>`;
}

export function conductView({ service }: ViewRequest): View {
  const { ok, checks, requests } = service.conduct.report();
  const broken = checks.filter((check) => !check.ok);
  return {
    title: 'Conduct',
    follows: ['request', 'batch'],
    body: [
      ui.panel(
        'What a caller is held to',
        table('What a caller is held to', checks, {
          key: ({ name }) => `check-${name}`,
          columns: {
            Rule: ({ rule }) => sentence(rule),
            Verdict: (check) => verdict(check.ok, requests),
            Observed: ({ observed }) => ui.figure(observed),
            'Not judged': ({ notJudged }) => ui.figure(notJudged),
            Violations: ({ violationCount }) => ui.figure(violationCount),
          },
        }),
        ok ? verdict(true, requests, 'All kept') : ui.badge('bad', `${ui.count(broken.length, 'rule')} violated`),
      ),
      broken.length === 0
        ? ui.empty('No violations', html`A pipeline can ask for the same report: <code>GET /_sandbox/conduct?format=junit</code>.`)
        : broken.map(({ rule, violations, violationCount }) => {
            const lines = violations
              .slice(0, mostViolations)
              .map((violation) => html`<li>${ui.instant(violation.at, 'full')} ${describeViolation(violation)}</li>`);
            const list = html`<ol class="findings">
              ${lines}
            </ol>`;
            return ui.panel(sentence(rule), list, ui.aside(ui.count(violationCount, 'violation')));
          }),
    ],
  };
}

function verdict(ok: boolean, requests: number, kept = 'Kept'): Html {
  if (!ok) return ui.badge('bad', 'Violated');
  return requests === 0 ? ui.badge('quiet', 'Nothing observed') : ui.badge('good', kept);
}

function sentence(rule: string): string {
  return rule.charAt(0).toUpperCase() + rule.slice(1);
}

import { aside, code, count, empty, facts, id, instant, link, muted, panel, phone, table } from '../../presentation/html/elements.ts';
import { html, type HtmlValue } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import type { Agent } from '../core/state/agent.ts';
import { concealHeaders } from '../schemas/request-schemas.ts';
import { viewPath, missingView, type View, type ViewRequest } from './elements.ts';

const mostAgents = 200;

export function agentsView({ service }: ViewRequest): View {
  const { agents } = service.state;
  const newest = [...agents.values()].toReversed().slice(0, mostAgents);
  return {
    title: 'Agents',
    follows: ['agent', 'number'],
    body: panel(
      'Agents',
      table(
        'Agents',
        newest.map((agent) => ({
          key: `agent-${agent.agentId}`,
          cells: {
            Name: link(viewPath('agent', { id: agent.agentId }), agent.name),
            Id: id(agent.agentId),
            Numbers: numbersOf(service, agent),
            Voice: agent.config.tts?.voice_id ?? muted('Default'),
            Model: agent.config.agent?.llm?.model_id ?? muted('Built in'),
            Tags: agent.tags.join(', ') || muted('None'),
            Created: instant(agent.createdAt, 'full'),
          },
        })),
        empty('No agent yet', html`Operation 1, <code>POST /v1/convai/agents</code>, creates one.`),
      ),
      aside(count(agents.size, 'agent')),
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
      html`<p class="crumb">${link(viewPath('agents'), 'Agents')}</p>`,
      panel(
        'Facts',
        facts([
          ['Id', id(agent.agentId)],
          ['Numbers', numbersOf(service, agent)],
          ['Tags', agent.tags.join(', ')],
          ['Voice', tts?.voice_id],
          ['Speech model', tts?.model_id],
          ['Language model', behaviour?.llm?.model_id ?? 'Built in'],
          ['Temperature', behaviour?.llm?.temperature],
          ['Created', instant(agent.createdAt, 'full')],
          ['Changed', instant(agent.updatedAt, 'full')],
        ]),
      ),
      panel('What it says first', html`<p class="quote">${behaviour?.first_message ?? 'Nothing of its own.'}</p>`),
      panel('Prompt', html`<p class="quote">${behaviour?.prompt?.prompt ?? 'None.'}</p>`),
      panel('Settings', [
        code(JSON.stringify(concealHeaders(agent.config), null, 2), 'Settings of the conversation'),
        Object.keys(agent.platform).length === 0 ? null : code(JSON.stringify(agent.platform, null, 2), 'What it evaluates and collects'),
      ]),
    ],
  };
}

function numbersOf({ state }: Service, { agentId }: Agent): HtmlValue {
  const own = [...state.numbers.values()].filter((number) => number.agentId === agentId);
  if (own.length === 0) return muted('None');
  return own.map(({ phoneNumber }, index) => [index === 0 ? null : ', ', phone(phoneNumber)]);
}

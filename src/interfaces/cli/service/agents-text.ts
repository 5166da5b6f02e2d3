import type { Agent, AgentSummary } from './operation.ts';
import { parseServiceTime } from '../../../service/port/service-time.ts';
import { fieldAt, type Body } from '../terminal/body-file.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Column } from '../terminal/table.ts';

export const agentColumns: readonly Column<AgentSummary>[] = [
  { title: 'AGENT', value: ({ agent_id }) => agent_id },
  { title: 'NAME', value: ({ name }) => name ?? '', flexible: true },
  { title: 'TAGS', value: ({ tags }) => (tags ?? []).join(', '), flexible: true },
  { title: 'CREATED', value: (agent) => instant(agent['created_at_unix_secs'] ?? agent['created_at']) },
];

const settings: readonly (readonly [string, readonly string[]])[] = [
  ['Voice', ['tts', 'voice_id']],
  ['Voice model', ['tts', 'model_id']],
  ['Model', ['agent', 'llm', 'model_id']],
  ['Temperature', ['agent', 'llm', 'temperature']],
  ['Own model at', ['agent', 'llm', 'custom_llm', 'url']],
  ['First message', ['agent', 'first_message']],
];

/** An agent for reading: what most people look for, line by line, and its prompt. Values of headers are not shown. */
export function renderAgent(agentId: string, agent: Agent): string {
  const config: Body = agent.conversation_config ?? {};
  const headers = fieldAt(config, ['agent', 'llm', 'custom_llm', 'extra_headers']);
  const prompt = fieldAt(config, ['agent', 'prompt', 'prompt']);
  const lines = [
    line('Agent', agent.agent_id ?? agentId),
    line('Name', agent.name),
    line('Tags', agent.tags?.join(', ')),
    ...settings.map(([label, path]) => line(label, fieldAt(config, path))),
    line('With headers', typeof headers === 'object' && headers !== null ? Object.keys(headers).join(', ') : null),
    ...(typeof prompt === 'string' && prompt !== '' ? ['', ...prompt.split('\n').map((each) => printable(each))] : [null]),
  ];
  return `${lines.filter((each) => each !== null).join('\n')}\n`;
}

/** Date and time to the second, UTC; empty when it cannot be read. */
export function instant(value: unknown): string {
  const ms = parseServiceTime(value);
  return ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function line(label: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  return `${label.padEnd(15)}${printable(typeof value === 'string' ? value : JSON.stringify(value))}`;
}

import { InvalidArgumentError, Option } from 'commander';
import {
  type CreateAgentRequest,
  type UpdateAgentRequest,
  askService,
  listOf,
  operationOf,
  type Agent,
  type AgentSummary,
  fieldAt,
  type Body,
  readBodyFile,
  withField,
} from './operation.ts';
import { commandOf, groupOf } from '../terminal/command.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { parseServiceTime } from '../../../service/port/record-values.ts';
import type { Column } from '../terminal/table.ts';
import { type UserInput, readSecret } from '../terminal/person-input.ts';

const help = `
Examples:
  carillon agents list
  carillon agents get agent_reminders --json
  carillon agents create --name Reminders --voice voice_calm --first-message "Hello!"
  carillon agents create --file agent.yaml --tag autumn
  carillon agents update agent_reminders --temperature 0.3
  carillon agents delete agent_reminders

SVC_BASE_URL and SVC_API_KEY select the service.`;

const agentColumns: readonly Column<AgentSummary>[] = [
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

/** Common fields line by line, and the prompt. Header values are not shown. */
function renderAgent(agentId: string, agent: Agent): string {
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

/** UTC to the second; empty if unreadable. */
export function instant(value: unknown): string {
  const ms = parseServiceTime(value);
  return ms === null ? '' : `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function line(label: string, value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  return `${label.padEnd(15)}${printable(typeof value === 'string' ? value : JSON.stringify(value))}`;
}

interface AgentFlags {
  file?: string;
  llmUrl?: string;
  llmHeader?: string[];
  llmHeaderFile?: string[];
  clear?: string[];
}

const llm = ['conversation_config', 'agent', 'llm'];

/** With the body field that each sets. */
const fields: readonly (readonly [Option, readonly string[]])[] = [
  [new Option('--name <text>', 'name shown in lists'), ['name']],
  [new Option('--tag <text>', 'tag; repeat for more').argParser(collect), ['tags']],
  [new Option('--first-message <text>', 'opening line of the agent'), ['conversation_config', 'agent', 'first_message']],
  [new Option('--prompt <text>', 'role, goal and limits of the agent'), ['conversation_config', 'agent', 'prompt', 'prompt']],
  [new Option('--voice <id>', 'voice'), ['conversation_config', 'tts', 'voice_id']],
  [new Option('--voice-model <id>', 'text-to-speech model'), ['conversation_config', 'tts', 'model_id']],
  [new Option('--model <id>', 'language model; custom for your own model, with --llm-url'), [...llm, 'model_id']],
  [new Option('--temperature <number>', 'from 0.0 to 1.0').argParser(readTemperature), [...llm, 'temperature']],
  [new Option('--llm-url <address>', 'address of your own language model'), [...llm, 'custom_llm', 'url']],
];

const agentFlags = [
  ['-f, --file <file>', 'settings as JSON or YAML, - for standard input; flags override them'],
  ...fields.map(([option]) => option),
  ['--llm-header <name>', 'header for it; the command prompts for the value', collect],
  ['--llm-header-file <name=file>', 'header for it, with its value in a file', collect],
] as const;

const argument = ['<agent>', 'id of the agent'] as const;
const lookWith = 'carillon agents list';

/** `carillon agents`: operations 1 to 5. */
export const agentsCommand = groupOf({ name: 'agents', help }, [
  listOf({
    says: 'List agents',
    doing: 'list the agents',
    lookWith,
    list: (client, options) => client.listAgents(options),
    columns: agentColumns,
    field: 'agents',
    example: 'carillon agents list --all --json',
  }),
  operationOf({
    name: 'get',
    says: 'Show one agent',
    argument,
    json: 'print all fields as JSON',
    examples: ['carillon agents get agent_reminders'],
    doing: (id) => `read agent ${id}`,
    lookWith,
    ask: (client, id) => client.getAgent(id),
    words: (agent, id) => renderAgent(id, agent),
  }),
  commandOf<AgentFlags>({
    name: 'create',
    says: 'Create an agent; prints its id',
    flags: agentFlags,
    json: 'print the response as JSON',
    help: `
Header values are secrets: the command prompts for them or reads them from a file, and never takes them on the command line.`,
    examples: [
      'carillon agents create --name Reminders --voice voice_calm --prompt "You remind people of an appointment."',
      'carillon agents create --file agent.yaml',
      'carillon agents create --name Own --llm-url http://127.0.0.1:8080/v1 --llm-header-file authorization=key.txt',
    ],
    run: async (io, flags) => {
      const { body, secrets } = await readAgentBody(io.input, flags);
      if (body['name'] === undefined) throw new UsageError('An agent needs a name: give --name, or "name" in the file. Nothing was sent.');
      // The client validates the body before it sends anything.
      const data = await askService(io, { doing: 'create the agent', lookWith, secrets }, (client) =>
        client.createAgent(body as CreateAgentRequest),
      );
      return { data, words: `${printable(data.agent_id)}\n` };
    },
  }),
  commandOf<AgentFlags>({
    name: 'update',
    says: 'Change some settings of an agent',
    argument,
    flags: [...agentFlags, ['--clear <field>', 'clear a field of conversation_config; repeat for more', collect]],
    json: 'print the changed agent as JSON',
    help: '\nOnly the given settings change. In a file, null clears a field and a list replaces the existing list.',
    examples: [
      'carillon agents update agent_reminders --first-message "Good morning!"',
      'carillon agents update agent_reminders --clear agent.llm.temperature',
      'carillon agents update agent_reminders --file change.json',
    ],
    run: async (io, flags, id) => {
      const { body, secrets } = await readAgentBody(io.input, flags);
      if (Object.keys(body).length === 0)
        throw new UsageError('Nothing to change: give a flag, or --file. carillon agents update --help lists the flags.');
      const operation = { doing: `change agent ${id}`, lookWith: `carillon agents get ${id}`, secrets };
      const agent = await askService(io, operation, (client) => client.updateAgent(id, body as UpdateAgentRequest));
      return { data: agent ?? { agent_id: id }, words: `Agent ${id} was changed.\n` };
    },
  }),
  operationOf({
    name: 'delete',
    says: 'Delete an agent permanently; numbers assigned to it are no longer answered',
    argument,
    json: 'print the result as JSON',
    examples: ['carillon agents delete agent_reminders --yes'],
    doing: (id) => `delete agent ${id}`,
    lookWith,
    question: (id) => `Delete agent ${id} for good? Numbers assigned to it will no longer be answered.`,
    ask: (client, id) => client.deleteAgent(id),
    data: (_, id) => ({ agent_id: id, deleted: true }),
    words: (_, id) => `Agent ${id} was deleted.\n`,
  }),
]);

/** Returns the secrets too. Throws UsageError. */
async function readAgentBody(input: UserInput, flags: AgentFlags): Promise<{ body: Body; secrets: readonly string[] }> {
  let body: Body = flags.file === undefined ? {} : await readBodyFile(input, flags.file);
  for (const [option, path] of fields) {
    const value = (flags as Readonly<Record<string, unknown>>)[option.attributeName()];
    if (value !== undefined) body = withField(body, path, value, option.long ?? '');
  }
  // An own address means that it is used.
  if (flags.llmUrl !== undefined && fieldAt(body, [...llm, 'model_id']) === undefined)
    body = withField(body, [...llm, 'model_id'], 'custom', '--llm-url');
  const headers = await readHeaders(input, flags);
  for (const [name, value] of headers) body = withField(body, [...llm, 'custom_llm', 'extra_headers', name], value, '--llm-header');
  for (const field of flags.clear ?? []) body = withField(body, clearedPath(field), null, '--clear');
  return { body, secrets: headers.map(([, value]) => value) };
}

async function readHeaders(input: UserInput, flags: AgentFlags): Promise<[string, string][]> {
  const headers: [string, string][] = [];
  for (const pair of flags.llmHeaderFile ?? []) {
    const [, name = '', file = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (name === '') throw new UsageError('--llm-header-file takes a name and a file, as in authorization=key.txt.');
    headers.push([checkHeaderName(name), await readHeader(input, name, file)]);
  }
  for (const name of flags.llmHeader ?? []) headers.push([checkHeaderName(name), await readHeader(input, name, undefined)]);
  return headers;
}

function readHeader(input: UserInput, name: string, file: string | undefined): Promise<string> {
  return readSecret(input, { what: `the value of header ${name}`, file, fileFlag: `--llm-header-file ${name}=FILE` });
}

/** A value written behind the name is a secret on a command line: never repeat it. */
function checkHeaderName(name: string): string {
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(name)) return name;
  throw new UsageError(
    "Give the header's name alone, such as --llm-header authorization. Its value is asked for, or read with --llm-header-file <name=file>: what stands on a command line can be read by others, and if it was a secret it should be changed.",
  );
}

function clearedPath(field: string): string[] {
  if (/^[a-z]\w*(\.[a-z]\w*)*$/i.test(field)) return ['conversation_config', ...field.split('.')];
  throw new UsageError(`--clear ${field}: name a field of conversation_config with dots between, such as agent.first_message.`);
}

export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

function readTemperature(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('Write a number from 0.0 to 1.0.');
}

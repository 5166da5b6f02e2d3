import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type CreateAgentRequest,
  type UpdateAgentRequest,
  printOperation,
  type Agent,
  type AgentSummary,
  addLimitFlags,
  printList,
  type ListFlags,
  fieldAt,
  type Body,
  readBodyFile,
  withField,
} from './operation.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/answer.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { parseServiceTime } from '../../../service/port/record-values.ts';
import type { Column } from '../terminal/table.ts';
import { type PersonInput, readSecret } from '../terminal/person-input.ts';

const examples = `
Examples:
  carillon agents list
  carillon agents get agent_reminders --json
  carillon agents create --name Reminders --voice voice_calm --first-message "Hello!"
  carillon agents create --file agent.yaml --tag autumn
  carillon agents update agent_reminders --temperature 0.3
  carillon agents delete agent_reminders

SVC_BASE_URL and SVC_API_KEY select the service.`;

const createExamples = `
Header values are secrets: the command prompts for them or reads them from a file, and never takes them on the command line.

Examples:
  carillon agents create --name Reminders --voice voice_calm --prompt "You remind people of an appointment."
  carillon agents create --file agent.yaml
  carillon agents create --name Own --llm-url http://127.0.0.1:8080/v1 --llm-header-file authorization=key.txt`;

const updateExamples = `
Only the given settings change. In a file, null clears a field and a list replaces the existing list.

Examples:
  carillon agents update agent_reminders --first-message "Good morning!"
  carillon agents update agent_reminders --clear agent.llm.temperature
  carillon agents update agent_reminders --file change.json`;

const lookWith = 'carillon agents list';

type AgentCommandFlags = AgentFlags & { json: boolean };

/** `carillon agents`: operations 1 to 5. */
export function agentsCommand(io: Io): Command {
  const command = new Command('agents').addHelpText('after', examples);
  addLimitFlags(command.command('list').description('List agents'))
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents list --all --json')
    .action((flags: ListFlags) =>
      printList(io, flags, {
        doing: 'list the agents',
        lookWith,
        list: (client, options) => client.listAgents(options),
        columns: agentColumns,
        field: 'agents',
      }),
    );
  command
    .command('get')
    .description('Show one agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print all fields as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents get agent_reminders')
    .action((agentId: string, { json }: { json: boolean }) =>
      printOperation(io, json, {
        doing: `read agent ${agentId}`,
        lookWith,
        ask: (client) => client.getAgent(agentId),
        words: (agent) => renderAgent(agentId, agent),
      }),
    );
  addAgentFlags(command.command('create').description('Create an agent; prints its id'))
    .option('--json', 'print the response as JSON', false)
    .addHelpText('after', createExamples)
    .action((flags: AgentCommandFlags) => createAgent(io, flags));
  addAgentFlags(command.command('update').description('Change some settings of an agent'))
    .argument('<agent>', 'id of the agent')
    .option('--clear <field>', 'clear a field of conversation_config; repeat for more', collect)
    .option('--json', 'print the changed agent as JSON', false)
    .addHelpText('after', updateExamples)
    .action((agentId: string, flags: AgentCommandFlags) => updateAgent(io, agentId, flags));
  command
    .command('delete')
    .description('Delete an agent permanently; numbers assigned to it are no longer answered')
    .argument('<agent>', 'id of the agent')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents delete agent_reminders --yes')
    .action(async (agentId: string, { yes, json }: { yes: boolean; json: boolean }) => {
      const question = `Delete agent ${agentId} for good? Numbers assigned to it will no longer be answered.`;
      if (!(await mayBegin(io, yes, question))) return;
      await printOperation(io, json, {
        doing: `delete agent ${agentId}`,
        lookWith,
        ask: (client) => client.deleteAgent(agentId),
        data: () => ({ agent_id: agentId, deleted: true }),
        words: () => `Agent ${agentId} was deleted.\n`,
      });
    });
  return command;
}

async function createAgent(io: Io, flags: AgentCommandFlags): Promise<void> {
  const { body, secrets } = await readAgentBody(io.input, flags);
  if (body['name'] === undefined) throw new UsageError('An agent needs a name: give --name, or "name" in the file. Nothing was sent.');
  await printOperation(io, flags.json, {
    doing: 'create the agent',
    lookWith,
    secrets,
    // The client checks the body before it sends anything.
    ask: (client) => client.createAgent(body as CreateAgentRequest),
    words: (created) => `${printable(created.agent_id)}\n`,
  });
}

async function updateAgent(io: Io, agentId: string, flags: AgentCommandFlags): Promise<void> {
  const { body, secrets } = await readAgentBody(io.input, flags);
  if (Object.keys(body).length === 0)
    throw new UsageError('Nothing to change: give a flag, or --file. carillon agents update --help lists the flags.');
  await printOperation(io, flags.json, {
    doing: `change agent ${agentId}`,
    lookWith: `carillon agents get ${agentId}`,
    secrets,
    ask: (client) => client.updateAgent(agentId, body as UpdateAgentRequest),
    data: (agent) => agent ?? { agent_id: agentId },
    words: () => `Agent ${agentId} was changed.\n`,
  });
}

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

/** An agent for reading: what most people look for, line by line, and its prompt. Values of headers are not shown. */
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

/** Date and time to the second, UTC; empty when it cannot be read. */
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
  name?: string;
  tag?: string[];
  firstMessage?: string;
  prompt?: string;
  voice?: string;
  voiceModel?: string;
  model?: string;
  temperature?: number;
  llmUrl?: string;
  llmHeader?: string[];
  llmHeaderFile?: string[];
  clear?: string[];
}

type TextFlag = 'name' | 'firstMessage' | 'prompt' | 'voice' | 'voiceModel' | 'model' | 'temperature' | 'llmUrl';

const llm = ['conversation_config', 'agent', 'llm'];

/** Where each flag's value stands in the body. */
const places: readonly (readonly [TextFlag, string, readonly string[]])[] = [
  ['name', '--name', ['name']],
  ['firstMessage', '--first-message', ['conversation_config', 'agent', 'first_message']],
  ['prompt', '--prompt', ['conversation_config', 'agent', 'prompt', 'prompt']],
  ['voice', '--voice', ['conversation_config', 'tts', 'voice_id']],
  ['voiceModel', '--voice-model', ['conversation_config', 'tts', 'model_id']],
  ['model', '--model', [...llm, 'model_id']],
  ['temperature', '--temperature', [...llm, 'temperature']],
  ['llmUrl', '--llm-url', [...llm, 'custom_llm', 'url']],
];

function addAgentFlags(command: Command): Command {
  return command
    .option('-f, --file <file>', 'settings as JSON or YAML, - for standard input; flags override them')
    .option('--name <text>', 'name shown in lists')
    .addOption(new Option('--tag <text>', 'tag; repeat for more').argParser(collect))
    .option('--first-message <text>', 'opening line of the agent')
    .option('--prompt <text>', 'role, goal and limits of the agent')
    .option('--voice <id>', 'voice')
    .option('--voice-model <id>', 'text-to-speech model')
    .option('--model <id>', 'language model; custom for your own model, with --llm-url')
    .addOption(new Option('--temperature <number>', 'from 0.0 to 1.0').argParser(readTemperature))
    .option('--llm-url <address>', 'address of your own language model')
    .addOption(new Option('--llm-header <name>', 'header for it; the command prompts for the value').argParser(collect))
    .addOption(new Option('--llm-header-file <name=file>', 'header for it, with its value in a file').argParser(collect));
}

/** The settings that file and flags describe together, and the secrets among them. Throws UsageError. */
async function readAgentBody(input: PersonInput, flags: AgentFlags): Promise<{ body: Body; secrets: readonly string[] }> {
  let body: Body = flags.file === undefined ? {} : await readBodyFile(input, flags.file);
  for (const [flag, name, path] of places) if (flags[flag] !== undefined) body = withField(body, path, flags[flag], name);
  if (flags.tag !== undefined) body = { ...body, tags: flags.tag };
  // Who names an address of their own wants it to be used.
  if (flags.llmUrl !== undefined && fieldAt(body, [...llm, 'model_id']) === undefined)
    body = withField(body, [...llm, 'model_id'], 'custom', '--llm-url');
  const headers = await readHeaders(input, flags);
  for (const [name, value] of headers) body = withField(body, [...llm, 'custom_llm', 'extra_headers', name], value, '--llm-header');
  for (const field of flags.clear ?? []) body = withField(body, clearedPath(field), null, '--clear');
  return { body, secrets: headers.map(([, value]) => value) };
}

async function readHeaders(input: PersonInput, flags: AgentFlags): Promise<[string, string][]> {
  const headers: [string, string][] = [];
  for (const pair of flags.llmHeaderFile ?? []) {
    const [, name = '', file = ''] = /^([^=]+)=(.+)$/s.exec(pair) ?? [];
    if (name === '') throw new UsageError('--llm-header-file takes a name and a file, as in authorization=key.txt.');
    headers.push([checkHeaderName(name), await readHeader(input, name, file)]);
  }
  for (const name of flags.llmHeader ?? []) headers.push([checkHeaderName(name), await readHeader(input, name, undefined)]);
  return headers;
}

function readHeader(input: PersonInput, name: string, file: string | undefined): Promise<string> {
  return readSecret(input, { what: `the value of header ${name}`, file, fileFlag: `--llm-header-file ${name}=FILE` });
}

/** A value written behind the name is a secret on a command line: it is not repeated. */
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

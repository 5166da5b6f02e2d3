import { Command } from 'commander';
import {
  type CreateAgentRequest,
  type UpdateAgentRequest,
  printOperation,
  type Agent,
  type AgentSummary,
  addLimitFlags,
  printList,
  type ListFlags,
} from './operation.ts';
import { addAgentFlags, collect, readAgentBody, type AgentFlags } from './agent-body.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/answer.ts';
import { printable } from '../../../shared/input/printable.ts';
import { UsageError } from '../../../shared/input/errors.ts';
import { parseServiceTime } from '../../../service/port/record-values.ts';
import { fieldAt, type Body } from '../terminal/body-file.ts';
import type { Column } from '../terminal/table.ts';

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

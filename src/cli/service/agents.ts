import { Command } from 'commander';
import type { CreateAgentRequest, UpdateAgentRequest } from '../../convai/schemas-requests.ts';
import { addAgentFlags, collect, readAgentBody, type AgentFlags } from './agent-body.ts';
import { agentColumns, renderAgent } from '../words/agents.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeJson } from '../terminal/json-output.ts';
import { addLimitFlags, countUnusable, takeItems, tellMore, type LimitFlags } from '../terminal/list-limit.ts';
import { processInput, type PersonInput } from '../terminal/person-input.ts';
import { printable } from '../terminal/printable.ts';
import { askService } from '../access/service-operation.ts';
import { renderTable, terminalWidth } from '../terminal/table.ts';
import { UsageError } from '../terminal/usage-error.ts';

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

/** `carillon agents`: operations 1 to 5. */
export function agentsCommand(io: Io, input: PersonInput = processInput()): Command {
  const command = new Command('agents')
    .description('List, show, create, change and delete agents')
    .addHelpText('after', examples);
  addLimitFlags(command.command('list').description('List agents'))
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents list --all --json')
    .action((flags: LimitFlags & { json: boolean }) => listAgents(io, flags));
  command
    .command('get')
    .description('Show one agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print all fields as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents get agent_reminders')
    .action((agentId: string, flags: { json: boolean }) => getAgent(io, agentId, flags.json));
  addAgentFlags(command.command('create').description('Create an agent; prints its id'))
    .option('--json', 'print the response as JSON', false)
    .addHelpText('after', createExamples)
    .action((flags: AgentFlags & { json: boolean }) => createAgent(io, input, flags));
  addAgentFlags(command.command('update').description('Change some settings of an agent'))
    .argument('<agent>', 'id of the agent')
    .option('--clear <field>', 'clear a field of conversation_config; repeat for more', collect)
    .option('--json', 'print the changed agent as JSON', false)
    .addHelpText('after', updateExamples)
    .action((agentId: string, flags: AgentFlags & { json: boolean }) => updateAgent(io, input, agentId, flags));
  command
    .command('delete')
    .description('Delete an agent permanently; numbers assigned to it are no longer answered')
    .argument('<agent>', 'id of the agent')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon agents delete agent_reminders --yes')
    .action((agentId: string, flags: { yes: boolean; json: boolean }) => deleteAgent(io, input, agentId, flags));
  return command;
}

const lookWith = 'carillon agents list';

async function listAgents(io: Io, flags: LimitFlags & { json: boolean }): Promise<void> {
  const unusable = countUnusable();
  const list = await askService(io, { doing: 'list the agents', lookWith }, (client) =>
    takeItems(client.listAgents(unusable), flags),
  );
  unusable.tell(io);
  if (flags.json) {
    writeJson(io, { agents: list.items, has_more: list.hasMore });
    return;
  }
  io.stdout.write(renderTable(agentColumns, list.items, terminalWidth(io)));
  tellMore(io, list);
}

async function getAgent(io: Io, agentId: string, json: boolean): Promise<void> {
  const agent = await askService(io, { doing: `read agent ${agentId}`, lookWith }, (client) =>
    client.getAgent(agentId),
  );
  if (json) writeJson(io, agent);
  else io.stdout.write(renderAgent(agentId, agent));
}

async function createAgent(io: Io, input: PersonInput, flags: AgentFlags & { json: boolean }): Promise<void> {
  const { body, secrets } = await readAgentBody(input, flags);
  if (body['name'] === undefined)
    throw new UsageError('An agent needs a name: give --name, or "name" in the file. Nothing was sent.');
  const created = await askService(io, { doing: 'create the agent', lookWith, secrets }, (client) =>
    // The client checks the body before it sends anything.
    client.createAgent(body as CreateAgentRequest),
  );
  if (flags.json) writeJson(io, created);
  else io.stdout.write(`${printable(created.agent_id)}\n`);
}

async function updateAgent(
  io: Io,
  input: PersonInput,
  agentId: string,
  flags: AgentFlags & { json: boolean },
): Promise<void> {
  const { body, secrets } = await readAgentBody(input, flags);
  if (Object.keys(body).length === 0)
    throw new UsageError('Nothing to change: give a flag, or --file. carillon agents update --help lists the flags.');
  const operation = { doing: `change agent ${agentId}`, lookWith: `carillon agents get ${agentId}`, secrets };
  const agent = await askService(io, operation, (client) => client.updateAgent(agentId, body as UpdateAgentRequest));
  if (flags.json) writeJson(io, agent ?? { agent_id: agentId });
  else io.stdout.write(`Agent ${agentId} was changed.\n`);
}

async function deleteAgent(
  io: Io,
  input: PersonInput,
  agentId: string,
  { yes, json }: { yes: boolean; json: boolean },
): Promise<void> {
  const question = `Delete agent ${agentId} for good? Numbers assigned to it will no longer be answered.`;
  if (!(await mayBegin(io, input, yes, question))) return;
  await askService(io, { doing: `delete agent ${agentId}`, lookWith }, (client) => client.deleteAgent(agentId));
  if (json) writeJson(io, { agent_id: agentId, deleted: true });
  else io.stdout.write(`Agent ${agentId} was deleted.\n`);
}

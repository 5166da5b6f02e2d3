import { Command } from 'commander';
import { factsFromListEntry } from '../../convai/record-facts.ts';
import type { ConversationEntry } from '../../convai/schemas-responses.ts';
import { instant } from '../words/agents.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';
import { writeJson } from '../terminal/json-output.ts';
import { addLimitFlags, countUnusable, takeItems, tellMore, type LimitFlags } from '../terminal/list-limit.ts';
import { processInput, type PersonInput } from '../terminal/person-input.ts';
import { askService } from '../access/service-operation.ts';
import { printable } from '../terminal/printable.ts';
import { renderTable, terminalWidth, type Column } from '../terminal/table.ts';
import { renderTranscript } from '../words/transcript.ts';

const examples = `
Examples:
  carillon conversations list --agent agent_reminders --limit 20
  carillon conversations get <conversation>
  carillon conversations delete <conversation>
  carillon conversations signed-url agent_reminders
  carillon conversations token agent_reminders

SVC_BASE_URL and SVC_API_KEY select the service.`;

const credentialNote = `
The output is a credential: it works once, for a short time, without an API key. Give it to one browser or device only.

Example:
  carillon conversations`;

interface ListFlags extends LimitFlags {
  agent?: string;
  json: boolean;
}

/** `carillon conversations`: operations 6 to 10. */
export function conversationsCommand(io: Io, input: PersonInput = processInput()): Command {
  const command = new Command('conversations')
    .description('List, read and delete conversations, and open new ones for a browser or device')
    .addHelpText('after', examples);
  addLimitFlags(command.command('list').description("List conversations, in the service's order"))
    .option('--agent <id>', 'only conversations of this agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations list --agent agent_reminders --all --json')
    .action((flags: ListFlags) => listConversations(io, flags));
  command
    .command('get')
    .description('Show transcript, collected values and evaluation of a conversation')
    .argument('<conversation>', 'id of the conversation')
    .option('--json', 'print the whole record as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations get <conversation>')
    .action((id: string, flags: { json: boolean }) => getConversation(io, id, flags.json));
  command
    .command('delete')
    .description('Delete a conversation permanently, with its recording and transcript')
    .argument('<conversation>', 'id of the conversation')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations delete <conversation> --yes')
    .action((id: string, flags: { yes: boolean; json: boolean }) => deleteConversation(io, input, id, flags));
  command
    .command('signed-url')
    .description('Print a WebSocket address that opens one conversation with an agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `${credentialNote} signed-url agent_reminders`)
    .action((agentId: string, flags: { json: boolean }) => printSignedUrl(io, agentId, flags.json));
  command
    .command('token')
    .description('Print a token that opens one WebRTC conversation with an agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `${credentialNote} token agent_reminders`)
    .action((agentId: string, flags: { json: boolean }) => printToken(io, agentId, flags.json));
  return command;
}

const lookWith = 'carillon conversations list';

const columns: readonly Column<ConversationEntry>[] = [
  { title: 'CONVERSATION', value: ({ conversation_id }) => conversation_id },
  { title: 'STARTED', value: (entry) => instant(factsFromListEntry(entry).startedAt) },
  { title: 'SECONDS', value: (entry) => secondsOf(factsFromListEntry(entry).durationMs) },
  { title: 'STATUS', value: (entry) => factsFromListEntry(entry).status ?? '' },
  { title: 'AGENT', value: (entry) => factsFromListEntry(entry).agentId ?? '', flexible: true },
];

async function listConversations(io: Io, { agent, json, ...limit }: ListFlags): Promise<void> {
  const unusable = countUnusable();
  const filter = { ...(agent === undefined ? {} : { agentId: agent }), onUnusable: unusable.onUnusable };
  const list = await askService(io, { doing: 'list the conversations', lookWith }, (client) =>
    takeItems(client.listConversations(filter), limit),
  );
  unusable.tell(io);
  if (json) {
    writeJson(io, { conversations: list.items, has_more: list.hasMore });
    return;
  }
  io.stdout.write(renderTable(columns, list.items, terminalWidth(io)));
  tellMore(io, list);
}

async function getConversation(io: Io, id: string, json: boolean): Promise<void> {
  const record = await askService(io, { doing: `read conversation ${id}`, lookWith }, (client) =>
    client.getConversation(id),
  );
  if (json) writeJson(io, record);
  else io.stdout.write(renderTranscript(null, record));
}

async function deleteConversation(
  io: Io,
  input: PersonInput,
  id: string,
  { yes, json }: { yes: boolean; json: boolean },
): Promise<void> {
  const question = `Delete conversation ${id} for good, with its recording and transcript?`;
  if (!(await mayBegin(io, input, yes, question))) return;
  await askService(io, { doing: `delete conversation ${id}`, lookWith }, (client) => client.deleteConversation(id));
  if (json) writeJson(io, { conversation_id: id, deleted: true });
  else io.stdout.write(`Conversation ${id} was deleted.\n`);
}

async function printSignedUrl(io: Io, agentId: string, json: boolean): Promise<void> {
  const url = await askService(io, { doing: `get a signed URL for agent ${agentId}`, lookWith }, (client) =>
    client.getSignedUrl(agentId),
  );
  if (json) writeJson(io, { signed_url: url });
  else io.stdout.write(`${printable(url)}\n`);
}

async function printToken(io: Io, agentId: string, json: boolean): Promise<void> {
  const token = await askService(io, { doing: `get a token for agent ${agentId}`, lookWith }, (client) =>
    client.getConversationToken(agentId),
  );
  if (json) writeJson(io, { token });
  else io.stdout.write(`${printable(token)}\n`);
}

function secondsOf(ms: number | null): string {
  return ms === null ? '' : String(Math.round(ms / 1000));
}

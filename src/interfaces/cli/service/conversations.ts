import { Command } from 'commander';
import { instant } from './agents.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/answer.ts';
import {
  addLimitFlags,
  printList,
  type ListFlags,
  factsFromListEntry,
  printOperation,
  readServiceRecord,
  type ConversationEntry,
} from './operation.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Column } from '../terminal/table.ts';
import { renderTranscript } from '../../../presentation/words/history.ts';

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

const lookWith = 'carillon conversations list';

const columns: readonly Column<ConversationEntry>[] = [
  { title: 'CONVERSATION', value: ({ conversation_id }) => conversation_id },
  { title: 'STARTED', value: (entry) => instant(factsFromListEntry(entry).startedAt) },
  { title: 'SECONDS', value: (entry) => secondsOf(factsFromListEntry(entry).durationMs) },
  { title: 'STATUS', value: (entry) => factsFromListEntry(entry).status ?? '' },
  { title: 'AGENT', value: (entry) => factsFromListEntry(entry).agentId ?? '', flexible: true },
];

function secondsOf(ms: number | null): string {
  return ms === null ? '' : String(Math.round(ms / 1000));
}

export function conversationsCommand(io: Io): Command {
  const command = new Command('conversations')
    .description('List, read and delete conversations, and open new ones for a browser or device')
    .addHelpText('after', examples);
  addLimitFlags(command.command('list').description("List conversations, in the service's order"))
    .option('--agent <id>', 'only conversations of this agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations list --agent agent_reminders --all --json')
    .action(({ agent, ...flags }: ListFlags & { agent?: string }) =>
      printList(io, flags, {
        doing: 'list the conversations',
        lookWith,
        list: (client, options) => client.listConversations({ ...options, ...(agent === undefined ? {} : { agentId: agent }) }),
        columns,
        field: 'conversations',
      }),
    );
  command
    .command('get')
    .description('Show transcript, collected values and evaluation of a conversation')
    .argument('<conversation>', 'id of the conversation')
    .option('--json', 'print the whole record as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations get <conversation>')
    .action((id: string, { json }: { json: boolean }) =>
      printOperation(io, json, {
        doing: `read conversation ${id}`,
        lookWith,
        ask: async (client) => readServiceRecord(await client.getConversation(id)),
        data: ({ document }) => document,
        words: (record) => renderTranscript(null, record),
      }),
    );
  command
    .command('delete')
    .description('Delete a conversation permanently, with its recording and transcript')
    .argument('<conversation>', 'id of the conversation')
    .option('-y, --yes', 'do not ask for confirmation', false)
    .option('--json', 'print the result as JSON', false)
    .addHelpText('after', '\nExample:\n  carillon conversations delete <conversation> --yes')
    .action(async (id: string, { yes, json }: { yes: boolean; json: boolean }) => {
      const question = `Delete conversation ${id} for good, with its recording and transcript?`;
      if (!(await mayBegin(io, yes, question))) return;
      await printOperation(io, json, {
        doing: `delete conversation ${id}`,
        lookWith,
        ask: (client) => client.deleteConversation(id),
        data: () => ({ conversation_id: id, deleted: true }),
        words: () => `Conversation ${id} was deleted.\n`,
      });
    });
  command
    .command('signed-url')
    .description('Print a WebSocket address that opens one conversation with an agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `${credentialNote} signed-url agent_reminders`)
    .action((agentId: string, { json }: { json: boolean }) =>
      printOperation(io, json, {
        doing: `get a signed URL for agent ${agentId}`,
        lookWith,
        ask: (client) => client.getSignedUrl(agentId),
        data: (url) => ({ signed_url: url }),
        words: (url) => `${printable(url)}\n`,
      }),
    );
  command
    .command('token')
    .description('Print a token that opens one WebRTC conversation with an agent')
    .argument('<agent>', 'id of the agent')
    .option('--json', 'print JSON', false)
    .addHelpText('after', `${credentialNote} token agent_reminders`)
    .action((agentId: string, { json }: { json: boolean }) =>
      printOperation(io, json, {
        doing: `get a token for agent ${agentId}`,
        lookWith,
        ask: (client) => client.getConversationToken(agentId),
        data: (token) => ({ token }),
        words: (token) => `${printable(token)}\n`,
      }),
    );
  return command;
}

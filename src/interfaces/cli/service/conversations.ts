import { instant } from './agents.ts';
import { factsFromListEntry, listOf, operationOf, readServiceRecord, type ConversationEntry } from './operation.ts';
import { groupOf } from '../terminal/command.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { Column } from '../terminal/table.ts';
import { renderTranscript } from '../../../presentation/words/history.ts';

const help = `
Examples:
  carillon conversations list --agent agent_reminders --limit 20
  carillon conversations get <conversation>
  carillon conversations delete <conversation>
  carillon conversations signed-url agent_reminders
  carillon conversations token agent_reminders

SVC_BASE_URL and SVC_API_KEY select the service.`;

const credentialNote = `
The output is a credential: it works once, for a short time, without an API key. Give it to one browser or device only.`;

const lookWith = 'carillon conversations list';
const argument = ['<conversation>', 'id of the conversation'] as const;
const ofAgent = ['<agent>', 'id of the agent'] as const;

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

/** `carillon conversations`: operations 6 to 10. */
export const conversationsCommand = groupOf(
  { name: 'conversations', says: 'List, read and delete conversations, and open new ones for a browser or device', help },
  [
    listOf<ConversationEntry, { agent?: string }>({
      says: "List conversations, in the service's order",
      flags: [['--agent <id>', 'only conversations of this agent']],
      doing: 'list the conversations',
      lookWith,
      list: (client, options, { agent }) => client.listConversations({ ...options, ...(agent === undefined ? {} : { agentId: agent }) }),
      columns,
      field: 'conversations',
      example: 'carillon conversations list --agent agent_reminders --all --json',
    }),
    operationOf({
      name: 'get',
      says: 'Show transcript, collected values and evaluation of a conversation',
      argument,
      json: 'print the whole record as JSON',
      examples: ['carillon conversations get <conversation>'],
      doing: (id) => `read conversation ${id}`,
      lookWith,
      ask: async (client, id) => readServiceRecord(await client.getConversation(id)),
      data: ({ document }) => document,
      words: (record) => renderTranscript(null, record),
    }),
    operationOf({
      name: 'delete',
      says: 'Delete a conversation permanently, with its recording and transcript',
      argument,
      json: 'print the result as JSON',
      examples: ['carillon conversations delete <conversation> --yes'],
      doing: (id) => `delete conversation ${id}`,
      lookWith,
      question: (id) => `Delete conversation ${id} for good, with its recording and transcript?`,
      ask: (client, id) => client.deleteConversation(id),
      data: (_, id) => ({ conversation_id: id, deleted: true }),
      words: (_, id) => `Conversation ${id} was deleted.\n`,
    }),
    operationOf({
      name: 'signed-url',
      says: 'Print a WebSocket address that opens one conversation with an agent',
      argument: ofAgent,
      help: credentialNote,
      examples: ['carillon conversations signed-url agent_reminders'],
      doing: (id) => `get a signed URL for agent ${id}`,
      lookWith,
      ask: (client, id) => client.getSignedUrl(id),
      data: (url) => ({ signed_url: url }),
      words: (url) => `${printable(url)}\n`,
    }),
    operationOf({
      name: 'token',
      says: 'Print a token that opens one WebRTC conversation with an agent',
      argument: ofAgent,
      help: credentialNote,
      examples: ['carillon conversations token agent_reminders'],
      doing: (id) => `get a token for agent ${id}`,
      lookWith,
      ask: (client, id) => client.getConversationToken(id),
      data: (token) => ({ token }),
      words: (token) => `${printable(token)}\n`,
    }),
  ],
);

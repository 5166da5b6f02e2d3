import { createHash } from 'node:crypto';
import { noPointers, type RecordPointers } from '../../rules/conversation-facts.ts';
import { isJsonObject, type JsonObject } from '../../rules/conversation-override.ts';
import { root } from '../http/paths.ts';
import type { AgentFacts, CallerNumber, ServiceReads } from '../port/call-service.ts';
import { BadResponseError } from '../port/errors.ts';
import type { ConvaiClient } from './client.ts';
import { factsFromListEntry, readServiceRecord } from './record-facts.ts';
import type { PhoneNumber } from './schemas.ts';

/** Reads shared by all interfaces. `isGated`: agents state which settings a call may override. */
export function readsOf(client: ConvaiClient, isGated = false): ServiceReads {
  return {
    async record(conversationId, { agentId, pointers } = {}) {
      return readServiceRecord(await client.getConversation(conversationId), agentId ?? null, pointers);
    },
    async records(filter, pointers) {
      const { conversations, unusable, ...page } = await client.listConversationsPage(filter);
      const read = (entry: unknown) => factsFromListEntry(entry, pointers);
      return { ...page, records: conversations.map(read), unusable: unusable.map(read) };
    },
    async *allRecords(filter, pointers: RecordPointers = noPointers) {
      for await (const entry of client.listConversations(filter)) yield factsFromListEntry(entry, pointers);
    },
    async agent(agentId) {
      const agent = await client.getAgent(agentId);
      const { agent_id: id, name, platform_settings: settings, conversation_config: conversation } = agent;
      const permitted = isGated ? permittedBy(settings) : null;
      const keys = keysIn(settings);
      const keysIfKnown = keys === null ? {} : { keys };
      return {
        id: id ?? agentId,
        name: name ?? null,
        permitted,
        placeholders: placeholdersIn(conversation),
        print: printOf(agent),
        ...keysIfKnown,
      };
    },
    async *agents() {
      for await (const { agent_id: id, name } of client.listAgents()) yield { id, name: name ?? null };
    },
    callers: (sought) => readCallers(client, sought),
    clockReadings: () => client.clockReadings(),
    close: () => client.close(),
  };
}

async function readCallers(client: ConvaiClient, sought: readonly string[] = []): Promise<CallerNumber[]> {
  let unusable = 0;
  const usable = await client.listPhoneNumbers({ onUnusable: (entries) => void (unusable += entries) });
  const missing = sought.filter((id) => !usable.some((number) => number.phone_number_id === id));
  if (unusable > 0 && missing.length > 0) {
    const request = { method: 'GET', path: `${root}/phone-numbers`, requestId: null };
    const problem = `${String(unusable)} of its entries cannot be used, and ${missing.join(', ')} is not among the others`;
    throw new BadResponseError(request, 200, [problem]);
  }
  return usable.map((number) => ({
    id: number.phone_number_id,
    number: number.phone_number ?? null,
    label: number.label ?? null,
    verified: verificationOf(number),
  }));
}

/** Excludes read and change times and access rights. */
function printOf({ name, conversation_config: conversation, platform_settings: settings, workflow }: Record<string, unknown>): string {
  return createHash('sha256')
    .update(sortedJson([name, conversation, settings, workflow]))
    .digest('hex')
    .slice(0, 32);
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}

/** Null: not stated. */
function keysIn(settings: unknown): NonNullable<AgentFacts['keys']> | null {
  if (!isJsonObject(settings)) return null;
  const { data_collection: collected, evaluation } = settings;
  const criteria = isJsonObject(evaluation) ? evaluation['criteria'] : undefined;
  if (!isJsonObject(collected) && !Array.isArray(criteria)) return null;
  const ids = (Array.isArray(criteria) ? criteria : []).flatMap((each) =>
    isJsonObject(each) && typeof each['id'] === 'string' ? [each['id']] : [],
  );
  return { collected: isJsonObject(collected) ? Object.keys(collected) : [], evaluation: ids };
}

function permittedBy(settings: unknown): JsonObject | null {
  const overrides = isJsonObject(settings) ? settings['overrides'] : undefined;
  if (!isJsonObject(overrides)) return null;
  const { conversation_config_override: permitted } = overrides;
  return isJsonObject(permitted) ? permitted : {};
}

/** Values of variables that a call does not give. */
function placeholdersIn(conversation: unknown): Readonly<Record<string, string>> {
  const under = (value: unknown, key: string): unknown => (isJsonObject(value) ? value[key] : undefined);
  const found = under(under(under(conversation, 'agent'), 'dynamic_variables'), 'dynamic_variable_placeholders');
  if (!isJsonObject(found)) return {};
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}

function verificationOf(number: PhoneNumber): boolean | null {
  if (typeof number['verified'] === 'boolean') return number['verified'];
  const status = number['verification_status'];
  return typeof status === 'string' ? status === 'verified' : null;
}

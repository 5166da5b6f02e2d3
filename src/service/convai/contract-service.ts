import { noPointers, type RecordPointers } from '../../rules/conversation-facts.ts';
import { type CallerNumber, type CallRequest, type CallService, type Placing, type SendOnce, placingOf } from '../port/call-service.ts';
import { BadResponseError, ServiceError, type RefusedError } from '../port/errors.ts';
import { storableId } from '../port/record-values.ts';
import { root, type ConvaiClient } from './client.ts';
import { factsFromListEntry, readServiceRecord } from './record-facts.ts';
import type { BatchCallsRequest, PhoneNumber } from './schemas.ts';

/** The service of the contract: nothing but the records of its calls shows what became of a request, and nothing can be taken back. */
export function contractService(client: ConvaiClient): CallService {
  return {
    abilities: { lookUp: 'records', namesRecipients: false, withdraw: 'nothing' },
    place: (request, once) => place(client, request, once),
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
      const { agent_id: id, name } = await client.getAgent(agentId);
      return { id: id ?? agentId, name: name ?? null };
    },
    async *agents() {
      for await (const { agent_id: id, name } of client.listAgents()) yield { id, name: name ?? null };
    },
    callers: (sought) => readCallers(client, sought),
    clockReadings: () => client.clockReadings(),
    close: () => client.close(),
  };
}

async function place(client: ConvaiClient, request: CallRequest, once: SendOnce): Promise<Placing> {
  try {
    const { batchId, callsInitiated, serviceDate } = await client.placeBatchCalls(bodyOf(request), once);
    const serviceMs = serviceDate?.serverMs ?? null;
    return { kind: 'accepted', serviceBatchId: storableId(batchId), accepted: callsInitiated, serviceMs };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return placingOf(error, isAboutWholeRequest);
  }
}

function bodyOf({ agentId, callerId, variablesKey, calls }: CallRequest): BatchCallsRequest {
  return {
    agent_id: agentId,
    from_phone_number_id: callerId,
    calls: calls.map(({ to, override, variables }) => ({
      to_phone_number: to,
      ...(override === null ? {} : { conversation_config_override: override }),
      ...(variablesKey === null || variables === null ? {} : { [variablesKey]: variables }),
    })),
  };
}

/** Whether a refusal complains about something outside the calls, which smaller batches would not mend. */
function isAboutWholeRequest(error: RefusedError): boolean {
  const { fields } = error.detail;
  return fields.length > 0 && fields.every((field) => !/(^|\.)calls(\.|\[|$)/.test(field.path));
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

function verificationOf(number: PhoneNumber): boolean | null {
  if (typeof number['verified'] === 'boolean') return number['verified'];
  const status = number['verification_status'];
  return typeof status === 'string' ? status === 'verified' : null;
}

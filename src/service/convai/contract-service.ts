import { type CallRequest, type CallService, type Placing, type SendOnce, placingOf } from '../port/call-service.ts';
import { ServiceError, type RefusedError } from '../port/errors.ts';
import { storableId } from '../port/record-values.ts';
import type { ConvaiClient } from './client.ts';
import { readsOf } from './reads.ts';
import type { BatchCallsRequest } from './schemas.ts';

/** Only call records show the effect of a request, and nothing can be withdrawn. */
export function contractService(client: ConvaiClient): CallService {
  return {
    abilities: { lookUp: 'records', namesRecipients: false, withdraw: 'nothing' },
    place: (request, once) => place(client, request, once),
    ...readsOf(client),
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

/** True when smaller batches would not help. */
function isAboutWholeRequest(error: RefusedError): boolean {
  const { fields } = error.detail;
  return fields.length > 0 && fields.every((field) => !/(^|\.)calls(\.|\[|$)/.test(field.path));
}

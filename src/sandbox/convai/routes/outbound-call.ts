import type { FastifyInstance } from 'fastify';
import { furtherRoutes } from '../../core/operations.ts';
import { findAgent, findNumber } from '../../core/service/found.ts';
import type { Service } from '../../core/service/service.ts';
import { serveKeyed } from '../../http/serve-operation.ts';
import type { BatchInput } from '../../schemas/request-schemas.ts';
import { validate } from '../../schemas/validate.ts';
import { queueCalls, readClientData, refuseBadTargets, ringLimit } from './batch-calls.ts';

/** One call at once, outside any batch. A repeated request makes a second call. */
export function serveOutboundCall(app: FastifyInstance, service: Service): void {
  const read = (body: unknown) => validate(service.schemas.outboundCall, 'body', body);
  serveKeyed(
    app,
    furtherRoutes.outbound_call,
    (request) => {
      const input = read(request.body);
      const target = { to_phone_number: input.to_number, ...readClientData(input.conversation_initiation_client_data) };
      const order: BatchInput = { agent_id: input.agent_id, from_phone_number_id: input.agent_phone_number_id, calls: [target] };
      refuseBadTargets(order, () => ['to_number']);
      findAgent(service, input.agent_id, 'agent_id');
      findNumber(service, input.agent_phone_number_id);
      const [call] = queueCalls(service, order, request, { batchId: null, ringLimitMs: ringLimit(input.telephony_call_config) });
      const conversationId = call === undefined || call.recordedAt === null ? null : call.conversationId;
      return { success: true, message: 'The call was placed.', conversation_id: conversationId, callSid: call?.callId ?? null };
    },
    (request) => read(request.body),
  );
}

import type { FastifyRequest } from 'fastify';
import type { FaultedRequest } from '../faults/match.ts';
import type { Service } from '../core/service/service.ts';

interface About {
  agentIds: string[];
  numberIds: string[];
  /** As digits with `+`: those called, and the one imported. */
  numbers: string[];
}

export function aboutOf(request: FastifyRequest, service: Service): About {
  const parameters = fieldsOf(request.params);
  const query = fieldsOf(request.query);
  const body = fieldsOf(request.body);
  const calls = listOf(body['calls']).map((call) => fieldsOf(call)['to_phone_number']);
  const recipients = listOf(body['recipients']).map((recipient) => fieldsOf(recipient)['phone_number']);
  const [conversationId = ''] = texts(parameters['conversation_id']);
  const conversation = service.state.conversations.get(conversationId);
  return {
    agentIds: texts(parameters['agent_id'], query['agent_id'], body['agent_id'], conversation?.agentId),
    numberIds: texts(
      parameters['phone_number_id'],
      body['from_phone_number_id'],
      body['agent_phone_number_id'],
      conversation?.phoneNumberId,
    ),
    numbers: texts(body['phone_number'], conversation?.to, ...calls, ...recipients),
  };
}

export function faultedRequest(request: FastifyRequest, service: Service): FaultedRequest {
  let known: About | null = null;
  const about = (): About => (known ??= aboutOf(request, service));
  return {
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : (value ?? null);
    },
    hasCursor: fieldsOf(request.query)['cursor'] !== undefined,
    agentIds: () => about().agentIds,
    numbers: () => [...about().numberIds, ...about().numbers],
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(...values: unknown[]): string[] {
  return values.filter((value) => typeof value === 'string');
}

import { existing, notFound, type ServiceError } from '../service-error.ts';
import type { Agent, PhoneNumber } from '../state/agent.ts';
import type { Service } from './service.ts';

/** Throws 404, naming `param` when the id came from a query or body. */
export function findAgent(service: Service, id: string, param?: string): Agent {
  const agent = service.state.agents.get(id);
  if (agent === undefined) throw missingAgent(service, id, param);
  return agent;
}

/** Error for an unknown agent id; records the use of a deleted one. */
export function missingAgent(service: Service, id: string, param?: string): ServiceError {
  if (service.state.wasAgentDeleted(id)) service.conduct.noteDeletedUse('agent', id);
  return notFound('agent', id, param);
}

export function findNumber(service: Service, id: string): PhoneNumber {
  return existing(service.state.numbers.get(id), 'phone number', id);
}

/** Error for an unknown conversation id; records the use of a deleted one. */
export function missingConversation(service: Service, id: string): ServiceError {
  if (service.state.conversations.wasDeleted(id)) service.conduct.noteDeletedUse('conversation', id);
  return notFound('conversation', id);
}

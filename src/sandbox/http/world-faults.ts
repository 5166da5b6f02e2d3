import type { FastifyRequest } from 'fastify';
import type { FaultEffect } from '../faults/effect.ts';
import type { Service } from '../core/service/service.ts';
import { aboutOf } from './request-about.ts';

/** Faults of the world behind the service: what a request is about changes under its hands. */
export function changeWorld(
  effect: FaultEffect,
  moment: 'before' | 'after',
  request: FastifyRequest,
  service: Service,
): void {
  if (effect.type === 'delete_agent' && effect.when === moment) {
    for (const id of given(effect.agent_id) ?? aboutOf(request, service).agentIds) service.state.deleteAgent(id);
  }
  if ((effect.type === 'unassign_number' || effect.type === 'unverify_number') && effect.when === moment) {
    for (const id of given(effect.phone_number_id) ?? aboutOf(request, service).numberIds) {
      const number = service.state.numbers.get(id);
      if (number === undefined) continue;
      if (effect.type === 'unassign_number') number.agentId = null;
      else number.verified = false;
    }
  }
}

function given(id: string | undefined): string[] | null {
  return id === undefined ? null : [id];
}

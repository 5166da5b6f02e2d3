import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { plans } from '../core/plans.ts';
import { deriveId } from '../core/random.ts';
import { isoTime } from '../core/times.ts';
import { findAgent } from '../routes/agents.ts';
import { pathParameter, serveControl } from '../http/serve-operation.ts';
import { identifier } from '../schemas/building-blocks.ts';
import { validate } from '../schemas/validate.ts';
import { notFound, ServiceError } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { sipTransports, type SipTrunk } from '../core/state/sip-trunk.ts';

const address = z
  .string()
  .max(253)
  .regex(
    /^(\[[\da-f:]+\]|[a-z\d]([a-z\d.-]*[a-z\d])?)(:\d{1,5})?$/i,
    'Must be a host or host:port, such as pbx.example.test:5060.',
  );
const trunkBody = z.strictObject({
  label: z.string().min(1, 'Must not be empty.').max(200),
  address,
  transport: z.enum(sipTransports).default('udp'),
  agent_id: identifier.nullable().default(null),
});
const trunkChange = z
  .strictObject({
    label: z.string().min(1, 'Must not be empty.').max(200),
    address,
    transport: z.enum(sipTransports),
    agent_id: identifier.nullable(),
  })
  .partial();

/** SIP trunks, which the contract has in its dashboard. They are data alone: nothing listens at the endpoint they get. */
export function controlSipTrunks(app: FastifyInstance, service: Service): void {
  const { settings, clock } = service;

  serveControl(app, 'GET', 'sip-trunks', { says: 'Lists the SIP trunks and how many the plan allows.' }, () => ({
    sip_trunks: [...service.state.sipTrunks.values()].map((trunk) => describe(service, trunk)),
    limit: limitOf(service),
  }));

  serveControl(app, 'POST', 'sip-trunks', { says: 'Adds a SIP trunk.', body: trunkBody }, (request) => {
    const input = validate(trunkBody, 'body', request.body);
    if (input.agent_id !== null) findAgent(service, input.agent_id, 'agent_id');
    refuseBeyondPlan(service);
    const trunk: SipTrunk = {
      trunkId: deriveId('sip', settings.seed, service.state.count('sip trunks')),
      label: input.label,
      address: input.address,
      transport: input.transport,
      agentId: input.agent_id,
      createdAt: clock.now(),
    };
    service.state.sipTrunks.set(trunk.trunkId, trunk);
    return describe(service, trunk);
  });

  serveControl(app, 'GET', 'sip-trunks/:trunk_id', { says: 'Reads a SIP trunk.' }, (request) =>
    describe(service, find(service, pathParameter(request, 'trunk_id'))),
  );

  serveControl(app, 'PATCH', 'sip-trunks/:trunk_id', { says: 'Changes a SIP trunk.', body: trunkChange }, (request) => {
    const trunk = find(service, pathParameter(request, 'trunk_id'));
    const { agent_id: agentId, ...changes } = validate(trunkChange, 'body', request.body);
    if (agentId != null) findAgent(service, agentId, 'agent_id');
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const changed: SipTrunk = { ...trunk, ...given, agentId: agentId === undefined ? trunk.agentId : agentId };
    service.state.sipTrunks.set(trunk.trunkId, changed);
    return describe(service, changed);
  });

  serveControl(app, 'DELETE', 'sip-trunks/:trunk_id', { says: 'Deletes a SIP trunk.' }, (request) => {
    service.state.sipTrunks.delete(find(service, pathParameter(request, 'trunk_id')).trunkId);
    return {};
  });
}

function find({ state }: Service, trunkId: string): SipTrunk {
  const trunk = state.sipTrunks.get(trunkId);
  if (trunk === undefined) throw notFound('SIP trunk', trunkId);
  return trunk;
}

/** Without an agent once that is deleted, as with numbers. */
function describe({ state }: Service, trunk: SipTrunk): Record<string, unknown> {
  return {
    trunk_id: trunk.trunkId,
    label: trunk.label,
    address: trunk.address,
    transport: trunk.transport,
    agent_id: state.agents.has(trunk.agentId ?? '') ? trunk.agentId : null,
    sip_endpoint: `sip:${trunk.trunkId}@sip.invalid;transport=${trunk.transport}`,
    simulated: true,
    created_at: isoTime(trunk.createdAt),
  };
}

function limitOf({ settings }: Service): number {
  return plans[settings.plan].sipTrunks;
}

function refuseBeyondPlan(service: Service): void {
  const limit = limitOf(service);
  if (service.state.sipTrunks.size < limit) return;
  const message = `The plan has room for ${limit} SIP trunks. Delete one, or start the sandbox with another plan.`;
  throw new ServiceError(409, message, { type: 'conflict', code: 'sip_trunk_limit_reached' });
}

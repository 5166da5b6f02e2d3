import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { plans } from '../core/plans.ts';
import { deriveId } from '../core/random.ts';
import { isoTime } from '../core/times.ts';
import { findAgent } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { identifier } from '../schemas/building-blocks.ts';
import { conflict, existing } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { sipTransports, type SipTrunk } from '../core/state/agent.ts';

const fields = {
  label: z.string().min(1, 'Must not be empty.').max(200),
  address: z
    .string()
    .max(253)
    .regex(/^(\[[\da-f:]+\]|[a-z\d]([a-z\d.-]*[a-z\d])?)(:\d{1,5})?$/i, 'Must be a host or host:port, such as pbx.example.test:5060.'),
  transport: z.enum(sipTransports),
  agent_id: identifier.nullable(),
};
const trunkBody = z.strictObject({
  ...fields,
  transport: fields.transport.default('udp'),
  agent_id: fields.agent_id.default(null),
});
const trunkChange = z.strictObject(fields).partial();

/** SIP trunks, which the contract has in its dashboard. They are data alone: nothing listens at the endpoint they get. */
export function controlSipTrunks(app: FastifyInstance, service: Service): void {
  const { settings, clock } = service;
  const find = (trunkId: string): SipTrunk => existing(service.state.sipTrunks.get(trunkId), 'SIP trunk', trunkId);

  serveControl(app, 'GET /_sandbox/sip-trunks', {
    says: 'Lists the SIP trunks and how many the plan allows.',
    answer: () => ({
      sip_trunks: [...service.state.sipTrunks.values()].map((trunk) => describe(service, trunk)),
      limit: limitOf(service),
    }),
  });

  serveControl(app, 'POST /_sandbox/sip-trunks', {
    says: 'Adds a SIP trunk.',
    body: trunkBody,
    answer: ({ body }) => {
      const { agent_id: agentId, ...facts } = body();
      if (agentId !== null) findAgent(service, agentId, 'agent_id');
      refuseBeyondPlan(service);
      const trunkId = deriveId('sip', settings.seed, service.state.count('sip trunks'));
      const trunk: SipTrunk = { trunkId, ...facts, agentId, createdAt: clock.now() };
      service.state.sipTrunks.set(trunkId, trunk);
      return describe(service, trunk);
    },
  });

  serveControl(app, 'GET /_sandbox/sip-trunks/:trunk_id', {
    says: 'Reads a SIP trunk.',
    answer: ({ id }) => describe(service, find(id())),
  });

  serveControl(app, 'PATCH /_sandbox/sip-trunks/:trunk_id', {
    says: 'Changes a SIP trunk.',
    body: trunkChange,
    answer: ({ id, body }) => {
      const trunk = find(id());
      const { agent_id: agentId, ...changes } = body();
      if (agentId != null) findAgent(service, agentId, 'agent_id');
      const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const changed: SipTrunk = { ...trunk, ...given, agentId: agentId === undefined ? trunk.agentId : agentId };
      service.state.sipTrunks.set(trunk.trunkId, changed);
      return describe(service, changed);
    },
  });

  serveControl(app, 'DELETE /_sandbox/sip-trunks/:trunk_id', {
    says: 'Deletes a SIP trunk.',
    answer: ({ id }) => {
      service.state.sipTrunks.delete(find(id()).trunkId);
      return {};
    },
  });
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
  throw conflict('sip_trunk_limit_reached', message);
}

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { findNumber, findAgent } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { e164 } from '../schemas/building-blocks.ts';
import { refuseField } from '../schemas/validate.ts';
import { existing, InvalidRequest, conflict } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { type PhoneNumber, takesInbound } from '../core/state/agent.ts';
import { doubledNumbers } from '../core/world/read-world.ts';
import { worldSchema } from '../core/world/schema.ts';
import { takeInboundCall } from '../core/telephony/inbound.ts';
import { checkFixture, FixtureError, fixtureSchema, type Fixture, numberInput } from '../fixture/check-fixture.ts';
import { loadFixture } from '../core/service/seed-data.ts';
import { addNumber, defaultProvider } from '../core/state/service-state.ts';

const inboundBody = z.strictObject({ phone_number_id: z.string().min(1).optional(), number: e164.optional(), from: e164 });
const redeemBody = z.strictObject({ credential: z.string().min(1) });

export function controlWorld(app: FastifyInstance, service: Service): void {
  const { people } = service;

  serveControl(app, 'GET /_sandbox/world', { says: 'Tells who is behind the numbers.', answer: () => people.world });

  serveControl(app, 'PUT /_sandbox/world', {
    says: 'Replaces who is behind the numbers, for calls that are dialled from now on.',
    body: worldSchema,
    answer: ({ body }) => {
      const world = body();
      const doubled = doubledNumbers(world);
      if (doubled.length > 0) throw new InvalidRequest(doubled.map((msg) => ({ loc: ['body', 'people'], msg, type: 'doubled_number' })));
      people.replace(world);
      return people.world;
    },
  });

  serveControl(app, 'POST /_sandbox/reset', {
    says: 'Puts everything back to its start; the clock goes on.',
    answer: () => {
      service.reset();
      return { reset: true };
    },
  });

  serveControl(app, 'POST /_sandbox/inbound', {
    says: 'Has somebody call a number.',
    body: inboundBody,
    answer: ({ body }) => {
      const { phone_number_id: id, number: called, from } = body();
      const reception = takeInboundCall(service, calledNumber(service, id, called), from);
      if ('reason' in reception) return { answered: false, conversation_id: null, agent_id: null, reason: reception.reason };
      const { conversationId, agentId } = reception;
      return { answered: true, conversation_id: conversationId, agent_id: agentId, reason: null };
    },
  });

  serveControl(app, 'POST /_sandbox/credentials/redeem', {
    says: 'Uses up a signed address or a token.',
    body: redeemBody,
    answer: ({ body }) => {
      const redeemed = service.state.credentials.redeem(body().credential, service.clock.now());
      return { accepted: redeemed !== null, kind: redeemed?.kind ?? null, agent_id: redeemed?.agentId ?? null };
    },
  });
}

function calledNumber(service: Service, id: string | undefined, number: string | undefined): PhoneNumber {
  if (id !== undefined) return findNumber(service, id);
  if (number === undefined) throw refuseField(['body', 'phone_number_id'], 'Give phone_number_id or number: who is called.', 'missing');
  const found = [...service.state.numbers.values()].find((candidate) => candidate.phoneNumber === number);
  return existing(found, 'phone number', number, 'number');
}

export function controlFixture(app: FastifyInstance, service: Service): void {
  serveControl(app, 'POST /_sandbox/fixture', {
    says: 'Adds the agents, numbers, webhooks and fault rules of a fixture, and replaces the people where it names any.',
    // Lazy: no other request needs the whole document.
    get body() {
      return fixtureSchema(service.settings);
    },
    answer: ({ request }) => {
      const fixture = readFixtureBody(request.body, service);
      refuseKnown(fixture, service);
      // First, because it is the only step that can still throw.
      service.faults.add(fixture.faults);
      loadFixture(service, fixture);
      for (const feature of service.features) feature.load?.(fixture);
      if (fixture.world !== null) service.people.replace(fixture.world);
      const { agents, numbers, webhooks, faults, world } = fixture;
      return {
        agents: agents.map((agent) => agent.agent_id),
        numbers: numbers.map((number) => number.phone_number_id),
        webhooks: webhooks.length,
        faults: faults.length,
        people_replaced: world !== null,
      };
    },
  });
}

function readFixtureBody(body: unknown, { settings }: Service): Fixture {
  try {
    return checkFixture(body, 'body', settings);
  } catch (error) {
    if (!(error instanceof FixtureError)) throw error;
    throw new InvalidRequest(error.problems.map((msg) => ({ loc: ['body'], msg, type: 'fixture' })));
  }
}

/** Throws 409 for known ids: an id is never reused, not even after a deletion. */
function refuseKnown({ agents, numbers, faults }: Fixture, { state, faults: faultRegistry }: Service): void {
  const phones = new Set([...state.numbers.values()].map(({ phoneNumber }) => phoneNumber));
  const rules = new Set(faultRegistry.list().map(({ id }) => id));
  const known = [
    ...agents.map(({ agent_id: id }) => id).filter((id) => state.agents.has(id) || state.wasAgentDeleted(id)),
    ...numbers.map(({ phone_number_id: id }) => id).filter((id) => state.numbers.has(id)),
    ...numbers.map(({ phone_number: phone }) => phone).filter((phone) => phones.has(phone)),
    ...faults.flatMap(({ id }) => (id !== undefined && rules.has(id) ? [id] : [])),
  ];
  if (known.length === 0) return;
  const message = `Nothing was loaded: ${known.join(', ')} ${known.length === 1 ? 'is' : 'are'} there already, or was deleted. Reset the sandbox first, or choose others.`;
  throw conflict('already_there', message);
}

export function controlNumbers(app: FastifyInstance, service: Service): void {
  serveControl(app, 'GET /_sandbox/numbers', {
    says: 'Lists the numbers as the telephony provider has them.',
    answer: () => ({ numbers: [...service.state.numbers.values()].map(describe) }),
  });

  serveControl(app, 'POST /_sandbox/numbers', {
    says: 'Adds a number, owned or only verified.',
    body: numberInput,
    answer: ({ body }) => {
      const { phone_number: phoneNumber, agent_id: agentId, ...facts } = body();
      if (agentId !== null) findAgent(service, agentId, 'agent_id');
      const outside = { provider: defaultProvider, accountSid: null };
      return describe(addNumber(service, { ...facts, ...outside, phoneNumber, agentId }));
    },
  });

  for (const [action, verified, says] of [
    ['verify', true, 'Has a number verified.'],
    ['unverify', false, 'Takes back that a number is verified.'],
  ] as const) {
    serveControl(app, `POST /_sandbox/numbers/:phone_number_id/${action}`, {
      says,
      answer: ({ id }) => {
        const number = findNumber(service, id());
        number.verified = verified;
        return { phone_number_id: number.phoneNumberId, verified };
      },
    });
  }
}

function describe(number: PhoneNumber): Record<string, unknown> {
  return {
    phone_number_id: number.phoneNumberId,
    phone_number: number.phoneNumber,
    label: number.label,
    type: number.type,
    provider: number.provider,
    account_sid: number.accountSid,
    agent_id: number.agentId,
    verified: number.verified,
    supports_inbound: takesInbound(number),
    supports_outbound: true,
  };
}

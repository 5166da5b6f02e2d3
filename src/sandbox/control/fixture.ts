import type { FastifyInstance } from 'fastify';
import { checkFixture, FixtureError, fixtureSchema, type Fixture } from '../fixture/check-fixture.ts';
import { loadFixture } from '../core/service/seed-data.ts';
import { serveControl } from '../http/serve-control.ts';
import { conflict, InvalidRequest } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

export function controlFixture(app: FastifyInstance, service: Service): void {
  serveControl(app, 'POST /_sandbox/fixture', {
    says: 'Adds the agents, numbers, webhooks and fault rules of a fixture, and replaces the people where it names any.',
    // Made when the document is: no other request needs all of it.
    get body() {
      return fixtureSchema(service.settings);
    },
    answer: ({ request }) => {
      const fixture = readFixtureBody(request.body, service);
      refuseKnown(fixture, service);
      // The one step that may still refuse comes first.
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

/** An id that was given once is never given again, not even after a deletion. */
function refuseKnown({ agents, numbers, faults }: Fixture, { state, faults: book }: Service): void {
  const phones = new Set([...state.numbers.values()].map(({ phoneNumber }) => phoneNumber));
  const rules = new Set(book.list().map(({ id }) => id));
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

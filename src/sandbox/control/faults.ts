import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { faultRules } from '../faults/rule.ts';
import { faultPresets } from '../faults/presets.ts';
import { serveControl } from '../http/serve-control.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';
import { batchPoints } from '../core/gates.ts';

const namedRuleQuery = z.strictObject({ id: z.string().min(1) });
const switchBody = z.strictObject({ enabled: z.boolean() });

export function controlFaults(app: FastifyInstance, { faults }: Service): void {
  serveControl(app, 'GET /_sandbox/faults', {
    says: 'Lists the fault rules with how often each was met.',
    answer: () => ({ faults: faults.list() }),
  });

  serveControl(app, 'GET /_sandbox/faults/presets', { says: 'Lists ready-made fault rules.', answer: () => ({ presets: faultPresets }) });

  serveControl(app, 'POST /_sandbox/faults', {
    says: 'Adds one fault rule or several, all or none.',
    body: faultRules,
    answer: ({ request }) => ({ faults: faults.add(request.body) }),
  });

  serveControl(app, 'PATCH /_sandbox/faults', {
    says: 'Switches a fault rule on or off.',
    query: namedRuleQuery,
    body: switchBody,
    answer: ({ query, body }) => {
      const { id } = query();
      const { enabled } = body();
      if (!faults.enable(id, enabled)) throw notFound('fault rule', id);
      return { faults: faults.list() };
    },
  });

  serveControl(app, 'DELETE /_sandbox/faults', {
    says: 'Removes one fault rule, or all.',
    query: namedRuleQuery.partial(),
    answer: ({ query }) => {
      const { id } = query();
      if (id === undefined) faults.clear();
      else if (!faults.remove(id)) throw notFound('fault rule', id);
      return { faults: faults.list() };
    },
  });
}

const gateBody = z.strictObject({ point: z.enum(batchPoints), nth: z.number().int().min(1).default(1) });
const releaseBody = z.strictObject({ id: z.string().min(1).optional() });
const waitQuery = z.strictObject({
  id: z.string().min(1).optional(),
  point: z.enum(batchPoints).optional(),
  nth: z.coerce.number().int().min(1).optional(),
  timeout_ms: z.coerce.number().int().min(0).max(600_000).default(30_000),
});

/** Gates hold a batch request at a point: set one, wait until a request reaches it, act, release. */
export function controlGates(app: FastifyInstance, { gates }: Service): void {
  serveControl(app, 'GET /_sandbox/gates', { says: 'Lists the gates.', answer: () => ({ gates: gates.list() }) });

  serveControl(app, 'POST /_sandbox/gates', {
    says: 'Sets a gate, which holds a batch request at an exact moment.',
    body: gateBody,
    answer: ({ body }) => {
      const { point, nth } = body();
      return { id: gates.set(point, nth), point, nth };
    },
  });

  serveControl(app, 'POST /_sandbox/gates/release', {
    says: 'Lets go what waits at one gate, or at all.',
    body: releaseBody,
    bodyIsOptional: true,
    answer: ({ body }) => {
      const { id } = body();
      const released = gates.release(id);
      if (id !== undefined && released === 0) throw notFound('gate', id);
      return { released };
    },
  });

  serveControl(app, 'GET /_sandbox/gates/wait', {
    says: 'Answers when a request has come to a gate.',
    query: waitQuery,
    answer: async ({ query }) => {
      const { timeout_ms: timeoutMs, ...filter } = query();
      const id = gates.find(filter);
      if (id === null) throw notFound('gate', JSON.stringify(filter));
      const reachedBy = await gates.waitUntilReached(id, timeoutMs);
      return { id, reached: reachedBy !== null, request: reachedBy };
    },
  });
}

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { faultRules } from '../faults/fault-rule.ts';
import { faultPresets } from '../faults/presets.ts';
import { serveControl } from '../http/serve-operation.ts';
import { validate } from '../schemas/validate.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

const ruleQuery = z.strictObject({ id: z.string().min(1).optional() });
const namedRuleQuery = z.strictObject({ id: z.string().min(1) });
const switchBody = z.strictObject({ enabled: z.boolean() });

/**
 * Fault rules: GET lists them, POST adds one or an array, PATCH switches the one named by `?id=` on or off, DELETE removes all, or
 * the one named by `?id=`.
 */
export function controlFaults(app: FastifyInstance, service: Service): void {
  const { faults } = service;

  serveControl(app, 'GET', 'faults', { says: 'Lists the fault rules with how often each was met.' }, async () => ({
    faults: faults.list(),
  }));

  serveControl(app, 'GET', 'faults/presets', { says: 'Lists ready-made fault rules.' }, async () => ({
    presets: faultPresets,
  }));

  serveControl(
    app,
    'POST',
    'faults',
    { says: 'Adds one fault rule or several, all or none.', body: faultRules },
    async (request) => ({ faults: faults.add(request.body) }),
  );

  serveControl(
    app,
    'PATCH',
    'faults',
    { says: 'Switches a fault rule on or off.', query: namedRuleQuery, body: switchBody },
    async (request) => {
      const id = readId(request);
      const { enabled } = validate(switchBody, 'body', request.body);
      if (!faults.enable(id, enabled)) throw notFound('fault rule', id);
      return { faults: faults.list() };
    },
  );

  serveControl(
    app,
    'DELETE',
    'faults',
    { says: 'Removes one fault rule, or all.', query: ruleQuery },
    async (request) => {
      const { id } = validate(ruleQuery, 'query', request.query);
      if (id === undefined) faults.clear();
      else if (!faults.remove(id)) throw notFound('fault rule', id);
      return { faults: faults.list() };
    },
  );
}

function readId(request: FastifyRequest): string {
  return validate(namedRuleQuery, 'query', request.query).id;
}

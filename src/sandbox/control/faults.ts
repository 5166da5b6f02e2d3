import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { faultRules } from '../faults/rule.ts';
import { faultPresets } from '../faults/presets.ts';
import { serveControl } from '../http/serve-control.ts';
import { notFound } from '../core/service-error.ts';
import type { Service } from '../core/service/service.ts';

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

import { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { withInstants } from '../../input/with-instants.ts';
import { readPhoneNumber } from '../../domain/phone-number.ts';
import {
  accountScope,
  addSuppressions,
  findEntries,
  listSuppressions,
  removeSuppressions,
} from '../../ledger/rows/suppressions.ts';
import { holderOf, type Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { ProblemError } from '../core/problem.ts';
import { keyHeaders, refusals } from '../schemas/common.ts';
import {
  addSuppressionsBody,
  checkSuppressionsBody,
  removeSuppressionsBody,
  suppression,
  suppressionQuery,
} from '../schemas/suppressions.ts';

const path = '/api/v1/suppressions';
const tags = ['do-not-call'];
const entries = z.array(suppression);

/** The do-not-call list. */
export function suppressionRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  app.get(
    path,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'listSuppressions',
        tags,
        summary: 'List the do-not-call list, by number',
        querystring: suppressionQuery,
        response: { 200: z.object({ suppressions: entries, next: z.string().nullable() }), ...refusals(404) },
      },
    },
    async ({ query: { campaign, after, limit } }) => {
      const scope = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
      const found = await listSuppressions(store.db, {
        scope,
        after: after === undefined ? null : readCursor(after),
        limit,
      });
      const last = found.length < limit ? undefined : found.at(-1);
      const next = last === undefined ? null : `${last.e164} ${last.scope}`;
      return withInstants({ suppressions: found, next }) as {
        suppressions: z.input<typeof entries>;
        next: string | null;
      };
    },
  );

  app.post(
    path,
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'addSuppressions',
        tags,
        summary: 'Put numbers on the do-not-call list',
        description: 'Calls that are planned are stopped too. An entry is never shortened.',
        headers: keyHeaders,
        body: addSuppressionsBody,
        response: { 200: z.object({ added: z.int(), known: z.int() }), ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { numbers, region, campaign: scope = accountScope, reason = null, expiresAt } = body;
      const work = async () => {
        if (scope !== accountScope) await requireCampaign(store, scope);
        const e164s = readNumbers(numbers, region);
        const now = await serviceNow(context);
        const until = expiresAt === undefined ? null : Date.parse(expiresAt);
        if (until !== null && until <= now)
          throw new ProblemError(422, 'passed', `expiresAt ${expiresAt} has passed; name a later instant.`);
        const source = `person:${holderOf(request).name}`;
        const added = await addSuppressions(
          store,
          e164s.map((e164) => ({ e164, scope, source, reason, expiresAt: until })),
          now,
        );
        return { added, known: e164s.length - added };
      };
      return makeChange(
        context,
        { request, reply },
        { action: 'suppressions_added', campaignId: scope, fingerprint: body, work },
      );
    },
  );

  app.post(
    `${path}/remove`,
    {
      config: { role: 'admin' },
      schema: {
        operationId: 'removeSuppressions',
        tags,
        summary: 'Allow calls to numbers again',
        description: 'Somebody may have asked not to be called.',
        headers: keyHeaders,
        body: removeSuppressionsBody,
        response: { 200: z.object({ removed: z.int(), unknown: z.int() }), ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { numbers, region, campaign: scope = accountScope } = body;
      const work = async () => {
        if (scope !== accountScope) await requireCampaign(store, scope);
        const e164s = readNumbers(numbers, region);
        const removed = await removeSuppressions(store, { scope, now: await serviceNow(context) }, e164s);
        return { removed, unknown: e164s.length - removed };
      };
      return makeChange(
        context,
        { request, reply },
        { action: 'suppressions_removed', campaignId: scope, fingerprint: body, work },
      );
    },
  );

  app.post(
    `${path}/check`,
    {
      config: { role: 'read' },
      schema: {
        operationId: 'checkSuppressions',
        tags,
        summary: 'Say whether and why numbers are not called; changes nothing',
        body: checkSuppressionsBody,
        response: {
          200: z.object({ numbers: z.array(z.object({ e164: z.string(), suppressed: z.boolean(), entries })) }),
          ...refusals(422),
        },
      },
    },
    async ({ body }) => {
      const now = await serviceNow(context);
      const e164s = readNumbers(body.numbers, body.region);
      const found = await findEntries(store.db, e164s);
      const numbers = e164s.map((e164) => {
        const own = found.filter((entry) => entry.e164 === e164);
        return { e164, suppressed: own.some(({ expiresAt }) => expiresAt === null || expiresAt > now), entries: own };
      });
      return withInstants({ numbers }) as never;
    },
  );
}

/** In E.164, each once. Throws ProblemError naming the first that is no number by its place. */
function readNumbers(numbers: readonly string[], region: string | undefined): string[] {
  const read = numbers.map((text, index) => {
    const number = readPhoneNumber(text, region ?? null);
    if (number.ok) return number.e164;
    throw new ProblemError(422, 'number', `Number ${index + 1} of ${numbers.length} cannot be used: ${number.hint}.`);
  });
  return [...new Set(read)];
}

function readCursor(text: string): { e164: string; scope: string } {
  const [e164 = '', scope = ''] = text.split(' ');
  return { e164, scope };
}

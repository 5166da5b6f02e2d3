import type { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import {
  addToDoNotCall,
  checkDoNotCall,
  importDoNotCall,
  readNumbers,
  removeFromDoNotCall,
} from '../../control/suppress.ts';
import { withInstants } from '../../input/with-instants.ts';
import { accountScope, listSuppressions } from '../../ledger/rows/suppressions.ts';
import { holderOf, type Api } from '../core/app.ts';
import { makeChange } from '../core/changes.ts';
import type { ApiContext } from '../core/context.ts';
import { withoutFolder, withUploads } from '../core/uploads.ts';
import { keyHeaders, refusals } from '../schemas/common.ts';
import {
  addedSuppressions,
  addSuppressionsBody,
  checkedNumbers,
  checkSuppressionsBody,
  importedSuppressions,
  importSuppressionsQuery,
  removedSuppressions,
  removeSuppressionsBody,
  suppressionPage,
  suppressionQuery,
} from '../schemas/suppressions.ts';

const path = '/api/v1/suppressions';
const tags = ['do-not-call'];
const mostBadLines = 20;

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
        response: { 200: suppressionPage, ...refusals(404) },
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
      return withInstants({ suppressions: found, next }) as z.input<typeof suppressionPage>;
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
        response: { 200: addedSuppressions, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { numbers, region, campaign, reason, expiresAt } = request.body;
      const terms = {
        campaign,
        reason,
        expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
        by: holderOf(request).name,
      };
      const work = () => addToDoNotCall(context, readNumbers(numbers, region), terms);
      return makeChange(context, {
        request,
        reply,
        action: 'suppressions_added',
        campaignId: campaign ?? accountScope,
        sent: { body: request.body },
        work,
      });
    },
  );

  app.post(
    `${path}/import`,
    {
      config: { role: 'operate', files: ['numbers'] },
      schema: {
        operationId: 'importSuppressions',
        tags,
        summary: 'Put the numbers of a file on the do-not-call list, all of them or none',
        description: 'CSV or a workbook, of any length. Lines that are no number are left out and counted.',
        consumes: ['multipart/form-data'],
        headers: keyHeaders,
        querystring: importSuppressionsQuery,
        response: { 200: importedSuppressions, ...refusals(404, 409, 413, 415, 422) },
      },
    },
    async (request, reply) =>
      withUploads(request, ['numbers'], async ({ folder, paths, hashes }) => {
        const { region, column, campaign, expires_at: expiresAt } = request.query;
        const terms = { campaign, expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) };
        const work = async () => {
          const badLines: number[] = [];
          const file = {
            path: paths.numbers,
            name: holderOf(request).name,
            region,
            column,
            onBad: (line: number) => void (badLines.length < mostBadLines && badLines.push(line)),
            onProgress: () => {},
          };
          const counts = await importDoNotCall(context, file, terms).catch((error: unknown) => {
            throw withoutFolder(error, folder);
          });
          return { ...counts, badLines };
        };
        return makeChange(context, {
          request,
          reply,
          action: 'suppressions_imported',
          campaignId: campaign ?? accountScope,
          sent: { files: hashes, query: request.query },
          work,
        });
      }),
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
        response: { 200: removedSuppressions, ...refusals(404, 409, 422) },
      },
    },
    async (request, reply) => {
      const { numbers, region, campaign } = request.body;
      const work = async () => {
        if (campaign !== undefined) await requireCampaign(store, campaign);
        const { removed, unknown } = await removeFromDoNotCall(context, readNumbers(numbers, region), campaign);
        return { removed, unknown };
      };
      return makeChange(context, {
        request,
        reply,
        action: 'suppressions_removed',
        campaignId: campaign ?? accountScope,
        sent: { body: request.body },
        work,
      });
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
          200: checkedNumbers,
          ...refusals(422),
        },
      },
    },
    async ({ body }) => {
      const { numbers } = await checkDoNotCall(context, readNumbers(body.numbers, body.region));
      return withInstants({ numbers }) as z.input<typeof checkedNumbers>;
    },
  );
}

function readCursor(text: string): { e164: string; scope: string } {
  const [e164 = '', scope = ''] = text.split(' ');
  return { e164, scope };
}

import { Readable } from 'node:stream';
import { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { withInstants } from '../../input/with-instants.ts';
import { readCampaignReport } from '../../ledger/read/campaign-report.ts';
import {
  everyResult,
  readResultKeys,
  readResults,
  type RecipientResult,
  type ResultFilter,
} from '../../ledger/read/result-rows.ts';
import { renderHtmlReport } from '../../report/html-report.ts';
import { readReportData } from '../../report/read-report.ts';
import { renderResults } from '../../results/file.ts';
import { resultsAsJson } from '../../results/text.ts';
import type { Api } from '../core/app.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { ProblemError } from '../core/problem.ts';
import { noteNumbersShown } from '../core/shown-numbers.ts';
import { campaignParams, refusals } from '../schemas/common.ts';
import {
  htmlReportQuery,
  report,
  resultPage,
  resultPageQuery,
  resultsParams,
  resultsQuery,
} from '../schemas/hand-on.ts';

const types = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
} as const;

/** Results and report, to hand on. */
export function handOnRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  app.get(
    '/api/v1/campaigns/:campaign/report',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'showReport',
        tags: ['insight'],
        summary: 'Count rows and calls by outcome, disposition, attempt, time, zone, caller and collected value',
        description: 'As carillon report --json prints it, funnel and course included.',
        params: campaignParams,
        response: { 200: report, ...refusals(404) },
      },
    },
    async ({ params }) => {
      const campaign = await requireCampaign(store, params.campaign);
      return withInstants(await readCampaignReport(store, campaign, await serviceNow(context))) as z.input<
        typeof report
      >;
    },
  );

  app.get(
    '/api/v1/campaigns/:campaign/report.html',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'downloadReport',
        tags: ['insight'],
        summary: 'Download the report as one HTML file with charts and proof, as carillon report --html writes it',
        description:
          'The judge reads the log, and asks the service nothing. With people, which takes the role operate and is written to the log, ' +
          'it holds the first rows of each list with their numbers.',
        params: campaignParams,
        querystring: htmlReportQuery,
        produces: ['text/html'],
        response: { 200: z.any().meta({ description: 'The file.' }), ...refusals(404, 422) },
      },
    },
    async (request, reply) => {
      const { params, query } = request;
      const campaigns = [];
      for (const id of new Set([params.campaign, ...(query.with ?? [])]))
        campaigns.push(await requireCampaign(store, id));
      if (query.people) for (const { campaignId } of campaigns) await noteNumbersShown(context, request, campaignId);
      const now = await serviceNow(context);
      const data = await readReportData(store, { campaigns, now, people: query.people, verify: {} });
      const name = campaigns.length === 1 ? (campaigns[0]?.campaignId ?? '') : 'campaigns';
      return reply
        .type('text/html; charset=utf-8')
        .header('content-disposition', `attachment; filename="${name}-report.html"`)
        .send(renderHtmlReport(data));
    },
  );

  app.get(
    '/api/v1/campaigns/:campaign/results',
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'listResults',
        tags: ['insight'],
        summary: 'Read what came of each row, page by page',
        description: 'The rows hold the numbers of the list, so this takes the role operate and is written to the log.',
        params: campaignParams,
        querystring: resultPageQuery,
        response: { 200: resultPage, ...refusals(404) },
      },
    },
    async (request) => {
      const { campaignId, rules } = await requireCampaign(store, request.params.campaign);
      await noteNumbersShown(context, request, campaignId);
      const { after, limit } = request.query;
      const rows: RecipientResult[] = [];
      for await (const row of readResults(store.db, campaignId, { ...filterOf(request.query), afterRow: after })) {
        rows.push(row);
        if (rows.length === limit) break;
      }
      const next = rows.length < limit ? null : (rows.at(-1)?.row ?? null);
      return { rows: resultsAsJson(rows, rules.list), next } as z.input<typeof resultPage>;
    },
  );

  app.get(
    '/api/v1/campaigns/:campaign/results.:format',
    {
      config: { role: 'operate' },
      schema: {
        operationId: 'downloadResults',
        tags: ['insight'],
        summary: 'Download every row of the list with what came of it, as carillon results writes it',
        description:
          'The rows hold the numbers of the list, so this takes the role operate and is written to the log. In CSV the cells of the list ' +
          'are as they were read: ask with safe_cells where somebody opens it in a spreadsheet.',
        params: resultsParams,
        querystring: resultsQuery,
        produces: Object.values(types),
        response: { 200: z.any().meta({ description: 'The file.' }), ...refusals(404, 422) },
      },
    },
    async (request, reply) => {
      const { params, query } = request;
      const { safe_cells: safeCells, bom } = query;
      if (params.format !== 'csv' && (safeCells || bom))
        throw new ProblemError(
          422,
          'csv_only',
          `safe_cells and bom are for CSV; ask for results.${params.format} without.`,
        );
      const campaign = await requireCampaign(store, params.campaign);
      const { campaignId } = campaign;
      await noteNumbersShown(context, request, campaignId);
      const { collected, evaluation } = await readResultKeys(store.db, campaignId);
      const filter = filterOf(query);
      const table = {
        columns: campaign.rules.list.columns,
        collectedKeys: collected,
        evaluationKeys: evaluation,
        format: params.format,
        csv: { safeCells, bom },
      };
      return reply
        .type(types[params.format])
        .header('content-disposition', `attachment; filename="${campaignId}-results.${params.format}"`)
        .send(Readable.from(renderResults(readResults(store.db, campaignId, filter), table)));
    },
  );
}

function filterOf({ outcome, since }: Pick<z.output<typeof resultsQuery>, 'outcome' | 'since'>): ResultFilter {
  return {
    ...everyResult,
    outcomes: outcome ?? null,
    changedSince: since === undefined ? null : Date.parse(since),
  };
}

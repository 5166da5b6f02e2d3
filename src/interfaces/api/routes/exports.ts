import { serviceNow } from '../../../operations/runs/run.ts';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { requireCampaign } from '../../../operations/control/ledger.ts';
import { withInstants } from '../../../shared/input/times.ts';
import { readResultColumns, readResults, type RecipientResult, type ResultFilter } from '../../../ledger/read/result-rows.ts';
import type { Answer } from '../../../operations/list.ts';
import { resultTypes, type whichResults } from '../../../operations/insight.ts';
import { resultsAsJson } from '../../../presentation/results/text.ts';
import { type Api, type ApiContext } from '../core/app.ts';
import { serve } from '../core/serve.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { noteNumbersShown } from '../core/shown.ts';

/** Exports: results and reports. */
export function handOnRoutes(app: Api, context: ApiContext): void {
  const { store, aside: background } = context;
  serve(app, 'showReport', async ({ params }) => {
    const campaign = await requireCampaign(store, params.campaign);
    return withInstants(await background.work('report', campaign, await serviceNow(context)));
  });

  serve(app, 'downloadReport', async (request, reply) => {
    const { params, query } = request;
    const campaigns = [];
    for (const id of new Set([params.campaign, ...(query.with ?? [])])) campaigns.push(await requireCampaign(store, id));
    if (query.people) for (const { campaignId } of campaigns) await noteNumbersShown(context, request, campaignId);
    const now = await serviceNow(context);
    const report = await background.work('htmlReport', { campaigns, now, people: query.people });
    const name = campaigns.length === 1 ? (campaigns[0]?.campaignId ?? '') : 'campaigns';
    return reply.type('text/html; charset=utf-8').header('content-disposition', `attachment; filename="${name}-report.html"`).send(report);
  });

  serve(app, 'listResults', async (request) => {
    const { campaignId, rules } = await requireCampaign(store, request.params.campaign);
    await noteNumbersShown(context, request, campaignId);
    const { after, limit } = request.query;
    const rows: RecipientResult[] = [];
    for await (const row of readResults(store.db, campaignId, { ...filterOf(request.query), afterRow: after })) {
      rows.push(row);
      if (rows.length === limit) break;
    }
    const next = rows.length < limit ? null : (rows.at(-1)?.row ?? null);
    return { rows: resultsAsJson(rows, rules.list), next } as Answer<'listResults'>;
  });

  serve(app, 'downloadResults', async (request, reply) => {
    const { params, query } = request;
    const { safe_cells: safeCells, bom } = query;
    if (params.format !== 'csv' && (safeCells || bom))
      throw new ProblemError(422, 'csv_only', `safe_cells and bom are for CSV; ask for results.${params.format} without.`);
    const campaign = await requireCampaign(store, params.campaign);
    const { campaignId } = campaign;
    await noteNumbersShown(context, request, campaignId);
    const filter = filterOf(query);
    const table = { ...(await readResultColumns(store.db, campaign)), format: params.format, csv: { safeCells, bom } };
    return reply
      .type(resultTypes[params.format])
      .header('content-disposition', `attachment; filename="${campaignId}-results.${params.format}"`)
      .send(Readable.from(background.stream('results', campaignId, filter, table)));
  });
}

function filterOf({ outcome, result, since }: z.output<typeof whichResults>): ResultFilter {
  return { outcomes: outcome, results: result, changedSince: since === undefined ? undefined : Date.parse(since) };
}

import type { z } from 'zod';
import { requireCampaign } from '../../control/ledger.ts';
import { maskedNumber } from '../../input/masked-number.ts';
import { withInstants } from '../../input/with-instants.ts';
import { readCampaignRows, type RowQuery } from '../../ledger/read/campaign-rows.ts';
import type { Api } from '../core/app.ts';
import { serviceNow, type ApiContext } from '../core/context.ts';
import { campaignParams, refusals } from '../schemas/common.ts';
import { noteNumbersShown } from '../core/shown-numbers.ts';
import { rowPage, rowQuery } from '../schemas/rows.ts';

/** Rows of a list. */
export function rowRoutes(app: Api, context: ApiContext): void {
  const { store } = context;
  app.get(
    '/api/v1/campaigns/:campaign/rows',
    {
      config: { role: 'read' },
      schema: {
        operationId: 'listRows',
        tags: ['rows'],
        summary: 'List or search the rows of a campaign, in file order',
        params: campaignParams,
        querystring: rowQuery,
        response: { 200: rowPage, ...refusals(404) },
      },
    },
    async (request) => {
      const { params, query } = request;
      const { campaignId } = await requireCampaign(store, params.campaign);
      if (query.numbers === 'shown') await noteNumbersShown(context, request, campaignId);
      const wanted: RowQuery = {
        afterRow: query.after,
        limit: query.limit,
        ...(query.state === undefined ? {} : { states: query.state }),
        ...(query.outcome === undefined ? {} : { outcomes: query.outcome }),
        ...(query.reason === undefined ? {} : { reasons: query.reason }),
        ...(query.waiting_for === undefined ? {} : { waitingFor: query.waiting_for }),
        ...(query.search === undefined ? {} : { search: query.search }),
      };
      const found = await readCampaignRows(store.db, campaignId, wanted, await serviceNow(context));
      const rows = found.map((row) =>
        query.numbers === 'shown' || row.e164 === null ? row : { ...row, e164: maskedNumber(row.e164) },
      );
      const next = found.length < query.limit ? null : (found.at(-1)?.row ?? null);
      return withInstants({ rows, next }) as z.input<typeof rowPage>;
    },
  );
}

import { requireCampaign } from '../control/ledger.ts';
import { addToDoNotCall, checkDoNotCall, readNumbers, removeFromDoNotCall } from '../control/suppress.ts';
import { withInstants } from '../../shared/input/times.ts';
import { accountScope, listSuppressions } from '../../ledger/rows/suppressions.ts';
import type { Runs } from './run.ts';

const log = (_doing: unknown, { body }: { body: { campaign?: string | undefined } }) => body.campaign ?? accountScope;

/** How the do-not-call list is read and changed, but for files of numbers. */
export const suppressionRuns: Runs<'listSuppressions' | 'addSuppressions' | 'removeSuppressions' | 'checkSuppressions'> = {
  listSuppressions: {
    run: async ({ store }, { query: { campaign, after, limit } }) => {
      const scope = campaign === undefined ? null : (await requireCampaign(store, campaign)).campaignId;
      const [e164 = '', afterScope = ''] = after?.split(' ') ?? [];
      const cursor = after === undefined ? null : { e164, scope: afterScope };
      const found = await listSuppressions(store.db, { scope, after: cursor, limit });
      const last = found.length < limit ? undefined : found.at(-1);
      const next = last === undefined ? null : `${last.e164} ${last.scope}`;
      return withInstants({ suppressions: found, next });
    },
  },
  addSuppressions: {
    action: 'suppressions_added',
    log,
    run: async (doing, { body: { numbers, region, campaign, reason, expiresAt } }) =>
      addToDoNotCall(doing, readNumbers(numbers, region), {
        campaign,
        reason,
        expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
        by: doing.by ?? undefined,
      }),
  },
  removeSuppressions: {
    action: 'suppressions_removed',
    log,
    run: async (doing, { body: { numbers, region, campaign } }) => {
      if (campaign !== undefined) await requireCampaign(doing.store, campaign);
      const { removed, unknown } = await removeFromDoNotCall(doing, readNumbers(numbers, region), campaign);
      return { removed, unknown };
    },
  },
  checkSuppressions: {
    run: async (doing, { body }) => {
      const { numbers } = await checkDoNotCall(doing, readNumbers(body.numbers, body.region));
      return withInstants({ numbers });
    },
  },
};

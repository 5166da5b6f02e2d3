import { rowRuns } from './rows.ts';
import { steerRuns } from './steer.ts';
import { requireCampaign } from '../control/ledger.ts';
import { addToDoNotCall, checkDoNotCall, readCallees, readNumbers, removeFromDoNotCall } from '../control/suppress.ts';
import { withInstants } from '../../shared/input/times.ts';
import { listSuppressions } from '../../ledger/rows/suppressions.ts';
import type { Taken } from '../list.ts';
import { runsOf, type Doing, type Done } from './run.ts';
import {
  continueSchedule,
  deleteSchedule,
  describeSchedule,
  fireSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
} from '../control/schedules/schedules.ts';
import { endToken, makeToken, readTokens } from '../control/tokens.ts';
import { addWebhook, pauseOrResumeWebhook, pingWebhook, removeWebhook, requireWebhook, type ChangedWebhook } from '../control/webhooks.ts';
import { findWebhook } from '../../ledger/webhooks/registry.ts';
import { listWithWaiting, type WebhookWithWaiting } from '../../ledger/webhooks/waiting.ts';
import { webhookAsJson } from '../../presentation/words/hooks.ts';

const suppressionRuns = runsOf({
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
    run: async (doing, { body: { numbers, person, region, campaign, purpose, reason, expiresAt } }) =>
      addToDoNotCall(doing, await readCallees(doing, { numbers, person, region }), {
        campaign,
        purpose,
        reason,
        expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
        source: doing.source,
      }),
  },
  removeSuppressions: {
    run: async (doing, { body: { numbers, region, campaign, purpose, consentedAt } }) => {
      const newer = consentedAt === undefined ? undefined : Date.parse(consentedAt);
      const terms = { campaign, purpose, consentedAt: newer };
      return removeFromDoNotCall(doing, readNumbers(numbers, region), terms);
    },
  },
  checkSuppressions: {
    run: async (doing, { body }) => {
      const { numbers } = await checkDoNotCall(doing, readNumbers(body.numbers, body.region));
      return withInstants({ numbers });
    },
  },
});

const noted = (change: typeof pauseSchedule) => ({
  run: async (doing: Doing, { campaign, body }: Taken<'pauseSchedule'>) => {
    const { view, wasPaused, noteBefore } = await change(doing, campaign, body?.note);
    return { ...view, wasPaused, noteBefore };
  },
});

const scheduleRuns = runsOf({
  listSchedules: { run: async (doing) => ({ schedules: await listSchedules(doing) }) },
  readSchedule: { run: (doing, { campaign }) => describeSchedule(doing, campaign) },
  pauseSchedule: noted(pauseSchedule),
  resumeSchedule: noted(resumeSchedule),
  triggerSchedule: { run: async (doing, { campaign }) => withInstants(await fireSchedule(doing, campaign)) },
  continueSchedule: { run: (doing, { campaign }) => continueSchedule(doing, campaign) },
  deleteSchedule: { run: async (doing, { campaign }) => ({ campaignId: campaign, ...(await deleteSchedule(doing, campaign)) }) },
});

const show = (webhook: WebhookWithWaiting) => withInstants(webhookAsJson(webhook));
const showChange = ({ webhook, notice }: ChangedWebhook) => ({ ...show(webhook), notice });

/** A webhook is logged with its campaign. */
const webhookLog = async ({ store }: Doing, { webhook }: { webhook: string }) =>
  (await findWebhook(store.db, webhook))?.campaignId ?? 'account';

const wished = (wish: 'pause' | 'resume'): Done<'pauseWebhook'> => ({
  log: webhookLog,
  run: async (doing, { webhook }) => showChange(await pauseOrResumeWebhook(doing, webhook, { wish, by: doing.source })),
});

const webhookRuns = runsOf({
  listWebhooks: { run: async ({ store }) => ({ webhooks: (await listWithWaiting(store.db)).map(show) }) },
  addWebhook: {
    // `onceId`: a repetition after a crash makes no second webhook.
    run: async (doing, { body: { url, campaign = null, types = null } }) =>
      showChange(await addWebhook(doing, { url, campaign, types, webhookId: doing.onceId, by: doing.source })),
  },
  readWebhook: { run: async (doing, { webhook }) => show(await requireWebhook(doing, webhook)) },
  removeWebhook: { log: webhookLog, run: async (doing, { webhook }) => show(await removeWebhook(doing, webhook, { by: doing.source })) },
  pauseWebhook: wished('pause'),
  resumeWebhook: wished('resume'),
  testWebhook: {
    run: async (doing, { webhook }) => {
      const result = await pingWebhook(doing, webhook);
      return result.delivered ? { delivered: true, status: null, why: null } : result;
    },
  },
});

const tokenRuns = runsOf({
  listTokens: { run: readTokens },
  createToken: {
    kept: (answer) => ({ ...answer, token: null }),
    run: (doing, { body }) => makeToken(doing, { ...body, tokenId: doing.onceId }),
  },
  revokeToken: { run: (doing, { token }) => endToken(doing, token) },
});

/** All operations but those that read campaign files, which load slowly. */
export const quickRuns = { ...steerRuns, ...rowRuns, ...suppressionRuns, ...scheduleRuns, ...webhookRuns, ...tokenRuns };

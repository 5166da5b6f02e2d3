import { rowRuns } from './rows.ts';
import { steerRuns } from './steer.ts';
import { requireCampaign } from '../control/ledger.ts';
import { addToDoNotCall, checkDoNotCall, readRecipientNumbers, readNumbers, removeFromDoNotCall } from '../control/suppress.ts';
import { withInstants } from '../../shared/input/times.ts';
import { listSuppressions } from '../../ledger/rows/suppressions.ts';
import type { Taken } from '../list.ts';
import { runsOf, type RunContext, type Done } from './run.ts';
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
    run: async (context, { body: { numbers, person, region, campaign, purpose, reason, expiresAt } }) =>
      addToDoNotCall(context, await readRecipientNumbers(context, { numbers, person, region }), {
        campaign,
        purpose,
        reason,
        expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt),
        source: context.source,
      }),
  },
  removeSuppressions: {
    run: async (context, { body: { numbers, region, campaign, purpose, consentedAt } }) => {
      const newer = consentedAt === undefined ? undefined : Date.parse(consentedAt);
      const terms = { campaign, purpose, consentedAt: newer };
      return removeFromDoNotCall(context, readNumbers(numbers, region), terms);
    },
  },
  checkSuppressions: {
    run: async (context, { body }) => {
      const { numbers } = await checkDoNotCall(context, readNumbers(body.numbers, body.region));
      return withInstants({ numbers });
    },
  },
});

const noted = (change: typeof pauseSchedule) => ({
  run: async (context: RunContext, { campaign, body }: Taken<'pauseSchedule'>) => {
    const { view, wasPaused, noteBefore } = await change(context, campaign, body?.note);
    return { ...view, wasPaused, noteBefore };
  },
});

const scheduleRuns = runsOf({
  listSchedules: { run: async (context) => ({ schedules: await listSchedules(context) }) },
  readSchedule: { run: (context, { campaign }) => describeSchedule(context, campaign) },
  pauseSchedule: noted(pauseSchedule),
  resumeSchedule: noted(resumeSchedule),
  triggerSchedule: { run: async (context, { campaign }) => withInstants(await fireSchedule(context, campaign)) },
  continueSchedule: { run: (context, { campaign }) => continueSchedule(context, campaign) },
  deleteSchedule: { run: async (context, { campaign }) => ({ campaignId: campaign, ...(await deleteSchedule(context, campaign)) }) },
});

const show = (webhook: WebhookWithWaiting) => withInstants(webhookAsJson(webhook));
const showChange = ({ webhook, notice }: ChangedWebhook) => ({ ...show(webhook), notice });

/** A webhook is logged with its campaign. */
const webhookLog = async ({ store }: RunContext, { webhook }: { webhook: string }) =>
  (await findWebhook(store.db, webhook))?.campaignId ?? 'account';

const pauseOrResume = (command: 'pause' | 'resume'): Done<'pauseWebhook'> => ({
  log: webhookLog,
  run: async (context, { webhook }) => showChange(await pauseOrResumeWebhook(context, webhook, { wish: command, by: context.source })),
});

const webhookRuns = runsOf({
  listWebhooks: { run: async ({ store }) => ({ webhooks: (await listWithWaiting(store.db)).map(show) }) },
  addWebhook: {
    // `onceId`: a repetition after a crash makes no second webhook.
    run: async (context, { body: { url, campaign = null, types = null } }) =>
      showChange(await addWebhook(context, { url, campaign, types, webhookId: context.onceId, by: context.source })),
  },
  readWebhook: { run: async (context, { webhook }) => show(await requireWebhook(context, webhook)) },
  removeWebhook: {
    log: webhookLog,
    run: async (context, { webhook }) => show(await removeWebhook(context, webhook, { by: context.source })),
  },
  pauseWebhook: pauseOrResume('pause'),
  resumeWebhook: pauseOrResume('resume'),
  testWebhook: {
    run: async (context, { webhook }) => {
      const result = await pingWebhook(context, webhook);
      return result.delivered ? { delivered: true, status: null, why: null } : result;
    },
  },
});

const tokenRuns = runsOf({
  listTokens: { run: readTokens },
  createToken: {
    kept: (answer) => ({ ...answer, token: null }),
    run: (context, { body }) => makeToken(context, { ...body, tokenId: context.onceId }),
  },
  revokeToken: { run: (context, { token }) => endToken(context, token) },
});

/** All operations but those that read campaign files, which load slowly. */
export const quickRuns = { ...steerRuns, ...rowRuns, ...suppressionRuns, ...scheduleRuns, ...webhookRuns, ...tokenRuns };

import { createRuns } from './create.ts';
import { rowRuns } from './rows.ts';
import { steerRuns } from './steer.ts';
import { requireCampaign } from '../control/ledger.ts';
import { addToDoNotCall, checkDoNotCall, readCallees, readNumbers, removeFromDoNotCall } from '../control/suppress.ts';
import { withInstants } from '../../shared/input/times.ts';
import { accountScope, listSuppressions } from '../../ledger/rows/suppressions.ts';
import type { Taken } from '../schemas/all.ts';
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

const scopeLog = (_doing: unknown, { body: { campaign } }: { body: { campaign?: string | undefined } }) => campaign ?? accountScope;

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
    action: 'suppressions_added',
    log: scopeLog,
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
    action: 'suppressions_removed',
    log: scopeLog,
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

/** The database need not have the campaign. */
const scheduleLog = (_doing: unknown, { campaign }: { campaign: string }) => campaign;

const noted = (action: string, change: typeof pauseSchedule) => ({
  action,
  log: scheduleLog,
  run: async (doing: Doing, { campaign, body }: Taken<'pauseSchedule'>) => {
    const { view, wasPaused, noteBefore } = await change(doing, campaign, body?.note);
    return { ...view, wasPaused, noteBefore };
  },
});

const scheduleRuns = runsOf({
  listSchedules: { run: async (doing) => ({ schedules: await listSchedules(doing) }) },
  readSchedule: { run: (doing, { campaign }) => describeSchedule(doing, campaign) },
  pauseSchedule: noted('schedule_paused', pauseSchedule),
  resumeSchedule: noted('schedule_resumed', resumeSchedule),
  triggerSchedule: {
    action: 'schedule_triggered',
    log: scheduleLog,
    run: async (doing, { campaign }) => withInstants(await fireSchedule(doing, campaign)),
  },
  continueSchedule: {
    action: 'schedule_continued',
    log: scheduleLog,
    run: (doing, { campaign }) => continueSchedule(doing, campaign),
  },
  deleteSchedule: {
    action: 'schedule_deleted',
    log: scheduleLog,
    run: async (doing, { campaign }) => ({ campaignId: campaign, ...(await deleteSchedule(doing, campaign)) }),
  },
});

const show = (webhook: WebhookWithWaiting) => withInstants(webhookAsJson(webhook));
const showChange = ({ webhook, notice }: ChangedWebhook) => ({ ...show(webhook), notice });
const by = ({ source }: Doing) => ({ by: source });

/** A change of a webhook that is there is told in the log of its campaign. */
const webhookLog = async ({ store }: Doing, { webhook }: { webhook: string }) =>
  (await findWebhook(store.db, webhook))?.campaignId ?? 'account';

const wished = (wish: 'pause' | 'resume'): Done<'pauseWebhook'> => ({
  action: `webhook_${wish}d`,
  log: webhookLog,
  run: async (doing, { webhook }) => showChange(await pauseOrResumeWebhook(doing, webhook, { wish, ...by(doing) })),
});

const webhookRuns = runsOf({
  listWebhooks: { run: async ({ store }) => ({ webhooks: (await listWithWaiting(store.db)).map(show) }) },
  addWebhook: {
    action: 'webhook_added',
    log: (_doing, { body }) => body.campaign ?? 'account',
    run: async (doing, { body: { url, campaign = null, types = null } }) => {
      // A request that is carried out again after its process died makes no second webhook.
      return showChange(await addWebhook(doing, { url, campaign, types, webhookId: doing.onceId, ...by(doing) }));
    },
  },
  readWebhook: { run: async (doing, { webhook }) => show(await requireWebhook(doing, webhook)) },
  removeWebhook: {
    action: 'webhook_removed',
    log: webhookLog,
    run: async (doing, { webhook }) => show(await removeWebhook(doing, webhook, by(doing))),
  },
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
    action: 'token_created',
    log: () => accountScope,
    kept: (answer) => ({ ...answer, token: null }),
    run: (doing, { body }) => makeToken(doing, { ...body, tokenId: doing.onceId }),
  },
  revokeToken: { action: 'token_revoked', log: () => accountScope, run: (doing, { token }) => endToken(doing, token) },
});

/** How operations are carried out, whoever asks for them. */
export const runs = { ...createRuns, ...steerRuns, ...rowRuns, ...suppressionRuns, ...scheduleRuns, ...webhookRuns, ...tokenRuns };

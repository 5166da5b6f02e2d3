import { addWebhook, pauseOrResumeWebhook, pingWebhook, removeWebhook, requireWebhook, type ChangedWebhook } from '../control/webhooks.ts';
import { withInstants } from '../../shared/input/times.ts';
import { findWebhook, listWebhooks, type Webhook } from '../../ledger/webhooks/registry.ts';
import { webhookAsJson } from '../../presentation/words/hooks.ts';
import type { Doing, Run, Runs } from './run.ts';

const show = (webhook: Webhook) => withInstants(webhookAsJson(webhook));
const showChange = ({ webhook, notice }: ChangedWebhook) => ({ ...show(webhook), notice });
const by = ({ by: name }: Doing) => ({ by: name === null ? 'person' : `person:${name}` });

/** A change of a webhook that is there is told in the log of its campaign. */
const log = async ({ store }: Doing, { webhook }: { webhook: string }) => (await findWebhook(store.db, webhook))?.campaignId ?? 'account';

const wished = (wish: 'pause' | 'resume'): Pick<Run<'pauseWebhook'>, 'action' | 'log' | 'run'> => ({
  action: `webhook_${wish}d`,
  log,
  run: async (doing, { webhook }) => showChange(await pauseOrResumeWebhook(doing, webhook, { wish, ...by(doing) })),
});

/** How webhooks are read and changed. */
export const webhookRuns: Runs<
  'listWebhooks' | 'addWebhook' | 'readWebhook' | 'removeWebhook' | 'pauseWebhook' | 'resumeWebhook' | 'testWebhook'
> = {
  listWebhooks: { run: async ({ store }) => ({ webhooks: (await listWebhooks(store.db)).map(show) }) },
  addWebhook: {
    action: 'webhook_added',
    log: (_doing, { body }) => body.campaign ?? 'account',
    run: async (doing, { body: { url, campaign = null, types = null } }) => {
      // A request that is carried out again after its process died makes no second webhook.
      const id = doing.onceId === undefined ? {} : { webhookId: doing.onceId };
      return showChange(await addWebhook(doing, { url, campaign, types, ...id, ...by(doing) }));
    },
  },
  readWebhook: { run: async (doing, { webhook }) => show(await requireWebhook(doing, webhook)) },
  removeWebhook: {
    action: 'webhook_removed',
    log,
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
};

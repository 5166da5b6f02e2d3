import { requireWebhook } from '../../../operations/control/webhooks.ts';
import { webhookEventTypes } from '../../../rules/webhooks/messages.ts';
import { html } from '../../../presentation/html/html.ts';
import type { IconName } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { waitingText, webhookAsJson, webhookStanding } from '../../../presentation/words/hooks.ts';
import { operations } from '../../../operations/list.ts';
import { actionForm, apiCall, type ConsoleAction } from '../core/action.ts';
import { checkboxes, readScope, scopeField, lineField } from '../core/fields.ts';
import { pressView } from '../core/press.ts';

const back = '/webhooks';
const crumbs = [[back, 'Webhooks']] as const;

export const addWebhook: ConsoleAction = {
  path: '/webhooks/add',
  role: operations.addWebhook.role,
  form: async ({ context }, given) => {
    const campaigns = await listCampaigns(context.store.db);
    return {
      title: 'Add a webhook',
      section: 'webhooks',
      crumbs,
      body: html`<section class="panel pad-all stack narrow">
        <p>
          The address is told of what happens from then on, in order, and again until it has taken each event. Requests are signed. Keep an
          address that contains a key in a variable of the workers, as env://CARILLON_URL_NAME.
        </p>
        ${actionForm(given, {
          button: 'Add the webhook',
          back,
          body: html`${lineField(given.fields, { name: 'url', label: 'Address, https', most: 4100, required: true })}
            ${scopeField(
              given.fields,
              campaigns.map(({ campaignId }) => campaignId),
            )}
            <fieldset class="row">
              <legend>Only these events; none chosen: all</legend>
              ${checkboxes(
                given.fields,
                'type',
                webhookEventTypes.map((type) => ({ value: type, label: type })),
              )}
            </fieldset>`,
        })}
      </section>`,
    };
  },
  call: ({ fields }) => {
    const types = fields.getAll('type');
    return {
      ...apiCall('addWebhook'),
      body: { url: fields.get('url')?.trim() ?? '', ...readScope(fields), ...(types.length === 0 ? {} : { types }) },
    };
  },
  done: (_sent, { body }) => ({ to: back, said: `The webhook is added.${noticeOf(body)}` }),
};

interface ActionWords {
  button: string;
  effects: readonly (readonly [drawing: IconName, tone: string, text: string])[];
  said: string;
  danger?: true;
}

const actions: Readonly<Record<'pause' | 'resume' | 'remove' | 'test', ActionWords>> = {
  pause: {
    button: 'Pause this webhook',
    effects: [['pause', 'is-wait', 'Events wait until somebody resumes it, and are sent then: none is lost.']],
    said: 'The webhook is paused.',
  },
  resume: {
    button: 'Resume this webhook',
    effects: [['play', '', 'What was held back is sent at once, in its order.']],
    said: 'The webhook goes on.',
  },
  remove: {
    button: 'Remove this webhook',
    effects: [['stop', 'is-bad', 'What it has not taken yet is not sent, also if it is added again. This cannot be undone.']],
    said: 'The webhook is removed.',
    danger: true,
  },
  test: {
    button: 'Send a ping',
    effects: [
      ['hook', '', 'This server sends it one ping, signed like other requests, which reports nothing, and says whether it was taken.'],
    ],
    said: 'The ping was taken.',
  },
};

export const webhookActions: readonly ConsoleAction[] = (Object.keys(actions) as (keyof typeof actions)[]).map((action) => ({
  path: `/webhooks/:webhook/${action}`,
  role: operations[`${action}Webhook`].role,
  form: async ({ context, params }, given) => {
    const webhook = await requireWebhook(context, params['webhook'] ?? '');
    const { button, effects, danger } = actions[action];
    const untaken = given.answer === null ? null : `The ping was not taken: ${pingText(given.answer)}`;
    return pressView(
      { ...given, refused: given.refused ?? untaken },
      {
        title: `${button}?`,
        section: 'webhooks',
        crumbs,
        back: [back, 'the webhooks'],
        obstacle: null,
        says: null,
        effects,
        keep: 'Leave it as it is',
        standing: [
          ['Address', printable(webhookAsJson(webhook).place)],
          ['State', printable(webhookStanding(webhook, context.now()))],
          ['Campaigns', webhook.campaignId ?? 'all'],
          ['Not taken', waitingText({ ...webhook.waiting, oldestAt: null }, context.now(), null)],
        ],
        button,
        danger,
      },
    );
  },
  call: ({ params }) => apiCall(`${action}Webhook`, params),
  done: (_sent, { body }) =>
    action === 'test' && body['delivered'] !== true ? null : { to: back, said: `${actions[action].said}${noticeOf(body)}` },
}));

function pingText({ status, why }: Record<string, unknown>): string {
  if (typeof why === 'string') return printable(why);
  return `it was answered with status ${String(status)}`;
}

function noticeOf({ notice }: Record<string, unknown>): string {
  return typeof notice === 'string' ? ` ${notice}` : '';
}

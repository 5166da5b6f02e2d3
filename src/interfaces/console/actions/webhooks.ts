import { requireWebhook } from '../../../operations/control/webhooks.ts';
import { webhookEventTypes } from '../../../rules/webhooks/messages.ts';
import { html } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listCampaigns } from '../../../ledger/rows/campaigns.ts';
import { waitingText, webhookAsJson, webhookStatus } from '../../../presentation/words/hooks.ts';
import type { ConsoleAction } from '../core/action.ts';
import { checkboxes, readScope, scopeField, lineField } from '../core/fields.ts';
import type { Effect } from '../core/press.ts';

const to = '/webhooks';
const place = { section: 'webhooks', crumbs: [[to, 'Webhooks']], back: [to, 'the webhooks'] } as const;

const addWebhook: ConsoleAction = {
  path: '/webhooks/add',
  op: 'addWebhook',
  form: async ({ context }, { fields }) => ({
    ...place,
    title: 'Add a webhook',
    says: 'The address is told of what happens from then on, in order, and again until it has taken each event. Requests are signed. Keep an address that contains a key in a variable of the workers, as env://CARILLON_URL_NAME.',
    button: 'Add the webhook',
    body: html`${lineField(fields, { name: 'url', label: 'Address, https', most: 4100, required: true })}
      ${scopeField(
        fields,
        (await listCampaigns(context.store.db)).map(({ campaignId }) => campaignId),
      )}
      <fieldset class="row">
        <legend>Only these events; none chosen: all</legend>
        ${checkboxes(
          fields,
          'type',
          webhookEventTypes.map((type) => ({ value: type, label: type })),
        )}
      </fieldset>`,
  }),
  call: ({ fields }) => {
    const types = fields.getAll('type');
    return { body: { url: fields.get('url')?.trim() ?? '', ...readScope(fields), ...(types.length === 0 ? {} : { types }) } };
  },
  done: () => ({ to, said: 'The webhook is added.' }),
};

type Words = readonly [button: string, effect: Effect, said: string];

const words: Readonly<Record<'pause' | 'resume' | 'remove' | 'test', Words>> = {
  pause: [
    'Pause this webhook',
    ['pause', 'is-wait', 'Events wait until somebody resumes it, and are sent then: none is lost.'],
    'The webhook is paused.',
  ],
  resume: ['Resume this webhook', ['play', '', 'What was held back is sent at once, in its order.'], 'The webhook goes on.'],
  remove: [
    'Remove this webhook',
    ['stop', 'is-bad', 'What it has not taken yet is not sent, also if it is added again. This cannot be undone.'],
    'The webhook is removed.',
  ],
  test: [
    'Send a ping',
    ['hook', '', 'This server sends it one ping, signed like other requests, which reports nothing, and says whether it was taken.'],
    'The ping was taken.',
  ],
};

export const webhookActions: readonly ConsoleAction[] = [
  addWebhook,
  ...(Object.keys(words) as (keyof typeof words)[]).map((action): ConsoleAction => ({
    path: `/webhooks/:webhook/${action}`,
    op: `${action}Webhook`,
    form: async ({ context, params }, { answer }) => {
      const webhook = await requireWebhook(context, params['webhook'] ?? '');
      const [button, effect] = words[action];
      const { why = null, status } = (answer ?? {}) as { why?: string | null; status?: number };
      return {
        ...place,
        title: `${button}?`,
        effects: [effect],
        keep: 'Leave it as it is',
        standing: [
          ['Address', printable(webhookAsJson(webhook).place)],
          ['State', printable(webhookStatus(webhook, context.now()))],
          ['Campaigns', webhook.campaignId ?? 'all'],
          ['Not taken', waitingText({ ...webhook.waiting, oldestAt: null }, context.now(), null)],
        ],
        found:
          answer === null
            ? null
            : html`<p class="refused" role="alert">
                The ping was not taken: ${why === null ? `it was answered with status ${status}` : printable(why)}
              </p>`,
        button,
        danger: action === 'remove',
      };
    },
    done: (_sent, { delivered }) => (action === 'test' && delivered !== true ? null : { to, said: words[action][2] }),
  })),
];

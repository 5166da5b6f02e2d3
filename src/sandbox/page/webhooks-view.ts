import * as ui from '../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import type { Delivery, Subscriber } from '../webhooks/subscriber.ts';
import { factsOf } from '../core/dialects.ts';
import type { WebhookEventType } from '../schemas/webhook.ts';
import { partyOf } from './call-words.ts';
import { table, viewPath, type View, type ViewRequest } from './elements.ts';

const mostDeliveries = 100;
/** Refresh interval in real ms while an answer is awaited. */
const awaitEveryMs = 1_000;

const eventWords: Record<WebhookEventType, string> = {
  post_call_transcription: 'Transcript',
  post_call_audio: 'Recording',
  call_initiation_failure: 'Nobody answered',
};

const stateWords: Record<Delivery['state'], [ui.Tone, string]> = {
  pending: ['wait', 'Pending'],
  delivered: ['good', 'Delivered'],
  failed: ['bad', 'Failed'],
  dropped: ['quiet', 'Dropped'],
};

export function webhooksView({ service, webhooks: all, now, parameter }: ViewRequest): View {
  const webhooks = all.list();
  const selected = webhooks.find(({ webhookId }) => webhookId === parameter('webhook'));
  const deliveries = newestDeliveries(selected === undefined ? webhooks : [selected]);
  const awaited = deliveries.some(({ delivery }) => isAwaited(delivery, service, now));
  return {
    title: 'Webhooks',
    follows: ['request'],
    ...(awaited ? { againMs: awaitEveryMs } : {}),
    body: [
      webhooksPanel(service, webhooks),
      webhooks.length === 0
        ? null
        : ui.panel(
            selected === undefined ? 'Deliveries' : `Deliveries to ${selected.describe().url}`,
            table('Deliveries, the newest first', deliveries.slice(0, mostDeliveries), {
              key: ({ delivery }) => `delivery-${delivery.deliveryId}`,
              columns: deliveryColumns,
              none: ui.empty('Nothing was delivered yet', 'A delivery begins when a call is over and analysed.'),
            }),
            selected === undefined
              ? ui.aside(`The newest ${mostDeliveries} are shown`)
              : ui.link(viewPath('webhooks'), 'Show those of all webhooks'),
          ),
    ],
  };
}

interface Sent {
  webhook: Subscriber;
  delivery: Delivery;
}

function newestDeliveries(webhooks: readonly Subscriber[]): Sent[] {
  return webhooks
    .flatMap((webhook) => webhook.deliveries.map((delivery) => ({ webhook, delivery })))
    .sort((a, b) => b.delivery.event.at - a.delivery.event.at);
}

/** True when its state may change without an event. */
function isAwaited({ state, nextAttemptAt }: Delivery, { clock }: Service, now: number): boolean {
  return state === 'pending' && (clock.speed > 0 || nextAttemptAt === null || nextAttemptAt <= now);
}

function webhooksPanel({ settings }: Service, webhooks: readonly Subscriber[]): Html {
  const described = webhooks.map((webhook) => ({ webhook, ...webhook.describe() }));
  return ui.panel(
    'Webhooks',
    table('Webhooks', described, {
      key: ({ webhook_id: id }) => `webhook-${id}`,
      columns: {
        Address: ({ webhook }) => addressOf(webhook),
        Id: ({ webhook_id: id }) => ui.id(id),
        Events: ({ events }) => events.map((event) => eventWords[event]).join(', '),
        'Pending retries': ({ retries, pending_retries: pending }) => (retries ? ui.figure(String(pending)) : ui.muted('No retries')),
      },
      none: ui.empty(
        'No webhook',
        factsOf(settings).further
          ? html`<code>POST /_sandbox/webhooks</code> with <code>url</code> and <code>secret</code> makes one.`
          : 'The contract has none; the extended dialect has them.',
      ),
    }),
    webhooks.length === 0 ? null : ui.aside(ui.count(webhooks.length, 'webhook')),
  );
}

function addressOf(webhook: Subscriber): Html {
  const path = viewPath('webhooks', { webhook: webhook.webhookId });
  return html`<a class="request-line" href="${path}">${ui.address(webhook.describe().url)}</a>`;
}

const deliveryColumns = {
  Event: ({ delivery: { event, duplicate } }: Sent) => (duplicate ? `${eventWords[event.type]}, sent twice` : eventWords[event.type]),
  State: ({ delivery }: Sent) => ui.badge(...stateWords[delivery.state]),
  Number: ({ delivery }: Sent) => partyOf(delivery.event.call),
  Webhook: ({ webhook }: Sent) => addressOf(webhook),
  Attempts: ({ delivery }: Sent) => attemptsOf(delivery),
  'Next attempt': ({ delivery: { state, nextAttemptAt } }: Sent) => (state === 'pending' ? ui.instant(nextAttemptAt) : ui.muted('None')),
};

function attemptsOf({ attempts, reason, state }: Delivery): HtmlValue {
  if (attempts.length === 0) return ui.muted(reason ?? 'None yet');
  const lines = attempts.map(({ at, status, error }) => {
    const why = error === null ? null : `: ${error}`;
    return html`<li>${ui.instant(at)} <span class="word">${status === null ? 'no answer' : `status ${status}`}</span>${why}</li>`;
  });
  return [
    html`<ol class="attempts">
      ${lines}
    </ol>`,
    state === 'dropped' ? html`<p class="soft">${reason}</p>` : null,
  ];
}

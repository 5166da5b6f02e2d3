import * as ui from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { Service } from '../core/service/service.ts';
import type { Delivery, Subscriber } from '../webhooks/subscriber.ts';
import type { WebhookEventType } from '../schemas/webhook.ts';
import { partyOf } from './call-words.ts';
import { viewPath, type View, type ViewRequest } from './elements.ts';

const mostDeliveries = 100;
/** Real milliseconds between two looks while an answer is awaited. */
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
  const wanted = webhooks.find(({ webhookId }) => webhookId === parameter('webhook'));
  const deliveries = newestDeliveries(wanted === undefined ? webhooks : [wanted]);
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
            wanted === undefined ? 'Deliveries' : `Deliveries to ${wanted.describe().url}`,
            ui.table(
              'Deliveries, the newest first',
              deliveries.slice(0, mostDeliveries).map(deliveryRow),
              ui.empty('Nothing was delivered yet', 'A delivery begins when a call is over and analysed.'),
            ),
            wanted === undefined
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

/** Whether its state may change while no event tells of it. */
function isAwaited({ state, nextAttemptAt }: Delivery, { clock }: Service, now: number): boolean {
  return state === 'pending' && (clock.speed > 0 || nextAttemptAt === null || nextAttemptAt <= now);
}

function webhooksPanel({ settings }: Service, webhooks: readonly Subscriber[]): Html {
  return ui.panel(
    'Webhooks',
    ui.table(
      'Webhooks',
      webhooks.map((webhook) => {
        const { events, retries, pending_retries } = webhook.describe();
        return {
          key: `webhook-${webhook.webhookId}`,
          cells: {
            Address: addressOf(webhook),
            Id: ui.id(webhook.webhookId),
            Events: events.map((event) => eventWords[event]).join(', '),
            'Pending retries': retries ? ui.figure(String(pending_retries)) : ui.muted('No retries'),
          },
        };
      }),
      ui.empty(
        'No webhook',
        settings.dialect === 'spec'
          ? 'The contract has none; the extended dialect has them.'
          : html`<code>POST /_sandbox/webhooks</code> with <code>url</code> and <code>secret</code> makes one.`,
      ),
    ),
    webhooks.length === 0 ? null : ui.aside(ui.count(webhooks.length, 'webhook')),
  );
}

function addressOf(webhook: Subscriber): Html {
  const path = viewPath('webhooks', { webhook: webhook.webhookId });
  return html`<a class="request-line" href="${path}">${ui.address(webhook.describe().url)}</a>`;
}

function deliveryRow({ webhook, delivery }: Sent): ui.Row {
  const { deliveryId, event, duplicate, state, reason, nextAttemptAt, attempts } = delivery;
  return {
    key: `delivery-${deliveryId}`,
    cells: {
      Event: duplicate ? `${eventWords[event.type]}, sent twice` : eventWords[event.type],
      State: ui.badge(...stateWords[state]),
      Number: partyOf(event.call),
      Webhook: addressOf(webhook),
      Attempts:
        attempts.length === 0
          ? ui.muted(reason ?? 'None yet')
          : [
              html`<ol class="attempts">
                ${attempts.map(
                  ({ at, status, error }) =>
                    html`<li>
                      ${ui.instant(at)} <span class="word">${status === null ? 'no answer' : `status ${status}`}</span>${
                        error === null ? null : `: ${error}`
                      }
                    </li>`,
                )}
              </ol>`,
              state === 'dropped' ? html`<p class="soft">${reason}</p>` : null,
            ],
      'Next attempt': state === 'pending' ? ui.instant(nextAttemptAt) : ui.muted('None'),
    },
  };
}

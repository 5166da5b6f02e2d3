import { badge, empty, figure, id, instant, panel, table, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { lastEventSeq } from '../../../ledger/events.ts';
import { listWebhooks, type Webhook } from '../../../ledger/webhooks/registry.ts';
import { webhookAsJson, webhookStanding } from '../../../presentation/words/hooks.ts';
import { webhookPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const tones: Readonly<Record<Webhook['state'], readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  failing: ['bad', 'Failing'],
  paused: ['wait', 'Paused'],
  disabled: ['bad', 'Disabled'],
};

/** Which addresses are told of events, and how their deliveries go. */
export async function webhooksView(request: ViewRequest): Promise<View> {
  const { db } = request.context.store;
  const webhooks = await listWebhooks(db);
  const end = await lastEventSeq(db);
  const mayChange = may(request, 'admin');
  return {
    title: 'Webhooks',
    section: 'webhooks',
    follows: 'all',
    body: panel(
      'Addresses that are notified of events',
      [
        table(
          'Webhooks',
          webhooks.map((webhook) => ({
            key: `webhook-${webhook.webhookId}`,
            cells: cellsOf(webhook, { end, nowReal: request.context.now(), mayChange }),
          })),
          empty(
            'There is no webhook yet',
            mayChange
              ? 'Add the address of a system of yours: it is notified when rows end and campaigns start, pause or end.'
              : 'The role admin can add the address of a system, which is notified when rows end and campaigns change.',
          ),
        ),
        mayChange ? html`<p class="actions"><a class="btn" href="/webhooks/add">Add a webhook</a></p>` : null,
      ],
      html`<p class="aside">Times of this server</p>`,
    ),
  };
}

function cellsOf(
  webhook: Webhook,
  { end, nowReal, mayChange }: { end: number; nowReal: number; mayChange: boolean },
): Record<string, HtmlValue> {
  const { webhookId, state, campaignId, types, cursor, succeededReal } = webhook;
  const { place } = webhookAsJson(webhook);
  const [tone, word] = tones[state];
  const standing = webhookStanding(webhook, nowReal);
  return {
    Address: [html`<div class="named">${printable(place)}</div>`, id(webhookId)],
    State: [badge(tone, word), standing === state ? null : html`<p class="soft">${printable(standing)}</p>`],
    Campaigns: html`<div class="named">${campaignId ?? 'all'}</div>`,
    Events: html`<div class="whole">${types === null ? 'all' : types.join(', ')}</div>`,
    'Last taken': succeededReal === null ? 'never' : instant(succeededReal, 'full'),
    'Lines to go': figure(Math.max(0, end - cursor)),
    ...(mayChange ? { '': buttons(webhook) } : {}),
  };
}

function buttons({ webhookId, state }: Webhook): Html {
  const operations = [
    ['test', 'Test …'],
    state === 'active' || state === 'failing' ? ['pause', 'Pause …'] : ['resume', 'Resume …'],
    ['remove', 'Remove …'],
  ] as const;
  return html`<span class="choices many">
    ${operations.map(([operation, text]) => html`<a class="btn" href="${webhookPath(webhookId, `/${operation}`)}">${text}</a> `)}
  </span>`;
}

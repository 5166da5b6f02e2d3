import { badge, empty, id, instant, linkButton, menu, menuLink, table, two, type Tone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import { listWithWaiting, type WebhookWithWaiting } from '../../../ledger/webhooks/waiting.ts';
import type { Webhook } from '../../../ledger/webhooks/registry.ts';
import { waitingText, webhookAsJson, webhookStatus } from '../../../presentation/words/hooks.ts';
import { webhookPath } from '../core/links.ts';
import { may, type View, type ViewRequest } from '../core/view.ts';

const tones: Readonly<Record<Webhook['state'], readonly [Tone, string]>> = {
  active: ['good', 'Active'],
  failing: ['bad', 'Failing'],
  paused: ['wait', 'Paused'],
  disabled: ['bad', 'Disabled'],
};

export async function webhooksView(request: ViewRequest): Promise<View> {
  const { db } = request.context.store;
  const webhooks = await listWithWaiting(db);
  const mayChange = may(request, 'admin');
  const rows = webhooks.map((webhook) => ({ key: `webhook-${webhook.webhookId}`, cells: cellsOf(webhook, request) }));
  return {
    title: 'Webhooks',
    section: 'webhooks',
    follows: 'all',
    ...(mayChange ? { actions: linkButton('/webhooks/add', 'Add a webhook', 'primary', 'plus') } : {}),
    meta: html`<span>Other systems are told when people are done and campaigns start, pause or end. Requests are signed.</span>`,
    body: html`<section class="panel" aria-label="All webhooks">${table('Webhooks', rows, nothing(mayChange), true)}</section>`,
  };
}

function nothing(mayChange: boolean): Html {
  return html`<div class="pad-all">
    ${empty(
      'There is no webhook yet',
      mayChange
        ? 'Add the address of a system of yours: it is notified when people are done and campaigns start, pause or end.'
        : 'The role admin can add the address of a system, which is notified when people are done and campaigns change.',
    )}
  </div>`;
}

function cellsOf(webhook: WebhookWithWaiting, request: ViewRequest): Record<string, HtmlValue> {
  const { webhookId, state, campaignId, types, waiting, succeededReal } = webhook;
  const { place } = webhookAsJson(webhook);
  const [tone, word] = tones[state];
  const now = request.context.now();
  const status = webhookStatus(webhook, now);
  return {
    Address: two(html`<b class="named whole">${printable(place)}</b>`, id(webhookId)),
    State: two(badge(tone, word), status === state ? null : html`<span class="whole">${printable(status)}</span>`),
    Events: two(types === null ? 'All events' : html`<span class="whole">${types.join(', ')}</span>`, campaignId ?? 'all campaigns'),
    // Real time, which may differ from the service clock.
    'Last taken': two(
      succeededReal === null ? 'never' : instant(succeededReal, request.clock.sandbox ? 'full' : 'minute'),
      waitingText(waiting, now, request.clock),
    ),
    ...(may(request, 'admin') ? { '': actionsOf(webhook, printable(place)) } : {}),
  };
}

function actionsOf({ webhookId, state }: Webhook, place: string): Html {
  const to = (action: string): string => webhookPath(webhookId, `/${action}`);
  return menu(`Actions for ${place}`, [
    menuLink(to('test'), 'Send a test…', { drawing: 'hook', small: 'A signed ping' }),
    state === 'active' || state === 'failing'
      ? menuLink(to('pause'), 'Pause…', { drawing: 'pause', small: 'Events wait, none is lost' })
      : menuLink(to('resume'), 'Resume…', { drawing: 'play' }),
    menuLink(to('remove'), 'Remove…', { drawing: 'x', small: 'What it has not taken is not sent', danger: true }),
  ]);
}

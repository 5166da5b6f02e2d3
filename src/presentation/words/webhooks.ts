import { addressPlace } from '../../shared/hooks/errors.ts';
import { span } from '../../shared/input/figures.ts';
import type { Webhook } from '../../ledger/webhooks/registry.ts';

/** A webhook for programs, before `withInstants`. Of its address only what people may see. */
export function webhookAsJson(webhook: Webhook) {
  const { webhookId, url, campaignId, types, madeBy, madeReal, state, reason, sinceReal } = webhook;
  const { failures, failingSinceReal, succeededReal, failedReal, fault, status } = webhook;
  return {
    webhookId,
    place: addressPlace(url),
    campaign: campaignId,
    types,
    madeBy,
    madeAt: madeReal,
    state,
    reason,
    sinceAt: sinceReal,
    failures,
    failingSinceAt: failingSinceReal,
    succeededAt: succeededReal,
    failedAt: failedReal,
    lastFailure: failedReal === null ? null : { fault: fault ?? 'unknown', status },
  };
}

/** How a webhook stands, for people: `active`, `failing for 3 h: 12 failures, the last one status 500`. */
export function webhookStanding(webhook: Webhook, now: number): string {
  const { state, reason, failures, failingSinceReal, fault, status } = webhook;
  if (state === 'disabled') return `disabled: ${reason ?? 'nobody says why'}`;
  if (state === 'paused') return 'paused';
  if (failingSinceReal === null) return 'active';
  const last = status === null ? (fault ?? 'unknown') : `status ${status}`;
  const tries = failures === 1 ? '1 failure' : `${failures} failures`;
  return `failing for ${span(Math.max(0, now - failingSinceReal))}: ${tries}, the last one ${last.replaceAll('_', ' ')}`;
}

import type { ServiceClock } from '../../service/port/service-clock.ts';
import type { CampaignRules } from '../../rules/campaign-rules.ts';
import { hookPlace, addressPlace } from '../../shared/hooks/errors.ts';
import type { EventData, NewEvent } from '../../rules/events.ts';
import type { HookStatus } from '../../ledger/campaign/hook-standing.ts';
import { plural, span } from '../../shared/input/figures.ts';
import type { Webhook } from '../../ledger/webhooks/registry.ts';
import type { WaitingEvents, WebhookWithWaiting } from '../../ledger/webhooks/waiting.ts';
import { localMinute } from '../../shared/input/times.ts';

const faultWords: Readonly<Record<string, string>> = {
  no_secret: 'CARILLON_HOOK_SECRET is not set for the worker',
  address_refused: 'its address is of this machine or a private network, and CARILLON_HOOK_NETWORKS does not allow it',
  no_connection: 'no connection, or it broke',
  no_tunnel: 'the proxy opens no tunnel to its address',
  timeout: 'no answer in time',
  redirect: 'it answers with a redirect',
  status: 'it refuses or fails',
  too_large: 'its answer is too large',
  unusable: 'its answer cannot be used',
  given_up: 'it was tried for a day',
};

function whyOf({ fault, status }: EventData['hook.failed']): string {
  return `${faultWords[fault] ?? fault}${status == null ? '' : `, status ${status}`}`;
}

type HookEvent = Extract<NewEvent, { type: 'batch.screened' | 'hook.delivered' | 'hook.failed' }>;

export function describeHookEvent(event: HookEvent, batch: string): string | null {
  if (event.type === 'batch.screened') {
    const { refused, later } = event.data;
    const verdictTexts = [...describeCount(refused, 'may not be called'), ...describeCount(later, 'may be called later')];
    return verdictTexts.length === 0 ? null : `${batch}: the pre-dial hook says that ${verdictTexts.join(', and ')}`;
  }
  const [name, what] = event.data.hook === 'on_pause' ? ['pause', 'pause'] : ['completion', 'end'];
  if (event.type === 'hook.delivered') return `the ${name} hook was notified of the ${what}`;
  return event.data.hook === 'pre_dial'
    ? `${batch}: the pre-dial hook (pre_dial.url) does not answer (${whyOf(event.data)}); its recipients are not called until it does`
    : `the ${name} hook (on_${name}.url) could not be notified of the ${what} (${whyOf(event.data)})`;
}

function describeCount(count: number, what: string): string[] {
  return count > 0 ? [`${plural(count, 'recipient')} ${what}`] : [];
}

const notificationWords: Readonly<Record<NonNullable<HookStatus['completion']>, (what: string) => string>> = {
  pending: (what) => `not yet notified of the ${what}; retried for a day`,
  delivered: (what) => `notified of the ${what}`,
  failed: (what) => `could not be notified of the ${what} (see the log of the worker)`,
};

/** `status` lines about a campaign's hooks; none if nothing is pending or failed. */
export function hookLines(
  { silentSince, completion, pause }: HookStatus,
  { preDial, onCompletion, onPause }: Pick<CampaignRules, 'preDial' | 'onCompletion' | 'onPause'>,
  clock: ServiceClock,
  now: number,
): string[] {
  const at = (setting: Parameters<typeof hookPlace>[0], hook: { url: string } | null): string =>
    hook === null ? '' : ` (${hookPlace(setting, hook.url)})`;
  return [
    ...(silentSince === null
      ? []
      : [
          `the pre-dial hook${at('pre_dial', preDial)} has not answered for ${span(Math.max(0, now - clock.atReal(silentSince)))}; nobody is called until it does`,
        ]),
    ...(completion === null ? [] : [`completion hook${at('on_completion', onCompletion)}: ${notificationWords[completion]('end')}`]),
    ...(pause === null ? [] : [`pause hook${at('on_pause', onPause)}: ${notificationWords[pause]('pause')}`]),
  ];
}

/** As JSON, before `withInstants`. */
export function hooksAsJson({ silentSince, completion, pause }: HookStatus): object {
  return { preDialSilentSinceAt: silentSince, completion, pause };
}

/** A webhook as JSON, before `withInstants`. Shows only the public part of its address. */
export function webhookAsJson(webhook: WebhookWithWaiting) {
  const { webhookId, url, campaignId, types, madeBy, madeReal, state, reason, sinceReal } = webhook;
  const { failures, failingSinceReal, succeededReal, failedReal, fault, status, waiting } = webhook;
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
    waiting,
  };
}

/** `active`, or `failing for 3 h: 12 failures, the last one status 500`. */
export function webhookStatus(webhook: Webhook, now: number): string {
  const { state, reason, failures, failingSinceReal, fault, status } = webhook;
  if (state === 'disabled') return `disabled: ${reason ?? 'nobody says why'}`;
  if (state === 'paused') return 'paused';
  if (failingSinceReal === null) return 'active';
  const last = status === null ? (fault ?? 'unknown') : `status ${status}`;
  const tries = failures === 1 ? '1 failure' : `${failures} failures`;
  return `failing for ${span(Math.max(0, now - failingSinceReal))}: ${tries}, the last one ${last.replaceAll('_', ' ')}`;
}

/** `3 events wait, the oldest for 12 min`; without the service's clock: since when. */
export function waitingText({ events, orMore, oldestAt }: WaitingEvents, now: number, clock: ServiceClock | null): string {
  if (events === 0 && !orMore) return 'no event waits';
  const waits = `${orMore ? 'at least ' : ''}${plural(events, 'event')} ${events === 1 ? 'waits' : 'wait'}`;
  if (oldestAt === null) return waits;
  if (clock === null) return `${waits}, the oldest since ${localMinute(new Date(oldestAt).toISOString(), 'UTC')} UTC`;
  return `${waits}, the oldest for ${span(Math.max(0, now - clock.atReal(oldestAt)))}`;
}

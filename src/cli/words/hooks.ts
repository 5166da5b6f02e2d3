import type { ServiceClock } from '../../convai/service-clock.ts';
import type { CampaignRules } from '../../domain/campaign-rules.ts';
import { hookPlace } from '../../hooks/hook-place.ts';
import type { CampaignEvent } from '../../ledger/events.ts';
import type { HookStanding } from '../../ledger/campaign/hook-standing.ts';
import { plural, span } from '../../input/figures.ts';

const faultWords: Readonly<Record<string, string>> = {
  no_secret: 'CARILLON_HOOK_SECRET is not set for the worker',
  no_connection: 'no connection, or it broke',
  timeout: 'no answer in time',
  redirect: 'it answers with a redirect',
  status: 'it refuses or fails',
  too_large: 'its answer is too large',
  unusable: 'its answer cannot be used',
  given_up: 'it was tried for a day',
};

function whyOf(data: Record<string, unknown>): string {
  const status = typeof data['status'] === 'number' ? `, status ${data['status']}` : '';
  const fault = String(data['fault']);
  return `${faultWords[fault] ?? fault}${status}`;
}

/** An event of a hook in words; null when nothing came of it. */
export function tellHook({ type, data = {} }: CampaignEvent, batch: string): string | null {
  const [name, what] = data['hook'] === 'on_pause' ? ['pause', 'pause'] : ['completion', 'end'];
  if (type === 'hook.delivered') return `the ${name} hook was told of the ${what}`;
  if (type === 'hook.failed') {
    return data['hook'] === 'pre_dial'
      ? `${batch}: the pre-dial hook (pre_dial.url) gives no answer (${whyOf(data)}); nobody of it is called until it does`
      : `the ${name} hook (on_${name}.url) could not be told of the ${what} (${whyOf(data)})`;
  }
  const parts = [tellCount(data['refused'], 'may not be called'), tellCount(data['later'], 'may be called later')];
  const told = parts.filter((part) => part !== null);
  return told.length === 0 ? null : `${batch}: the pre-dial hook says that ${told.join(', and ')}`;
}

function tellCount(count: unknown, what: string): string | null {
  return typeof count === 'number' && count > 0 ? `${plural(count, 'recipient')} ${what}` : null;
}

const noticeWords: Readonly<Record<NonNullable<HookStanding['completion']>, (what: string) => string>> = {
  pending: (what) => `not told of the ${what} yet; it is tried for a day`,
  delivered: (what) => `told of the ${what}`,
  failed: (what) => `could not be told of the ${what} (see the log of the worker)`,
};

/** Lines of `status` about the hooks of a campaign; none while there is nothing to tell. */
export function hookLines(
  { silentSince, completion, pause }: HookStanding,
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
          `the pre-dial hook${at('pre_dial', preDial)} has given no answer for ${span(Math.max(0, now - clock.atReal(silentSince)))}; nobody is called until it does`,
        ]),
    ...(completion === null
      ? []
      : [`completion hook${at('on_completion', onCompletion)}: ${noticeWords[completion]('end')}`]),
    ...(pause === null ? [] : [`pause hook${at('on_pause', onPause)}: ${noticeWords[pause]('pause')}`]),
  ];
}

/** The same for programs. */
export function hooksAsJson({ silentSince, completion, pause }: HookStanding): object {
  return { preDialSilentSinceAt: silentSince === null ? null : new Date(silentSince).toISOString(), completion, pause };
}

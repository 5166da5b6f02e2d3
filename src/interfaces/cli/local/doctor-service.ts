import { readProxies, serviceSettings, type Config } from '../../../shared/config.ts';
import { isLoopback } from '../../../rules/service-api.ts';
import type { ServiceDate, ServiceClock } from '../../../service/port/service-clock.ts';
import { NotSentError, RefusedError } from '../../../service/port/errors.ts';
import { connectService, readServiceClock } from '../../../service/registry.ts';
import { fault, ok, reasonOf, warning, type Finding } from './doctor-reach.ts';
import { openExistingLedger } from '../../../operations/control/ledger.ts';
import { listWithWaiting, type WebhookWithWaiting } from '../../../ledger/webhooks/waiting.ts';
import { waitingText, webhookAsJson, webhookStanding } from '../../../presentation/words/hooks.ts';

const limitMs = 5_000;

/** Reachability of the service, whether it takes the key, what it is, and how far apart the clocks are. Reads only. */
export async function checkService(config: Config): Promise<Finding[]> {
  const name = 'Service';
  const url = config.SVC_BASE_URL;
  let clock: ServiceClock;
  try {
    clock = await readServiceClock(url, limitMs, Date.now, readProxies(config));
  } catch (error) {
    return [describeUnreachable(name, url, error)];
  }
  const kind = clock.sandbox
    ? `sandbox, dialect ${clock.dialect ?? 'unknown'}, time x${clock.speed}`
    : 'a real service: calls reach people';
  const reachable = ok(name, `${url} (${kind})`);
  const key = config.SVC_API_KEY;
  if (key === undefined) {
    return [
      reachable,
      fault('API key', 'SVC_API_KEY is not set', 'Set SVC_API_KEY to the key of the service, or of the sandbox that runs there.'),
    ];
  }
  return [reachable, ...(await checkKey(config, key, clock))];
}

function describeUnreachable(name: string, url: string, error: unknown): Finding {
  if (error instanceof NotSentError && isLoopback(new URL(url))) {
    const advice = 'carillon demo and dev start a sandbox of their own; for a worker start carillon sandbox, or set SVC_BASE_URL.';
    return warning(name, `nothing listens at ${url}`, advice);
  }
  return fault(name, `${url} cannot be used: ${reasonOf(error)}`, 'Check SVC_BASE_URL, the network and the proxy.');
}

async function checkKey(config: Config, apiKey: string, clock: ServiceClock): Promise<Finding[]> {
  const name = 'API key';
  try {
    const service = connectService({
      ...serviceSettings(config),
      apiKey,
      timeouts: { connectMs: limitMs, headersMs: limitMs, bodyMs: limitMs },
      retriesAfter429: { reads: 0 },
    });
    const { serviceDate } = await service.records({ pageSize: 1 });
    return [ok(name, 'accepted'), ...(clock.sandbox ? [] : [checkClock(serviceDate)])];
  } catch (error) {
    if (error instanceof RefusedError && (error.status === 401 || error.status === 403)) {
      return [
        fault(
          name,
          `refused by the service with status ${error.status}`,
          'Check SVC_API_KEY, and SVC_API, which says in which header it is sent.',
        ),
      ];
    }
    return [fault(name, `could not be tried: ${reasonOf(error)}`, 'Check SVC_BASE_URL: is it the address of the service?')];
  }
}

/** Beyond this the times of records no longer fit the times of our calls without correction. */
const offsetLimitMs = 30_000;
/** Beyond this nobody is dialled, unless a campaign file allows more (`advanced.clock_tolerance`). */
const toleranceMs = 5 * 60_000;

/** The offset is known to half the round trip, and to the whole second that the header tells. */
export function checkClock(date: ServiceDate | null): Finding {
  const name = 'Clock';
  if (date === null) {
    return warning(
      name,
      'the service sends no Date header of its own',
      "Keep this machine's clock right (NTP): the offset cannot be measured, and records are compared with twice the tolerance.",
    );
  }
  const offsetMs = date.serverMs + 500 - (date.sentAtMs + date.receivedAtMs) / 2;
  const uncertaintyMs = 500 + (date.receivedAtMs - date.sentAtMs) / 2;
  const detail = `${(offsetMs / 1000).toFixed(1)} s from the service's, give or take ${(uncertaintyMs / 1000).toFixed(1)} s`;
  const surelyMs = Math.abs(offsetMs) - uncertaintyMs;
  if (surelyMs <= offsetLimitMs) return ok(name, detail);
  if (surelyMs <= toleranceMs) return warning(name, detail, "Set this machine's clock (NTP): calling hours follow it.");
  return fault(name, detail, "Set this machine's clock (NTP). Nobody is dialled while the two are so far apart.");
}

const name = 'Webhooks';
/** Events leave within seconds: a receiver this late does not keep up. */
const behindAfterMs = 15 * 60_000;

/** Whether each webhook takes its events in time; nothing where there is none. */
export async function checkWebhooks(config: Config, now: number, reading: Promise<WebhookWithWaiting[]>): Promise<Finding[]> {
  const webhooks = await reading;
  if (webhooks.length === 0) return [];
  const clock = await readServiceClock(config.SVC_BASE_URL, limitMs, Date.now, readProxies(config)).catch(() => null);
  const describe = (webhook: WebhookWithWaiting): string =>
    `${webhook.webhookId} (${webhookAsJson(webhook).place}) ${webhookStanding(webhook, now)}, ${waitingText(webhook.waiting, now, clock)}`;
  const isBehind = ({ waiting: { oldestAt } }: WebhookWithWaiting): boolean =>
    oldestAt !== null && clock !== null && now - clock.atReal(oldestAt) >= behindAfterMs;
  const bad = webhooks.filter((webhook) => {
    const { state, failures } = webhook;
    return state === 'disabled' || (state !== 'paused' && (failures > 0 || isBehind(webhook)));
  });
  const [first] = bad;
  if (first === undefined) {
    const held = webhooks.filter(({ state, waiting }) => state === 'paused' && waiting.events > 0);
    return [ok(name, [`${webhooks.length}, none of which fails`, ...held.map(describe)].join('; '))];
  }
  return [
    warning(
      name,
      `${bad.length} of ${webhooks.length}: ${bad.map(describe).join('; ')}`,
      `Nothing is lost while one fails or falls behind. Look at its receiver, which should answer before it does its work, then try: carillon webhook test ${first.webhookId}`,
    ),
  ];
}

/** None where there is no database. */
export async function readWebhooks(config: Config): Promise<WebhookWithWaiting[]> {
  try {
    const store = await openExistingLedger(config);
    try {
      return await listWithWaiting(store.db);
    } finally {
      await store.close();
    }
  } catch {
    // What is wrong with the database is told by those who look at it.
    return [];
  }
}

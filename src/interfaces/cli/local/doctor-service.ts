import { checkCaller, startRefusal } from '../../../campaign/preflight/caller-check.ts';
import { readCampaignFile } from '../../../campaign/file/file.ts';
import { wordRules } from '../../../campaign/file/settings/words.ts';
import { readLookUpProof } from '../../../ledger/campaign/lookup-proof.ts';
import type { WebhookWithWaiting } from '../../../ledger/webhooks/waiting.ts';
import { accountIdOf, withService } from '../../../operations/control/service.ts';
import { waitingText, webhookAsJson, webhookStatus } from '../../../presentation/words/hooks.ts';
import { deniedSettings } from '../../../rules/conversation-override.ts';
import { isLoopback, keyHeaders, serviceApis, type ServiceApi } from '../../../rules/service-api.ts';
import { NotSentError, RefusedError } from '../../../service/port/errors.ts';
import type { ServiceDate } from '../../../service/port/service-clock.ts';
import type { Probe } from '../../../service/registry.ts';
import { readProxies, readVariable, type Config } from '../../../shared/config.ts';
import { addressPlace } from '../../../shared/hooks/errors.ts';
import { resolveCheckedAddress } from '../../../shared/hooks/networks.ts';
import { revealUrl } from '../../../shared/input/kept-url.ts';
import { destinationOf, openTunnel } from '../../../shared/network/connector.ts';
import { proxyFor, readProxy, type Proxy } from '../../../shared/network/proxies.ts';
import { proxyOfTemporal } from '../../../temporal/connection.ts';
import { plural } from '../../../shared/input/figures.ts';
import { instantText } from '../../../shared/input/times.ts';
import { bad, doubtful, good, limitMs, reasonOf, type Around, type Check, type Verdict } from './doctor-check.ts';

const serviceCheck: Check = {
  name: 'Service',
  look: async ({ clock, config: { SVC_BASE_URL: url } }) => {
    try {
      const { sandbox, dialect, speed } = await clock();
      const kind = sandbox ? `sandbox, dialect ${dialect ?? 'unknown'}, time x${speed}` : 'a real service: calls reach people';
      return good(`${url} (${kind})`);
    } catch (error) {
      if (!(error instanceof NotSentError && isLoopback(new URL(url))))
        return bad(`${url} cannot be used: ${reasonOf(error)}`, 'Check SVC_BASE_URL, the network and the proxy.');
      const advice = 'carillon demo and dev start a sandbox of their own; for a worker start carillon sandbox, or set SVC_BASE_URL.';
      return doubtful(`nothing listens at ${url}`, advice);
    }
  },
};

/** Whether the service accepts the key; no finding if it does not respond. */
const keyCheck: Check = {
  name: 'API key',
  look: async ({ clock, records, config: { SVC_API_KEY: key } }) => {
    if ((await clock().catch(() => null)) === null) return null;
    const setIt = 'Set SVC_API_KEY to the key of the service, or of the sandbox that runs there.';
    if (key === undefined) return bad('SVC_API_KEY is not set', setIt);
    try {
      await records();
      return good('accepted');
    } catch (error) {
      if (!(error instanceof RefusedError && (error.status === 401 || error.status === 403)))
        return bad(`could not be tried: ${reasonOf(error)}`, 'Check SVC_BASE_URL: is it the address of the service?');
      const advice = 'Check SVC_API_KEY, and SVC_API, which says in which header it is sent.';
      return bad(`refused by the service with status ${error.status}`, advice);
    }
  },
};

/** Offset from the service's clock; no finding for a sandbox, or if the key or the service is at fault. */
const clockCheck: Check = {
  name: 'Clock',
  ifItFails: null,
  look: async ({ clock, records, config: { SVC_API_KEY: key } }) =>
    (await clock()).sandbox || key === undefined ? null : evaluateClock((await records()).serviceDate),
};

/** Beyond this, record times no longer match call times without correction. */
const offsetLimitMs = 30_000;
/** Beyond this, no call is placed unless a campaign file allows more (`advanced.clock_tolerance`). */
const toleranceMs = 5 * 60_000;

/** Accurate to half the round trip, and to the header's whole seconds. */
export function evaluateClock(date: ServiceDate | null): Verdict {
  if (date === null) {
    return doubtful(
      'the service sends no Date header of its own',
      "Keep this machine's clock right (NTP): the offset cannot be measured, and records are compared with twice the tolerance.",
    );
  }
  const offsetMs = date.serverMs + 500 - (date.sentAtMs + date.receivedAtMs) / 2;
  const uncertaintyMs = 500 + (date.receivedAtMs - date.sentAtMs) / 2;
  const detail = `${(offsetMs / 1000).toFixed(1)} s from the service's, give or take ${(uncertaintyMs / 1000).toFixed(1)} s`;
  const surelyMs = Math.abs(offsetMs) - uncertaintyMs;
  if (surelyMs <= offsetLimitMs) return good(detail);
  if (surelyMs <= toleranceMs) return doubtful(detail, "Set this machine's clock (NTP): calling hours follow it.");
  return bad(detail, "Set this machine's clock (NTP). Nobody is dialled while the two are so far apart.");
}

/** Which proxy serves what, and whether it tunnels to hooks; no finding without a proxy. */
const proxyCheck: Check = {
  name: 'Proxy',
  ifItFails: 'Correct the variable, or unset it.',
  look: async ({ config, campaignPath, webhooks }) => {
    const proxies = readProxies(config);
    const { http, https } = proxies;
    if (http === null && https === null) return null;
    const service = new URL(config.SVC_BASE_URL);
    const used = [
      `the service: ${placeOf(await proxyFor(destinationOf(service.protocol, service.hostname, service.port), proxies))}`,
      `Temporal: ${placeOf(config.TEMPORAL_ADDRESS === undefined ? null : await proxyOfTemporal(config))}`,
      `hooks, webhooks and lists elsewhere: ${placeOf(https === null ? null : readProxy(https))}${proxies.except === '' ? '' : ', but for NO_PROXY'}`,
    ];
    const settings =
      campaignPath === null
        ? null
        : await readCampaignFile(campaignPath).then(
            (file) => file.settings,
            () => null,
          );
    const hooks = [settings?.pre_dial, settings?.on_completion, settings?.on_pause];
    const urls = new Set([...(await webhooks()), ...hooks].flatMap((hook) => hook?.url ?? []));
    const unreached = await Promise.all([...urls].map((url) => checkHook(config, url)));
    return [good(used.join('; ')), ...unreached.flat()];
  },
};

function placeOf(proxy: Proxy | null): string {
  return proxy === null ? 'none' : `${proxy.place} (${proxy.variable})`;
}

async function checkHook(config: Config, kept: string): Promise<Verdict[]> {
  try {
    const url = new URL(await revealUrl(kept, readVariable));
    const destination = destinationOf(url.protocol, url.hostname, url.port);
    const proxy = await proxyFor(destination, readProxies(config));
    if (proxy === null) return [];
    const hostname = await resolveCheckedAddress(destination.hostname, config.CARILLON_HOOK_NETWORKS);
    (await openTunnel(proxy, { ...destination, hostname }, limitMs)).destroy();
    return [];
  } catch (error) {
    const advice =
      'Let the proxy open tunnels (CONNECT) to addresses, or write the host into NO_PROXY. Until then nothing is sent there, and with a pre-dial hook nobody is called.';
    return [doubtful(`no way to ${addressPlace(kept)}: ${reasonOf(error)}`, advice)];
  }
}

const placed: Readonly<Record<ServiceApi, string>> = {
  contract: 'operation 14',
  'batch-calling': 'batch calling',
  campaigns: 'outbound campaigns',
};

/** No finding without a key, or without a service to query. */
const interfaceCheck: Check = {
  name: 'Interface',
  look: async ({ probes, config: { SVC_API: api } }) => {
    const found = await probes();
    return found === null ? null : evaluateInterface(api, found);
  },
};

async function answers({ probes, config: { SVC_API: api } }: Around): Promise<boolean> {
  return (await probes())?.[api] === 'answers';
}

/** Verdict on the configured interface; null: the key's check covers it. */
export function evaluateInterface(own: ServiceApi, probes: Readonly<Record<ServiceApi, Probe>>): Verdict | null {
  const others = serviceApis.filter((api) => api !== own && probes[api] === 'answers');
  const advice = others.length === 0 ? 'Check SVC_BASE_URL and SVC_API.' : `Set ${others.map((api) => `SVC_API=${api}`).join(' or ')}.`;
  const header = others[0] === undefined ? keyHeaders[own] : keyHeaders[others[0]];
  const otherHeader = header === keyHeaders[own] ? '' : `, and wants the key as ${header}`;
  switch (probes[own]) {
    case 'answers':
      return good(`${own}: ${placed[own]} answers`);
    case 'not_there':
      return bad(`this service has no ${placed[own]} (SVC_API=${own})${otherHeader}`, advice);
    case 'not_permitted':
      return bad(`the key may not use ${placed[own]} (403)`, 'Give the key that right, and accept the terms of calls in batches.');
    case 'key_refused':
      if (header === keyHeaders[own]) return null;
      return bad(`the service wants the key as ${header}, not as ${keyHeaders[own]}`, advice);
    case 'unclear':
      return doubtful(`it is not known whether this service has ${placed[own]}`, 'Try again, and look at what the service answers.');
  }
}

const correctIt = 'Correct what is named, then run carillon doctor again.';

/** Whether agent and caller numbers of the campaign file exist, and calls may have the settings it sends. */
const campaignCheck: Check = {
  name: 'Campaign',
  ifItFails: correctIt,
  look: async (around) => {
    const { campaignPath: path, config } = around;
    if (path === null || !(await answers(around))) return null;
    return withService(config, async (service) => {
      const { settings } = await readCampaignFile(path);
      const { agent_id: agentId, from_phone_number_id: numbers, caller_choice: choice } = settings;
      const check = await checkCaller(service, { agentId, callers: { numbers, choice }, ...wordRules(settings) });
      const refusal = startRefusal(check);
      if (refusal !== null) return bad(refusal, 'carillon run refuses the campaign until then.');
      return good(`agent ${agentId} and ${plural(check.numbers.length, 'caller number')} are there, and calls may have what it sends`);
    });
  },
};

const mostAgents = 20;

/** Agents and numbers of the account, without a campaign file. */
const agentsCheck: Check = {
  name: 'Agents',
  ifItFails: correctIt,
  look: async (around) => {
    if (around.campaignPath !== null || !(await answers(around))) return null;
    return withService(around.config, async (service) => {
      const silent: string[] = [];
      let agents = 0;
      for await (const { id } of service.agents()) {
        if (agents === mostAgents) break;
        agents += 1;
        const { permitted = null } = await service.agent(id);
        if (permitted !== null && deniedSettings({ agent: { first_message: '' } }, permitted).length > 0) silent.push(id);
      }
      const numbers = (await service.callers()).length;
      const detail = `${agents === mostAgents ? 'at least ' : ''}${plural(agents, 'agent')}, ${plural(numbers, 'caller number')}`;
      if (agents === 0 || numbers === 0) return doubtful(detail, 'A campaign needs one of each in this account: is the key of it?');
      if (silent.length === 0) return good(detail);
      return doubtful(
        `${detail}; ${silent.join(', ')} ${silent.length === 1 ? 'lets' : 'let'} no call have an opening line of its own`,
        'Permit it in their settings (overrides), or leave first_message out of campaigns that they call for.',
      );
    });
  },
};

/** Proof of the look-up, which also shows that the account's terms are accepted; no finding without a look-up. */
const lookUpCheck: Check = {
  name: 'Look-up',
  look: async (around) => {
    const { config } = around;
    const { SVC_API: api } = config;
    if (api === 'contract' || !(await answers(around))) return null;
    const proof = await around.inLedger(({ db }) => readLookUpProof(db, { accountId: accountIdOf(config), api })).catch(() => null);
    if (proof !== null) return good(`proven on ${instantText(proof.provenAt)}; the terms of calls were accepted then`);
    return doubtful(
      'not proven for this account',
      'carillon doctor --prove-lookup --to <your own number> shows it, and whether the terms of calls are accepted, without a call. Until then a person decides about requests that the service does not list.',
    );
  },
};

/** Events leave within seconds: a receiver this late does not keep up. */
const behindAfterMs = 15 * 60_000;

/** No finding without webhooks. */
const webhookCheck: Check = {
  name: 'Webhooks',
  look: async ({ now, webhooks: reading, clock: readClock }) => {
    const webhooks = await reading();
    if (webhooks.length === 0) return null;
    const clock = await readClock().catch(() => null);
    const describe = (webhook: WebhookWithWaiting): string =>
      `${webhook.webhookId} (${webhookAsJson(webhook).place}) ${webhookStatus(webhook, now)}, ${waitingText(webhook.waiting, now, clock)}`;
    const isBehind = ({ waiting: { oldestAt } }: WebhookWithWaiting): boolean =>
      oldestAt !== null && clock !== null && now - clock.atReal(oldestAt) >= behindAfterMs;
    const failing = webhooks.filter((webhook) => {
      const { state, failures } = webhook;
      return state === 'disabled' || (state !== 'paused' && (failures > 0 || isBehind(webhook)));
    });
    const [first] = failing;
    if (first === undefined) {
      const held = webhooks.filter(({ state, waiting }) => state === 'paused' && waiting.events > 0);
      return good([`${webhooks.length}, none of which fails`, ...held.map(describe)].join('; '));
    }
    return doubtful(
      `${failing.length} of ${webhooks.length}: ${failing.map(describe).join('; ')}`,
      `Nothing is lost while one fails or falls behind. Look at its receiver, which should answer before it does its work, then try: carillon webhook test ${first.webhookId}`,
    );
  },
};

export const serviceChecks: readonly Check[] = [
  serviceCheck,
  keyCheck,
  clockCheck,
  proxyCheck,
  interfaceCheck,
  campaignCheck,
  agentsCheck,
  lookUpCheck,
  webhookCheck,
];

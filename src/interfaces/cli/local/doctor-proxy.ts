import { readCampaignFile } from '../../../campaign/file/file.ts';
import { readProxies, readVariable, type Config } from '../../../shared/config.ts';
import { addressPlace } from '../../../shared/hooks/errors.ts';
import { judgedAddress } from '../../../shared/hooks/networks.ts';
import { revealUrl } from '../../../shared/input/kept-url.ts';
import { destinationOf, openTunnel } from '../../../shared/network/connector.ts';
import { proxyFor, readProxy, type Proxy } from '../../../shared/network/proxies.ts';
import { proxyOfTemporal } from '../../../temporal/connection.ts';
import { fault, ok, reasonOf, warning, type Finding } from './doctor-reach.ts';
import type { Webhook } from '../../../ledger/webhooks/registry.ts';

const limitMs = 5_000;
const name = 'Proxy';

/** Which proxy is used for what, and whether it opens tunnels to hooks; nothing where none is set. */
export async function checkProxies(config: Config, campaignPath: string | null, webhooks: Promise<readonly Webhook[]>): Promise<Finding[]> {
  const proxies = readProxies(config);
  const { http, https } = proxies;
  if (http === null && https === null) return [];
  try {
    const service = new URL(config.SVC_BASE_URL);
    const used = [
      `the service: ${placeOf(await proxyFor(destinationOf(service.protocol, service.hostname, service.port), proxies))}`,
      `Temporal: ${placeOf(config.TEMPORAL_ADDRESS === undefined ? null : await proxyOfTemporal(config))}`,
      `hooks, webhooks and lists elsewhere: ${placeOf(https === null ? null : readProxy(https))}${proxies.except === '' ? '' : ', but for NO_PROXY'}`,
    ];
    return [ok(name, used.join('; ')), ...(await checkHooks(config, campaignPath, await webhooks))];
  } catch (error) {
    return [fault(name, reasonOf(error), 'Correct the variable, or unset it.')];
  }
}

function placeOf(proxy: Proxy | null): string {
  return proxy === null ? 'none' : `${proxy.place} (${proxy.variable})`;
}

async function checkHooks(config: Config, campaignPath: string | null, webhooks: readonly Webhook[]): Promise<Finding[]> {
  const settings =
    campaignPath === null
      ? null
      : await readCampaignFile(campaignPath).then(
          (file) => file.settings,
          () => null,
        );
  const hooks = [settings?.pre_dial, settings?.on_completion, settings?.on_pause].filter((hook) => hook !== undefined);
  const urls = new Set([...webhooks, ...hooks.filter((hook) => hook !== null)].map(({ url }) => url));
  return (await Promise.all([...urls].map((url) => checkHook(config, url)))).flat();
}

async function checkHook(config: Config, kept: string): Promise<Finding[]> {
  try {
    const url = new URL(await revealUrl(kept, readVariable));
    const destination = destinationOf(url.protocol, url.hostname, url.port);
    const proxy = await proxyFor(destination, readProxies(config));
    if (proxy === null) return [];
    const hostname = await judgedAddress(destination.hostname, config.CARILLON_HOOK_NETWORKS);
    (await openTunnel(proxy, { ...destination, hostname }, limitMs)).destroy();
    return [];
  } catch (error) {
    const advice =
      'Let the proxy open tunnels (CONNECT) to addresses, or write the host into NO_PROXY. Until then nothing is sent there, and with a pre-dial hook nobody is called.';
    return [warning(name, `no way to ${addressPlace(kept)}: ${reasonOf(error)}`, advice)];
  }
}

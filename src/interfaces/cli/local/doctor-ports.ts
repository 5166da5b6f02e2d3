import { fetch } from 'undici';
import { listenText, type Config, type ListenAddress } from '../../../shared/config.ts';
import { findListenFault, isSame, listenVariables, samePort } from '../access/listen-ports.ts';
import { fault, ok, type Finding } from './doctor-finding.ts';

const limitMs = 2_000;
/** Where to ask one that listens on all addresses. */
const ownAddresses: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
const kinds = {
  CARILLON_METRICS_LISTEN: { name: 'Metrics', path: '/metrics', sign: 'carillon_' },
  CARILLON_HEALTH_LISTEN: { name: 'Probes', path: '/healthz', sign: '"healthy":true' },
} as const;

/** Whether a worker could open the ports that the settings name, or one has done so. */
export async function checkPorts(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(
    listenVariables.map(async (variable): Promise<Finding> => {
      const address = config[variable];
      const { name, ...kind } = kinds[variable];
      if (address === undefined) return ok(name, `not served (${variable} is not set)`);
      const found = await findListenFault(variable, address);
      if (found === null) return ok(name, `${listenText(address)} is free for a worker`);
      if (await isWorker(address, kind)) return ok(name, `a worker listens at ${listenText(address)}`);
      return fault(name, found.detail, found.advice);
    }),
  );
  return isSame(config) ? [...findings, fault('Ports', samePort.detail, samePort.advice)] : findings;
}

async function isWorker(address: ListenAddress, { path, sign }: { path: string; sign: string }): Promise<boolean> {
  const asked = { ...address, host: ownAddresses[address.host] ?? address.host };
  try {
    const answer = await fetch(`http://${listenText(asked)}${path}`, {
      signal: AbortSignal.timeout(limitMs),
      redirect: 'manual',
    });
    return (await answer.text()).includes(sign);
  } catch {
    return false;
  }
}

import { once } from 'node:events';
import { createServer } from 'node:net';
import { ConfigError, listenText, type Config, type ListenAddress } from '../../../shared/config.ts';
import { codeOf } from '../../../shared/input/errors.ts';
import { describePortHolder } from '../../../sandbox/port-holder.ts';

/** The settings that open a port in a worker. */
export const listenVariables = ['CARILLON_METRICS_LISTEN', 'CARILLON_HEALTH_LISTEN'] as const;

type ListenConfig = Pick<Config, (typeof listenVariables)[number]>;

/** Why a worker cannot listen at an address. */
export interface ListenFault {
  detail: string;
  advice: string;
}

/** Tries to listen there for a moment; null: it can. */
export async function findListenFault(variable: string, address: ListenAddress): Promise<ListenFault | null> {
  const server = createServer();
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
    return null;
  } catch (error) {
    return explain(variable, address, codeOf(error) ?? 'unknown error');
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
}

async function explain(variable: string, address: ListenAddress, code: string): Promise<ListenFault> {
  const what = `${variable} is ${listenText(address)}`;
  if (code === 'EADDRINUSE') {
    const holder = await describePortHolder(address.host, address.port);
    return {
      detail: `${what}, and ${holder} listens there already`,
      advice: `Stop it, or give this worker another port; each worker of a machine needs one of its own.`,
    };
  }
  if (code === 'EADDRNOTAVAIL')
    return {
      detail: `${what}, which is no address of this machine`,
      advice: 'Use 127.0.0.1, 0.0.0.0 or one of its own.',
    };
  if (code === 'EACCES') return { detail: `${what}, which this user may not open`, advice: 'Use a port above 1023.' };
  return { detail: `${what}, and nothing can listen there (${code})`, advice: 'Use another address or port.' };
}

/** Throws ConfigError when a worker with these settings could not open its ports. */
export async function requireFreePorts(config: ListenConfig): Promise<void> {
  for (const variable of listenVariables) {
    const address = config[variable];
    const fault = address === undefined ? null : await findListenFault(variable, address);
    if (fault !== null) throw new ConfigError(`${fault.detail}. ${fault.advice}`);
  }
  if (isSame(config)) throw new ConfigError(`${samePort.detail}. ${samePort.advice}`);
}

/** What is said where both settings name one port. */
export const samePort: ListenFault = {
  detail: 'CARILLON_METRICS_LISTEN and CARILLON_HEALTH_LISTEN name the same port',
  advice: 'Give each a port of its own.',
};

/** Whether both settings name one port, whatever the addresses: one of them may stand for all. */
export function isSame({ CARILLON_METRICS_LISTEN: metrics, CARILLON_HEALTH_LISTEN: health }: ListenConfig): boolean {
  return metrics !== undefined && metrics.port === health?.port;
}

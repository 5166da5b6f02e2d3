import type { Config } from '../../../shared/config.ts';
import { printable } from '../../../shared/input/printable.ts';
import { askIfPossible, type NotAsked } from './service.ts';

/** Agents and caller numbers among which somebody may choose; long lists are cut. */
export interface ServiceOffers {
  agents: Offer[];
  numbers: Offer[];
}

interface Offer {
  id: string;
  /** For people, on one line. */
  name: string;
}

const mostOffers = 500;
const limitMs = 5_000;

/** Asks the service for what a campaign may name. A service that does not answer within seconds is told, not thrown. Throws ConfigError. */
export async function readServiceOffers(config: Config): Promise<NotAsked | ({ asked: true } & ServiceOffers)> {
  const soon: Config = { ...config, SVC_CONNECT_TIMEOUT_MS: Math.min(config.SVC_CONNECT_TIMEOUT_MS, limitMs) };
  soon.SVC_HEADERS_TIMEOUT_MS = Math.min(config.SVC_HEADERS_TIMEOUT_MS, limitMs);
  return askIfPossible(soon, async (service) => {
    const agents: Offer[] = [];
    for await (const { id, name } of service.agents()) {
      if (agents.length >= mostOffers) break;
      agents.push({ id, name: printable(name ?? id) });
    }
    const numbers = (await service.callers()).slice(0, mostOffers);
    return {
      agents,
      numbers: numbers.map(({ id, number, label }) => ({
        id,
        name: printable([number, label].filter((text) => text !== null && text !== '').join(' · ') || id),
      })),
    };
  });
}

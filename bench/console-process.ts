import { readConfig } from '../src/shared/config.ts';
import { startApi } from '../src/interfaces/api/server.ts';
import { createControl } from '../src/operations/control/control.ts';
import { createToken } from '../src/ledger/console/tokens.ts';
import { openStore, type StoreLocation } from '../src/ledger/open-ledger.ts';
import { createLogger } from '../src/shared/logger.ts';
import { keepServiceClock } from '../src/temporal/clock-keeper.ts';
import { realClock } from '../src/service/port/service-clock.ts';
import { readInput, writeResult } from './child.ts';

export interface ConsoleInput {
  location: StoreLocation;
  /** Epoch milliseconds at which time stands; null: the service's clock, or this machine's. */
  standsAt: number | null;
}

/** Page and API over a ledger that others work on, as `carillon serve` runs them. */
const { location, standsAt } = readInput() as ConsoleInput;
const config = readConfig();
const store = await openStore(location, 'as-is');
const now = () => standsAt ?? Date.now();
const control = createControl({ config, store, now, connect: () => Promise.reject(new Error('no Temporal here')) });
const keep = keepServiceClock(config.SVC_BASE_URL);
const clock = () => (standsAt === null ? keep().catch(() => realClock(now)) : Promise.resolve(realClock(now)));
const api = await startApi({ ...control, logger: createLogger('error'), clock }, { host: '127.0.0.1', port: 0, tls: null });
const { text } = await createToken(store, { name: 'bench', role: 'admin', lastsMs: null, nowReal: now() });
process.once('SIGTERM', () => void api.close().then(() => store.close()));
writeResult({ url: api.url, token: text });

import { startApi } from '../../api/start.ts';
import { createControl } from '../../../operations/control/control.ts';
import { realClock } from '../../../service/port/service-clock.ts';
import { createToken, revokeToken } from '../../../ledger/console/tokens.ts';
import { createLogger } from '../../../shared/logger.ts';
import { keepServiceClock } from '../../../temporal/clock-keeper.ts';
import type { LocalWorld } from '../access/local-world.ts';
import type { Io } from '../terminal/io.ts';
import { rehearseInProcess } from './rehearse-process.ts';

/** API and page beside a world on this machine. */
export interface LocalConsole {
  url: string;
  /** Opens the page and signs in. Holds a token, which stands behind the `#`: no server and no log sees it. */
  signInUrl: string;
}

/** Not shorter than anybody leaves it running; a world that is killed cannot revoke its token. */
const tokenLastsMs = 24 * 3_600_000;

/** Serves API and page while `work` lasts. Their token, of the role admin, ends with it. */
export async function withLocalConsole(
  io: Io,
  { config, store, connect }: Pick<LocalWorld, 'config' | 'store' | 'connect'>,
  { port, work }: { port: number; work: (console: LocalConsole) => Promise<void> },
): Promise<void> {
  const keep = keepServiceClock(config.SVC_BASE_URL);
  const now = (): number => io.now();
  const control = createControl({ config, store, now, connect });
  const api = await startApi(
    {
      ...control,
      logger: createLogger(config.CARILLON_LOG_LEVEL),
      clock: () => keep().catch(() => realClock(now)),
      rehearse: rehearseInProcess(io),
    },
    { host: '127.0.0.1', port, tls: null },
  );
  const made = await createToken(store, { name: 'this machine', role: 'admin', lastsMs: tokenLastsMs, nowReal: now() });
  try {
    await work({ url: api.url, signInUrl: `${api.url}/sign-in#token=${made.text}` });
  } finally {
    await api.close();
    await control.close();
    await revokeToken(store, made.token.tokenId, now());
  }
}

import { runProve } from '../../src/interfaces/cli/local/doctor-prove.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Location } from './places.ts';
import { createTerminal } from '../interfaces/cli/terminal.ts';

/** As an operator does it: `carillon doctor --prove-lookup`, with a call that is never made. */
export async function proveLookUp(api: ServiceApi, url: string, { databaseUrl, sqlitePath }: Location): Promise<void> {
  const database = databaseUrl === undefined ? { CARILLON_DB: sqlitePath } : { DATABASE_URL: databaseUrl };
  const io = createTerminal({ env: { SVC_BASE_URL: url, SVC_API_KEY: 'sk_sandbox_ok', SVC_API: api, ...database } });
  await runProve(io, { to: '+12125550123', campaignPath: null, yes: true, json: true });
  if (io.exitCode !== 0) throw new Error(`the look-up was not proven: ${io.written().stderr}`);
}

import { withControl, type Control } from '../../../src/operations/control/control.ts';
import { openStore } from '../../../src/ledger/open-ledger.ts';
import { noon } from '../../ledger/scenario.ts';
import { emptyDatabase } from '../../ledger/test-stores.ts';

/** Works on an empty database at noon, without Temporal or service. */
export async function withLedgerAlone<Result>(work: (control: Control) => Promise<Result>): Promise<Result> {
  const { sqlitePath } = await emptyDatabase('sqlite');
  const env = { CARILLON_DB: sqlitePath, SVC_BASE_URL: 'http://127.0.0.1:1', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  return withControl({ env, now: () => noon }, work, () => openStore({ sqlitePath }));
}

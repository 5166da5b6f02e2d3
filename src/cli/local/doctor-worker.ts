import { campaignQueues } from '../../domain/ids.ts';
import type { Config } from '../../config.ts';
import { connectTemporal } from '../../temporal/connection.ts';
import { countWorkers } from '../../temporal/queue-pollers.ts';
import { ok, warning, type Finding } from './doctor-finding.ts';
import { openExistingLedger } from '../access/ledger.ts';

const limitMs = 5_000;

/** Whether somebody works on the campaigns of the database; nothing where database or Temporal are not there to be asked. */
export async function checkWorkers(config: Config, now: number): Promise<Finding[]> {
  if (config.TEMPORAL_ADDRESS === undefined) return [];
  try {
    const store = await openExistingLedger(config);
    const name = campaignQueues(config.CARILLON_QUEUE_PREFIX, store.ledgerId).campaign;
    await store.close();
    const { connection, namespace } = await connectTemporal(config, { timeoutMs: limitMs });
    try {
      const workers = await countWorkers(connection, { namespace, name, limitMs, now });
      if (workers > 0) return [ok('Worker', `${workers} at work on this database`)];
      const advice = 'Start one with the same database, TEMPORAL_* and SVC_* variables: carillon worker';
      return [
        warning('Worker', 'none has asked for work on this database in the last minute: no campaign moves', advice),
      ];
    } finally {
      await connection.close();
    }
  } catch {
    // What is wrong with database or Temporal is told by those who look at them.
    return [];
  }
}

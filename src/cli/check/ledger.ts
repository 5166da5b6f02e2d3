import { existsSync } from 'node:fs';
import { checkedLedger, unasked, type CheckedCampaign, type CheckedLedger } from '../../control/check/ledger.ts';
import { openExistingLedger } from '../../control/ledger.ts';
import type { Config } from '../../config.ts';
import { describeFailure } from '../terminal/failure.ts';

/** Opens the database of the settings if there is one; never makes one, and never fails: a check must be possible anywhere. */
export async function openCheckedLedger(config: Config, campaign: CheckedCampaign): Promise<CheckedLedger> {
  if (config.DATABASE_URL === undefined && !existsSync(config.CARILLON_DB))
    return unasked({ asked: false, reason: `there is none at ${config.CARILLON_DB}` });
  try {
    const store = await openExistingLedger(config);
    return { ...(await checkedLedger({ config, store }, campaign)), close: () => store.close() };
  } catch (error) {
    return unasked({ asked: false, reason: describeFailure(error, false).message });
  }
}

import {
  cancelCallback as cancelInLedger,
  listCallbacks as listInLedger,
  setCallback as setInLedger,
  type Callback,
  type CallbackTime,
} from '../../ledger/people/callbacks.ts';
import { UsageError } from '../../shared/input/errors.ts';
import { parseInstant } from '../../shared/input/times.ts';
import { requestReplan, type NotifyFailure } from './campaign-message.ts';
import type { Control } from './control.ts';
import { requireCampaign, type LedgerAccess } from './ledger.ts';
import { readServiceTime } from './service.ts';

const localTime = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d$/;

/** The recipient's local time, or an instant with its offset. Throws UsageError. */
export function readCallbackTime(text: string): CallbackTime {
  const written = text.trim();
  if (localTime.test(written)) return { local: written.replace('T', ' ') };
  const instant = parseInstant(written);
  if (instant !== null) return { instant };
  throw new UsageError(`"${text}" is no time. Write 2030-11-30 17:00 in their time, or an instant such as 2030-11-30T17:00:00-05:00.`);
}

interface RowNamed {
  campaignId: string;
  row: number;
  by: string;
}

/** Moves an existing callback; answers the new instant. Throws UnknownCampaignError, UsageError and CallbackRefusedError. */
export async function setCallback(
  control: Control,
  { at, ...named }: RowNamed & { at: string },
): Promise<{ dueAt: number; notice: NotifyFailure }> {
  const time = readCallbackTime(at);
  await requireCampaign(control.store, named.campaignId);
  const dueAt = await setInLedger(control.store, { ...named, now: await readServiceTime(control) }, time);
  return { dueAt, notice: await requestReplan(control, named.campaignId) };
}

/** Cancels an open callback. Throws UnknownCampaignError and CallbackRefusedError. */
export async function cancelCallback(control: Control, named: RowNamed): Promise<{ notice: NotifyFailure }> {
  await requireCampaign(control.store, named.campaignId);
  await cancelInLedger(control.store, { ...named, now: await readServiceTime(control) });
  return { notice: await requestReplan(control, named.campaignId) };
}

/** Callbacks of a campaign, the next one first. Throws UnknownCampaignError. */
export async function listCallbacks(
  access: LedgerAccess & Pick<Control, 'now'>,
  campaignId: string,
  states?: readonly Callback['state'][],
): Promise<Callback[]> {
  await requireCampaign(access.store, campaignId);
  return listInLedger(access.store.db, { campaignId, now: await readServiceTime(access) }, { states });
}

import type { Control } from '../../../operations/control/control.ts';
import { requireRedialable, type SetOff } from '../../../operations/control/resolve.ts';
import type { Io } from '../terminal/io.ts';
import { mayBegin } from '../terminal/irreversible.ts';

/** Who decides about calls in doubt of which campaign, and how that is told. */
export interface Asker {
  io: Io;
  campaignId: string;
  yes: boolean;
  json: boolean;
}

/** Whether rows may be dialled again: a person knows the risk and has said yes. Throws as `requireRedialable`. */
export async function mayRedial(
  { io, campaignId, yes }: Asker,
  control: Control,
  { risk, question }: { risk: string; question: string },
): Promise<boolean> {
  await requireRedialable(control, campaignId);
  io.stderr.write(`${risk}\n`);
  return mayBegin(io, yes, question);
}

/** What became of rows that are dialled again, to stand behind a sentence. */
export function tellSetOff(campaignId: string, setOff: SetOff): string {
  if (setOff === null) return '';
  if (setOff.kind === 'paused') return ` The campaign is paused: carillon resume ${campaignId} sets it going.`;
  return ` Round ${setOff.round} has been started: carillon status ${campaignId}`;
}

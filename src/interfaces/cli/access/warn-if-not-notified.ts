import type { Notice } from '../../../operations/control/campaign-message.ts';
import type { Io } from '../terminal/io.ts';

/** Says so where a campaign did not hear of a change that is committed. Answers whether it did. */
export function warnIfNotNotified(io: Pick<Io, 'stderr'>, notice: Notice): boolean {
  if (notice.told) return true;
  const { campaignId, why } = notice;
  io.stderr.write(
    `The change is committed, but campaign ${campaignId} could not be notified: ${why}\nIt applies from the next plan on; carillon resume ${campaignId} makes the campaign plan now.\n`,
  );
  return false;
}

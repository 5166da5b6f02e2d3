import { count, plural } from '../../shared/input/figures.ts';
import type { AdjustEffect } from '../../ledger/read/clock-strip.ts';

export function effectLines({ waiting, openNow, neverOpen, usedUp }: AdjustEffect): string[] {
  const after = `${count(openNow.after)} of ${plural(waiting, 'person who waits', 'people who wait')} may be called at this hour`;
  const lines = [openNow.before === openNow.after ? `${after}, as before.` : `${after}, instead of ${count(openNow.before)}.`];
  if (neverOpen > 0) lines.push(`${plural(neverOpen, 'person', 'people')} could never be called in these hours, so they are refused.`);
  if (usedUp > 0)
    lines.push(
      `${plural(usedUp, 'person has', 'people have')} used up the attempts then, and ${usedUp === 1 ? 'is' : 'are'} not called again.`,
    );
  return lines;
}

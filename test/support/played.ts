import { appendFileSync } from 'node:fs';

export interface Played {
  campaigns: number;
  calls: number;
}

/** Counted by `npm run soak`; does nothing elsewhere. */
export function notePlayed(played: Played): void {
  const path = process.env['SOAK_COUNTS'];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(played)}\n`);
}

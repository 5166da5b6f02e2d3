import { appendFileSync } from 'node:fs';

export interface Played {
  campaigns: number;
  calls: number;
}

/** Counted by `npm run soak`; otherwise does nothing. */
export function notePlayed(played: Played): void {
  const path = process.env['SOAK_COUNTS'];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(played)}\n`);
}

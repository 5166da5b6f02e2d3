import { appendFileSync } from 'node:fs';

/** One play of an engine: the campaigns in it, and the calls that the service made. */
export interface Played {
  campaigns: number;
  calls: number;
}

/** Notes a play where `npm run soak` counts them; does nothing elsewhere. */
export function notePlayed(played: Played): void {
  const path = process.env['SOAK_COUNTS'];
  if (path !== undefined) appendFileSync(path, `${JSON.stringify(played)}\n`);
}

import type { Guard } from './guard.ts';
import { guardsOfClaims } from './guards-of-claims.ts';
import { guardsOfLedger } from './guards-of-ledger.ts';
import { guardsOfRecords } from './guards-of-records.ts';
import { guardsOfReports } from './guards-of-reports.ts';
import { guardsOfRows } from './guards-of-rows.ts';

/** Guards between doubt and a second call: `npm run proof` takes each out. */
export const guards: readonly Guard[] = [...guardsOfLedger, ...guardsOfRows, ...guardsOfRecords, ...guardsOfClaims, ...guardsOfReports];

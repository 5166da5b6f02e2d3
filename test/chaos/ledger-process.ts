/** Runs cases and seeds for `runLedgerLevel`; its arguments: a folder, the API, and an empty PostgreSQL database, or none for SQLite. */
import { answerUnits } from './answer-units.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Case } from './design.ts';
import { Place } from './places.ts';
import { emptyWeaves, runCase, runSeed, toSend, type SentWeaves } from './run-weaves.ts';

/** A case of the design, or a seed. */
export type LedgerUnit = { case: Case } | { seed: number };

const [folder, api, databaseUrl] = process.argv.slice(2);
const place = await Place.open({ folder, databaseUrl, api: api as ServiceApi });

answerUnits(async (sent, stop): Promise<SentWeaves> => {
  const unit = sent as LedgerUnit;
  const weaves = emptyWeaves(place.api);
  if ('case' in unit) await runCase(place, unit.case, weaves);
  else await runSeed(place, unit.seed, weaves, stop);
  return toSend(weaves);
});

import { onTestFinished } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { createDatabase } from '../support/postgres-server.ts';
import { sharedServer } from '../support/shared-server.ts';
import type { databases } from './command.ts';
import { Place } from './places.ts';

export async function openPlace(database: (typeof databases)[number], name: string, api: ServiceApi = 'contract'): Promise<Place> {
  const databaseUrl = database === 'sqlite' ? undefined : await createDatabase(await sharedServer('postgres'), `chaos_${name}`);
  const place = await Place.open({ databaseUrl, api });
  onTestFinished(() => place.close());
  return place;
}

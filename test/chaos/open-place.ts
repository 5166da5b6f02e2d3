import { onTestFinished } from 'vitest';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import { newDatabase } from '../ledger/clean-store.ts';
import type { databases } from './command.ts';
import { Place } from './places.ts';

export async function openPlace(database: (typeof databases)[number], api: ServiceApi = 'contract'): Promise<Place> {
  const { databaseUrl } = database === 'sqlite' ? {} : await newDatabase(database);
  const place = await Place.open({ databaseUrl, api });
  onTestFinished(() => place.close());
  return place;
}

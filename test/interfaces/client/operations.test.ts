import { expect, test } from 'vitest';
import { operations } from '../../../src/operations/list.ts';
import { ApiWorld } from '../api/api-world.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';

interface Described {
  operationId: string;
  parameters?: { name: string; in: string }[];
}

test('every operation of the description has a method that sends its method and path, and a key where it takes one', async () => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  const { body } = await world.ask('GET /api/v1/openapi.json', { token: null });
  const described = Object.entries(body.paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
      id: operationId,
      route: `${method.toUpperCase()} ${path}`,
      takesKey: parameters.some(({ name }) => name === 'idempotency-key'),
    })),
  );
  const sent = Object.entries(operations).map(([id, { route, kind }]) => ({
    id,
    route: route.replace(/:(\w+)/g, '{$1}'),
    takesKey: kind === 'change',
  }));
  const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id);
  expect(sent.toSorted(byId)).toEqual(described.toSorted(byId));
});

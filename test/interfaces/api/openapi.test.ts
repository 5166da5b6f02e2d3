import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { ApiWorld } from './api-world.ts';

test('the description of the API is OpenAPI 3.1 without a fault, and complete', async () => {
  const world = await ApiWorld.over(await openCleanStore('sqlite'));
  const { status, body } = await world.ask('GET /api/v1/openapi.json', { token: null });
  expect(status).toBe(200);
  expect(body.openapi).toBe('3.1.0');
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { 'no-empty-servers': 'off', 'no-server-example.com': 'off' },
  });
  const problems = await lintFromString({ source: JSON.stringify(body), config });
  expect(problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`)).toEqual([]);
  const routes = world.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => line.includes('('));
  expect(routes.length).toBeGreaterThan(Object.keys(body.paths).length);
  const paths = Object.values<Record<string, { responses: Record<string, { content: object }> }>>(body.paths);
  const responses = paths.flatMap((path) => Object.values(path)).flatMap((operation) => Object.entries(operation.responses));
  for (const [status, { content }] of responses)
    if (Number(status) >= 400) expect(Object.keys(content)).toEqual(['application/problem+json']);
});

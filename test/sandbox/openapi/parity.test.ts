import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveConfig } from 'prettier';
import { expect, test } from 'vitest';
import { createParity, type ParityField } from '../../../src/sandbox/openapi/parity.ts';
import { operationNames } from '../../../src/sandbox/core/operations.ts';
import { startTestSandbox } from '../harness.ts';
import { renderParity, speaksOf, testsOf, textOf } from './parity-page.ts';
import { fieldTests, operationTests, schemaTests, type Citation } from './parity-tests.ts';

const page = join(import.meta.dirname, '../../../docs/parity.md');
const bodies = new Map<string, readonly ParityField[]>(
  [...createParity().operations.flatMap(({ request, answer }) => [request, answer]), ...createParity().refusals]
    .filter((body) => body !== null)
    .map(({ schema, fields }) => [schema, fields]),
);

/** Citations of tests that are not there. */
function missingTests(citations: readonly Citation[]): string[] {
  return citations
    .filter(([file, title]) => !["'", '"', '`'].some((quote) => textOf(file).includes(quote + title + quote)))
    .map(([file, title]) => `${file}: ${title}`);
}

test('docs/parity.md is what npm run parity writes', async () => {
  const wanted = await renderParity((await resolveConfig(page)) ?? {});
  expect(readFileSync(page, 'utf8') === wanted, 'docs/parity.md is out of date: run npm run parity').toBe(true);
});

test('every test that the parity page names exists', () => {
  const cited = [
    ...Object.values(operationTests).flat(),
    ...Object.values(schemaTests).flat(),
    ...Object.values(fieldTests).flatMap((tests) => Object.values(tests).flat()),
  ];
  expect(missingTests(cited)).toEqual([]);
  expect(missingTests([['openapi/openapi', 'a test that nobody wrote']])).toEqual([
    'openapi/openapi: a test that nobody wrote',
  ]);
});

test('every operation has a test, and a test named for a field speaks of that field', () => {
  expect(operationNames.filter((name) => operationTests[name].length === 0)).toEqual([]);
  const strays = Object.entries(fieldTests).flatMap(([schema, tests]) =>
    Object.entries(tests).flatMap(([field, citations]) => {
      if (!bodies.get(schema)?.some((each) => each.field === field)) return [`${schema} ${field}: no such field`];
      const spoken = citations.some(([file]) => speaksOf(file, field));
      return spoken ? [] : [`${schema} ${field}: not in ${citations.map(([file]) => file).join(', ')}`];
    }),
  );
  expect(strays).toEqual([]);
});

test('every field that the contract names has a test of its own', () => {
  const bare = [...bodies].flatMap(([schema, fields]) =>
    fields
      .filter(({ field, source }) => source === 'contract' && testsOf(schema, field) === undefined)
      .map(({ field }) => `${schema} ${field}`),
  );
  expect(bare).toEqual([]);
});

test('the sandbox tells where a field comes from', async () => {
  const sandbox = await startTestSandbox();
  const { status, body } = await sandbox.get('/_sandbox/parity');
  expect(status).toBe(200);
  const record = body.operations.find(({ name }: { name: string }) => name === 'get_conversation').answer;
  const find = (wanted: string): ParityField => record.fields.find(({ field }: ParityField) => field === wanted);
  expect(find('metadata.start_time')).toEqual({
    field: 'metadata.start_time',
    source: 'contract',
    dialects: ['spec', 'extended'],
  });
  expect(find('status')).toEqual({ field: 'status', source: 'DOC', dialects: ['extended'] });
  expect(find('collected_data{}.value')).toMatchObject({ source: 'GUESS', dialects: ['spec', 'extended'] });
  expect(body.leftOut.join(' ')).toMatch(/LiveKit room.*not recognised.*SIP/);
});

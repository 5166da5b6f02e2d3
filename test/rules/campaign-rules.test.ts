import { expect, test } from 'vitest';
import * as fc from 'fast-check';
import { readRules } from '../../src/rules/campaign-rules.ts';
import { buildRules } from '../support/campaign-rules.ts';
import { findColumn, recipientFields } from '../../src/rules/columns.ts';
import { compileTemplates, fillPlainTemplate, readPlainTemplate } from '../../src/rules/personalisation.ts';
import { dispositions } from '../../src/rules/disposition.ts';
import { failureTypes } from '../../src/rules/failure-types.ts';
import { campaignStates } from '../../src/rules/lifecycle.ts';
import { outcomes, rejectionReasons } from '../../src/rules/outcome.ts';

test('rules that are stored are read once and shared, and whoever has them cannot change them for the others', () => {
  const text = JSON.stringify(buildRules());
  const rules = readRules(text);
  expect(readRules(text)).toBe(rules);
  expect(() => (rules.pacing.batchSize = 1_000)).toThrow(TypeError);
  expect(() => rules.optOut.push({ source: 'collected', key: 'stop', values: [true] })).toThrow(TypeError);
  const changed = JSON.stringify({ ...buildRules(), agentId: 'agent_other' });
  expect(readRules(changed).agentId).toBe('agent_other');
});

test('rules of more campaigns than are kept are read all the same', () => {
  const texts = Array.from({ length: 250 }, (_, n) => JSON.stringify({ ...buildRules(), agentId: `agent_${n}` }));
  for (const round of [1, 2]) for (const [n, text] of texts.entries()) expect(readRules(text).agentId, `round ${round}`).toBe(`agent_${n}`);
});

test.each<[string, string[]]>([
  ['first_name', ['phone', 'First Name']],
  ['First Name', ['phone', 'first_name']],
  ['FIRST NAME', ['phone', ' First  Name ']],
  ['first name', ['phone', 'first_\t_name']],
  ['first name', ['phone', 'first\u00a0name']],
  ['first_name', ['phone', '\ufefffirst\u200b_name']],
  ['name', ['phone', '\uff4e\uff41\uff4d\uff45']],
])('%j means the second of the columns %j', (name, columns) => {
  expect(findColumn(name, columns)).toEqual({ column: columns[1] });
});

test('a column of exactly that name wins over others that differ in case or blanks', () => {
  expect(findColumn('Name', ['name', 'Name', 'NAME'])).toEqual({ column: 'Name' });
});

test('between several that mean the same nothing is decided', () => {
  expect(findColumn('name', ['Name', 'phone', 'NAME'])).toEqual({ several: ['Name', 'NAME'] });
});

test.each([
  ['name', ['phone', 'names', 'firstname']],
  ['first_name', ['firstname', 'first-name']],
  ['name', []],
  // A name of nothing but blanks means no column, not even one that has none either.
  ['', [' ', 'phone']],
  [' \u200b', ['', 'phone']],
])('%j is none of the columns %j', (name, columns) => {
  expect(findColumn(name, columns)).toBeNull();
});

test('a blank name is found where a column is called exactly so', () => {
  expect(findColumn('', ['phone', ''])).toEqual({ column: '' });
});

test('every column has its cell, and a row that is too short has empty ones', () => {
  expect({ ...recipientFields(['phone', 'name', 'note'], ['+12125550101', 'Ana']) }).toEqual({
    phone: '+12125550101',
    name: 'Ana',
    note: '',
  });
});

test('a column may be called like something that every object has', () => {
  const fields = recipientFields(['__proto__', 'constructor'], ['a', 'b']);
  expect([fields['__proto__'], fields['constructor'], fields['toString']]).toEqual(['a', 'b', undefined]);
});

test.each<[string, string[], string[] | null]>([
  ['Hello {{ name }}!', ['name'], ['Hello ', 'name', '!']],
  ['{{name}}{{  other_1 }}', ['name', 'other_1'], ['', 'name', '', 'other_1', '']],
  ['Plain } text }}', [], ['Plain } text }}']],
  ['', [], ['']],
  ['Hello {{ empty }}', [], null],
  ['Hello {{ name | upcase }}', ['name'], null],
  ['Hello {{- name -}} you', ['name'], null],
  ['Hello {{ name.first }}', ['name'], null],
  ['{% if name %}{{ name }}{% endif %}', ['name'], null],
  ['{% raw %}{{ name }}{% endraw %}', [], null],
  ['a { b {{ name }}', ['name'], null],
])('%j is read as its parts only where it is text and names', (template, variables, parts) => {
  expect(readPlainTemplate(template, variables)).toEqual(parts);
});

test('a name without a value is told, each time', () => {
  const missing: string[] = [];
  const scope = { a: 'x', b: undefined };
  expect(fillPlainTemplate(['', 'a', ' ', 'b', ' ', 'b', ''], scope, (name) => missing.push(name))).toBe('x  ');
  expect(missing).toEqual(['b', 'b']);
});

const piece = fc.oneof(
  fc.constantFrom('Hello ', '{{ a }}', '{{b}}', '{{  size }}', '{{ first }}', '{{ nil }}', ' } ', '}}', '\n ', '{', 'é'),
  fc.string({ maxLength: 5 }),
);
const fields = fc.dictionary(
  fc.constantFrom('a', 'b', 'size', 'first'),
  fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('', ' ', '{{ a }}', '0')),
);

test('without the engine a row reads as it does with it', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), fields, (pieces, row) => {
      const text = pieces.join('');
      const render = (firstMessage: string) => {
        try {
          return compileTemplates({ firstMessage, variables: null }).render(row);
        } catch (error) {
          return error instanceof Error ? error.name : null;
        }
      };
      // A comment gives nothing, and makes the template one that only the engine can fill in.
      expect(render(text)).toEqual(render(`{% comment %}{% endcomment %}${text}`));
    }),
    { numRuns: 3000, seed: 11 },
  );
});

// These names stand in databases, in the histories of running workflows and in the results of campaigns that are over: there
// may be more of them, but none is ever renamed or taken away.

test('outcomes and the reasons of rows that were refused keep their names', () => {
  expect(outcomes).toEqual(
    expect.arrayContaining([
      'completed',
      'exhausted',
      'opted_out',
      'suppressed',
      'rejected',
      'undialable',
      'expired',
      'cancelled',
      'unresolved',
    ]),
  );
  expect(rejectionReasons).toEqual(
    expect.arrayContaining([
      'missing_phone',
      'invalid_phone',
      'invalid_country',
      'invalid_timezone',
      'missing_value',
      'malformed_row',
      'duplicate_phone',
      'duplicate_id',
      'invalid_zip',
      'invalid_state',
      'invalid_date',
      'invalid_priority',
      'invalid_hours',
      'invalid_person',
    ]),
  );
});

test('dispositions and the states of a campaign keep their names', () => {
  expect(dispositions).toEqual(
    expect.arrayContaining(['answered', 'voicemail', 'busy', 'no_answer', 'unreached', 'failed', 'invalid_number', 'opted_out', 'unknown']),
  );
  expect(campaignStates).toEqual(
    expect.arrayContaining(['importing', 'draft', 'running', 'paused', 'draining', 'completed', 'cancelled', 'failed']),
  );
});

test('failures of activities keep the types by which histories tell them apart', () => {
  expect(failureTypes).toMatchObject({
    rateLimited: 'RateLimited',
    notSent: 'NotSent',
    blocked: 'Blocked',
    serviceUnavailable: 'ServiceUnavailable',
    ledgerOlder: 'LedgerOlder',
    database: 'Database',
  });
  const types: string[] = Object.values(failureTypes);
  expect(new Set(types).size).toBe(types.length);
  expect(types).not.toContain('');
});

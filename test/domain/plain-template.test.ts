import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileTemplates } from '../../src/domain/personalisation.ts';
import { fillPlainTemplate, readPlainTemplate } from '../../src/domain/plain-template.ts';

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
  fc.constantFrom(
    'Hello ',
    '{{ a }}',
    '{{b}}',
    '{{  size }}',
    '{{ first }}',
    '{{ nil }}',
    ' } ',
    '}}',
    '\n ',
    '{',
    'é',
  ),
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

import { expect, test } from 'vitest';
import { renderTable, type Column } from '../../../../src/interfaces/cli/terminal/table.ts';

type Item = { id: string; name: string; note: string };

const columns: readonly Column<Item>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, flexible: true },
  { title: 'NOTE', value: ({ note }) => note, flexible: true },
];

const items = [
  { id: 'agent_1', name: 'Reminders of appointments', note: 'short' },
  { id: 'agent_22', name: 'Survey', note: 'a longer note than fits' },
];

test('columns are as wide as they must be, and lines end without blanks', () => {
  expect(renderTable(columns, items, null)).toBe(
    [
      'ID        NAME                       NOTE',
      'agent_1   Reminders of appointments  short',
      'agent_22  Survey                     a longer note than fits',
      '',
    ].join('\n'),
  );
});

test('on a narrow terminal the widest words are cut first, evenly, and ids stay whole', () => {
  expect(renderTable(columns, items, 36)).toBe(
    ['ID        NAME          NOTE', 'agent_1   Reminders o…  short', 'agent_22  Survey        a longer no…', ''].join('\n'),
  );
});

test.each([1, 5, 20, 24, 40, 80])('no line is wider than %i columns', (width) => {
  for (const line of renderTable(columns, items, width).split('\n')) expect(line.length).toBeLessThanOrEqual(width);
});

test('wide characters count twice, so that columns stay below each other', () => {
  const rows = [
    { id: 'a', name: '日本', note: 'x' },
    { id: 'b', name: 'abcd', note: 'y' },
    { id: 'c', name: '👍🏽ab', note: 'z' },
  ];
  expect(renderTable(columns, rows, null)).toBe('ID  NAME  NOTE\na   日本  x\nb   abcd  y\nc   👍🏽ab  z\n');
});

test('text that would move the cursor or turn the direction is made harmless', () => {
  const rows = [{ id: 'a', name: 'red \u001b[31m\nline', note: '\u202eabc' }];
  expect(renderTable(columns, rows, null)).toBe(
    'ID  NAME           NOTE\na   red  [31m line  abc\n'.replace('NAME           ', 'NAME            '),
  );
});

test('no items: the heading alone', () => {
  expect(renderTable(columns, [], 80)).toBe('ID  NAME  NOTE\n');
});

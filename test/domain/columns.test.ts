import { expect, test } from 'vitest';
import { findColumn, recipientFields } from '../../src/domain/columns.ts';

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

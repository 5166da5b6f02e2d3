import { expect, test } from 'vitest';
import { recipientFields } from '../../src/domain/recipient-fields.ts';

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

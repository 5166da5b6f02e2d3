import { expect, test } from 'vitest';
import { judgePlaces, secretsOf } from './scan.ts';

const secrets = secretsOf(
  [
    { id: 'p-1', phone: '+12125550130', name: 'Name83ab', kind: 'callable' },
    { id: 'p-2', phone: '555', name: 'Name84cd', kind: 'bad' },
  ],
  ['sk_planted'],
);

test('every key, number and name of the list is searched for, and no fragment of a number', () => {
  expect(secrets).toEqual(['sk_planted', '12125550130', 'Name83ab', 'Name84cd']);
});

test.each([
  ['a key', 'authorization: sk_planted', 'sk_planted stands in a log'],
  ['a number', '{"to":"+12125550130"}', '12125550130 stands in a log'],
  ['a name in base64', Buffer.from('Name83ab').toString('base64'), 'Name83ab stands in a log'],
])('the scan finds %s', (_, line, said) => {
  expect(judgePlaces([{ name: 'a log', text: `is ready ${line}`, control: 'is ready' }], secrets)).toEqual([said]);
});

test('the scan of a place that lacks its control is no acquittal', () => {
  expect(judgePlaces([{ name: 'a log', text: '', control: 'is ready' }], secrets)).toEqual([
    'The scan of a log does not find its control is ready',
  ]);
});

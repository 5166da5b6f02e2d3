import { expect, test } from 'vitest';
import { placeOfList, readListSource, showSource } from '../../src/campaign/list-source.ts';

const firing = {
  campaignPath: '/srv/calls/campaign.yaml',
  scheduledAtMs: Date.parse('2026-11-21T14:00:00Z'),
  timeZone: 'America/New_York',
};

test.each([
  { source: 'list.csv', path: '/srv/calls/list.csv' },
  { source: 'lists/{{ date }}.csv', path: '/srv/calls/lists/2026-11-21.csv' },
  { source: '{{year}}/{{month}}/{{day}}-{{hour}}{{minute}}.xlsx', path: '/srv/calls/2026/11/21-0900.xlsx' },
  { source: '/lists/{{ weekday }}.csv', path: '/lists/sat.csv' },
])('$source is read from $path', ({ source, path }) => {
  expect(placeOfList(readListSource(source), firing)).toMatchObject({ kind: 'path', path });
});

test('of a URL the host alone is shown', () => {
  const source = readListSource('https://lists.example:8443/{{ date }}.csv?key=planted-secret');
  const place = placeOfList(source, firing);
  expect(place).toEqual({
    kind: 'url',
    url: 'https://lists.example:8443/2026-11-21.csv?key=planted-secret',
    name: 'lists.example:8443',
  });
  expect(showSource(source)).toBe('https://lists.example:8443/{{ date }}.csv?…');
  expect(showSource(readListSource('lists/{{ date }}.csv'))).toBe('lists/{{ date }}.csv');
});

test.each([
  { source: '  ', says: /is empty/ },
  { source: 'x'.repeat(5000), says: /too long/ },
  { source: 'lists/{{ wekday }}.csv', says: /names "wekday": did you mean weekday\?.*It may name date, time/ },
  { source: 'lists/{{ }}.csv', says: /names ""/ },
  { source: 'lists/{{ date | upcase }}.csv', says: /brace/ },
  { source: 'lists/{{ date }}}}.csv', says: /brace/ },
  { source: 'file:///lists/a.csv', says: /file: URL.*write the path/ },
  { source: 'https://', says: /is not a URL/ },
  { source: 'https://me:pw@lists.example/a', says: /user name or password/ },
  { source: 'http://lists.example/a.csv', says: /use https/ },
])('$source is refused', ({ source, says }) => {
  expect(() => readListSource(source)).toThrow(says);
  expect(() => readListSource(source)).toThrow(expect.objectContaining({ exitCode: 2 }));
});

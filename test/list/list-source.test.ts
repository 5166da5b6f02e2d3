import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openListSource, placeOfList, readListSource, showSource } from '../../src/list/source.ts';
import { KeptUrlError } from '../../src/shared/input/kept-url.ts';

const noVariable = () => undefined;

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
])('$source is read from $path', async ({ source, path }) => {
  expect(placeOfList(await openListSource(readListSource(source), noVariable), firing)).toMatchObject({
    kind: 'path',
    path,
  });
});

test('of a URL the host alone is shown', async () => {
  const source = readListSource('https://lists.example:8443/{{ date }}.csv?key=planted-secret');
  const place = placeOfList(await openListSource(source, noVariable), firing);
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
  expect(() => readListSource(source)).toThrow(expect.objectContaining({ isBadInput: true }));
});

test('a signed list URL is no argument and is not kept: what is written down says where it stands', async () => {
  const url = 'https://lists.example.com/{{ date }}.csv?signature=planted-secret';
  const folder = await mkdtemp(join(tmpdir(), 'carillon-list-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'url'), `${url}\n`);
  const variables = new Map([['CARILLON_URL_LIST', url]]);
  for (const written of ['env://CARILLON_URL_LIST', `url-file://${join(folder, 'url')}`]) {
    const source = readListSource(written);
    expect(source).toEqual({ kind: 'kept', pattern: written });
    expect(showSource(source)).toBe(written);
    expect(await openListSource(source, (name) => variables.get(name))).toEqual({ kind: 'url', pattern: url });
  }
});

test.each([
  { value: undefined, says: 'env://CARILLON_URL_LIST is not set for this worker' },
  { value: 'planted-secret', says: 'what stands in env://CARILLON_URL_LIST is no address' },
  { value: 'http://lists.example.com/planted-secret', says: 'is no address of a list' },
])('a list whose address stands elsewhere and cannot be used is a sentence without it: $value', async ({ value, says }) => {
  const opening = openListSource(readListSource('env://CARILLON_URL_LIST'), () => value);
  await expect(opening).rejects.toThrow(KeptUrlError);
  await expect(opening).rejects.toThrow(says);
  await expect(opening).rejects.not.toThrow('planted-secret');
});

test.each(['env://SVC_API_KEY', 'env://', 'url-file://relative'])('%s is refused where it is written', (written) => {
  expect(() => readListSource(written)).toThrow(/write env:\/\/CARILLON_URL_<NAME>, or url-file:\/\/\/path/);
});

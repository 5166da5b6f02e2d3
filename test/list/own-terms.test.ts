import { expect, test } from 'vitest';
import { minimalCampaign, importList } from './campaign-folder.ts';

/** The rows of a list with such a column, by what they say there: people in New York. */
async function read(setting: string, cells: readonly string[], hours = 'any') {
  const named = minimalCampaign.replace('phone: phone', `phone: phone, default_region: US, ${setting}: own`);
  const yaml = named.replace('hours: any', `hours: ${hours}`);
  const lines = cells.map((cell, index) => `212555${String(100 + index).padStart(4, '0')},"${cell}"`);
  return (await importList(yaml, ['phone,own', ...lines, ''].join('\n'))).rows;
}

test('a priority is a whole number from 1 to 100; what else stands there refuses its row and is named', async () => {
  const rows = await read('priority', ['1', '100', ' 7 ', '', '0', '101', '1.5', 'high', '-1']);
  expect(rows.slice(0, 4).map(({ verdict, priority }) => [verdict, priority])).toEqual([
    ['accepted', 1],
    ['accepted', 100],
    ['accepted', 7],
    ['accepted', undefined],
  ]);
  const hint = (cell: string) =>
    `"${cell}" is no priority; write a whole number from 1 (called first) to 100, or leave the cell empty for 50`;
  expect(rows.slice(4)).toMatchObject(
    ['0', '101', '1.5', 'high', '-1'].map((cell, index) => {
      return { row: index + 5, verdict: 'rejected', reason: 'invalid_priority', column: 'own', hint: hint(cell) };
    }),
  );
});

test('whoever the person is stands as it is written; one of endless length refuses its row', async () => {
  const rows = await read('person', ['p-4711', ' Ada@example.com ', '', 'x'.repeat(201)]);
  expect(rows.slice(0, 3).map(({ verdict, personKey }) => [verdict, personKey])).toEqual([
    ['accepted', 'p-4711'],
    ['accepted', 'Ada@example.com'],
    ['accepted', undefined],
  ]);
  expect(rows[3]).toMatchObject({
    verdict: 'rejected',
    reason: 'invalid_person',
    column: 'own',
    hint: expect.stringContaining('at most 200'),
  });
});

test('hours of a row are read as those of a campaign, with days before the windows, and kept in one form', async () => {
  const written = {
    '14:00-16:00': '14:00-16:00',
    'Mon-Fri 18:00-20:00': 'Mon-Fri 18:00-20:00',
    'monday – friday 8:30–12:00; SAT 10:00-12:00': 'Mon-Fri 08:30-12:00, Sat 10:00-12:00',
    ' 09:00-11:00 , 15:00-17:00 ': '09:00-11:00, 15:00-17:00',
    'Sat-Sun 10:00-12:00': 'Sat-Sun 10:00-12:00',
  };
  const rows = await read('hours', Object.keys(written));
  expect(rows.map(({ verdict, hours }) => [verdict, hours])).toEqual(Object.values(written).map((hours) => ['accepted', hours]));
});

test('hours of a row that cannot be read refuse it, and say what to write', async () => {
  const faults: [cell: string, said: string][] = [
    ['afternoon', '"afternoon" are no calling hours; write "14:00-16:00", "Mon-Fri 18:00-20:00", or several windows'],
    ['14-16', '"14-16" are no calling hours'],
    ['16:00-16:00', 'write an end after the start'],
    ['18:00-09:00', 'write the earlier time first'],
    ['Mon 25:00-26:00', 'are no calling hours'],
    ['Monkey 10:00-12:00', 'are no calling hours'],
    ['10:00-12:00, 11:00-13:00', '"10:00-12:00" and "11:00-13:00" overlap'],
    ['Mon-Wed 10:00-12:00, Tue 11:00-13:00', '"10:00-12:00" and "11:00-13:00" overlap'],
    ['Mon 10:00-12:00, 14:00-16:00', 'the days before each window, or before none'],
    ['Mon, Wed 10:00-12:00', 'are no calling hours'],
  ];
  const rows = await read('hours', faults.map(([cell]) => cell)); // prettier-ignore
  for (const [index, [, said]] of faults.entries()) {
    expect(rows[index]).toMatchObject({ row: index + 1, verdict: 'rejected', reason: 'invalid_hours', column: 'own' });
    expect(rows[index]).toMatchObject({ hint: expect.stringContaining(said) });
  }
});

test('hours of a row that campaign and law leave no longer than the margin refuse it, and name the zone', async () => {
  const office = '{ mon: "09:00-17:00", tue: "09:00-12:00" }';
  // The law of New York lets nobody be called after 21:00, nor that of the country before 8:00.
  const rows = await read('hours', ['16:50-18:00', '16:49-18:00', 'Tue 12:00-13:00', 'Wed-Sun 10:00-12:00', 'Mon 06:00-23:00'], office);
  expect(rows.map(({ verdict }) => verdict)).toEqual(['rejected', 'accepted', 'rejected', 'rejected', 'accepted']);
  const never = 'they are never open in America/New_York for longer than advanced.dispatch_margin (10m)';
  expect(rows[0]).toMatchObject({
    hint: `"16:50-18:00" leave no time to call: with the hours of the campaign and of the law, ${never}; write hours that are, or leave the cell empty`,
  });
  const atAnyHour = await read('hours', ['21:00-23:30', '05:00-07:55', '22:00-02:00', '20:00-22:00']);
  expect(atAnyHour.map(({ verdict }) => verdict)).toEqual(['rejected', 'rejected', 'rejected', 'accepted']);
});

test('hours of a row that may be in several zones must be open in all of them at once', async () => {
  const campaign = minimalCampaign.replace('phone: phone', 'phone: phone, hours: own').replace('hours: any', 'hours: any\nlaw: off');
  // A number of Canada or the US without a place: from Newfoundland to Hawaii.
  const { rows } = await importList(campaign, 'phone,own\n+18005550100,14:00-16:00\n+18005550101,\n');
  expect(rows[0]).toMatchObject({
    verdict: 'rejected',
    reason: 'invalid_hours',
    hint: expect.stringMatching(/in all of its \d+ time zones at once/),
  });
  expect(rows[1]).toMatchObject({ verdict: 'accepted' });
});

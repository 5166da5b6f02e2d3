import { expect, test } from 'vitest';
import { readHouseFile } from '../../../src/campaign/file/house-file.ts';
import { dayMs } from '../../support/campaign-rules.ts';

const read = (text: string) => readHouseFile('house.yaml', Date.parse('2030-01-15T12:00:00Z'), text);

test('a file of house rules is read in the words of a campaign file', async () => {
  const { rules, text } = await read(
    [
      'hours: { mon: "09:00-18:00" }',
      'holidays: [US, "2030-08-01"]',
      'caps: [{ calls: 3, within: 7d }, { by: person, after_talk: 30d }]',
      'caller_limits: { per_day: 80 }',
      'consent: required',
    ].join('\n'),
  );
  expect(text).toContain('per_day');
  expect(rules).toMatchObject({
    calendar: { hours: { mon: [{ from: 540, to: 1080 }] } },
    caps: [
      { by: 'number', calls: 3, withinMs: 7 * dayMs },
      { by: 'person', afterTalkMs: 30 * dayMs },
    ],
    callerLimits: { perHour: null, perDay: 80 },
    requires: { consent: true, optOut: false },
  });
  for (const day of ['2030-07-04', '2030-08-01', '2031-12-25']) expect(rules.calendar.closedOn).toContain(day);
  const open = await read('{}');
  expect(open.rules).toMatchObject({ calendar: { hours: null, closedOn: [] }, caps: [], callerLimits: null });
});

test.for([
  ['caps: [{ calls: 3 }]\nhours: { mon: "17:00-09:00" }\n', /house\.yaml:2: hours\.mon[\s\S]*house\.yaml:1: caps\[0\]/],
  ['consent: yes please\n', /consent[\s\S]*write required/],
  ['cap: []\n', /cap\b[\s\S]*caps/],
  ['caps: [{ calls: 3, within: 7d }, { calls: 3, within: 7d }]\n', /caps\[1\][\s\S]*stands twice/],
  ['- a list\n', /house\.yaml/],
  ['', /house\.yaml/],
] as const)('what is wrong with it is told by its line: %j', async ([text, says]) => {
  await expect(read(text)).rejects.toThrow(says);
});

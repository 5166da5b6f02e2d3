import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { campaignRules, readCampaignFile } from '../../../src/campaign/file/file.ts';
import { openStretches, readWindows } from '../../../src/rules/hours/weekly-hours.ts';
import { describeImpossible, impossibleAsJson, refuseImpossible, WindowStats } from '../../../src/campaign/preflight/impossible.ts';
import { StartTime } from '../../../src/campaign/preflight/start-time.ts';
import { readHeader } from '../../../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../../../src/list/recipients.ts';
import { CampaignFileError } from '../../../src/shared/input/errors.ts';
import { numberAt } from '../../interfaces/cli/campaign-world.ts';
import { importList, messageOf, minimalCampaign, writeCampaign } from '../../list/campaign-folder.ts';

/** Monday, 15:00 UTC. */
const monday = Date.UTC(2026, 0, 5, 15);

function campaign(hours: string, more = ''): string {
  return minimalCampaign
    .replace('phone: phone', 'phone: phone, timezone: tz, state: state')
    .replace('hours: any\n', `hours: ${hours}\n${more}`);
}

/** Rows of `number,zone,state`; `extra`: files beside the campaign's. */
async function judge(yaml: string, rows: readonly string[], extra: Readonly<Record<string, string>> = {}) {
  const { campaignPath, folder } = await writeCampaign(yaml, `phone,tz,state\n${rows.join('\n')}\n`);
  for (const [name, text] of Object.entries(extra)) await writeFile(join(folder, name), text);
  const file = await readCampaignFile(campaignPath);
  const header = await readHeader(file);
  const rules = campaignRules(file, header.columns, monday);
  const census = new WindowStats(rules, monday);
  for await (const _ of census.count(readRecipients(file, header, rules))) continue;
  const found = census.find(monday);
  let refusal = '';
  try {
    refuseImpossible(file, rules, found);
  } catch (error) {
    refusal = (error as Error).message.replaceAll(/^.*campaign\.yaml:/gm, '');
  }
  return { refusal, warnings: describeImpossible(found), found };
}

const alabama = '+12055550101,America/Chicago,AL';
const georgia = '+14045550102,America/New_York,GA';
const source = 'Ala. Admin. Code r. 770-X-5-.17(1)(b), automated solicitation';

test('hours that the law rules out for everybody are refused, each day with rule, source and fix', async () => {
  const { refusal, found } = await judge(campaign('{ sun: "10:00-18:00" }'), [alabama]);
  expect(refusal).toBe(
    `5: hours.sun: "10:00-18:00" leaves no time to call anyone in the list: rule us-al (${source}) allows no calls on sun; write hours that it allows for longer than advanced.dispatch_margin (10m)`,
  );
  expect(impossibleAsJson(found)).toEqual({
    all: true,
    rows: 1,
    places: [
      {
        country: 'US',
        regions: ['AL'],
        zones: ['America/Chicago'],
        rows: 1,
        firstRow: 1,
        law: [{ id: 'us-al', source }],
      },
    ],
  });

  const late = await judge(campaign('{ mon: "21:30-23:00", tue: ["06:00-07:30", "21:00-22:00"] }'), [georgia]);
  expect(late.refusal.split('\n')).toEqual([
    expect.stringMatching(/^5: hours\.mon: "21:30-23:00" leaves .* rule us \(47 CFR 64\.1200\(c\)\(1\)\) allows 08:00-21:00 on mon;/),
    expect.stringMatching(/^5: hours\.tue: "06:00-07:30, 21:00-22:00" leaves/),
  ]);
});

test('what the law leaves must be longer than the margin', async () => {
  const hours = '{ mon: "07:00-08:10" }';
  expect((await judge(campaign(hours), [georgia])).refusal).toMatch(/^5: hours\.mon: .*allows 08:00-21:00/);
  expect((await judge(campaign('{ mon: "07:00-08:11" }'), [georgia])).refusal).toBe('');
  expect((await judge(campaign(hours, 'advanced: { dispatch_margin: 5m }\n'), [georgia])).refusal).toBe('');
  expect((await judge(campaign(hours, 'law: off\n'), [georgia])).refusal).toBe('');
});

test('where some can be called, the others are counted by place and warned about', async () => {
  const { refusal, warnings, found } = await judge(campaign('{ sun: "10:00-18:00" }'), [
    alabama,
    georgia,
    '+12055550103,America/Chicago,AL',
    '+16015550104,America/Chicago,MS',
  ]);
  expect(refusal).toBe('');
  expect(found).toMatchObject({ all: false, rows: 3 });
  expect(warnings).toEqual([
    `2 rows of US AL in America/Chicago (the first is row 1) can never be called: the hours of the campaign and rule us-al (${source}) are never open at the same time; they end as undialable`,
    expect.stringMatching(/^1 row of US MS in America\/Chicago \(the first is row 4\) .*us-ms.* it ends as undialable$/),
  ]);
});

test('zones that are never open together are told as that, and not as a matter of law', async () => {
  const hours = '{ mon: "09:00-11:00" }';
  const tollFree = '+18005550101,,';
  const some = await judge(campaign(hours), [georgia, tollFree]);
  expect(some.warnings).toEqual([
    expect.stringMatching(
      /^1 row of US in America\/Adak, .* and 38 more zones .*: the hours of the campaign are never open in all 42 time zones at once; it ends/,
    ),
  ]);
  const all = await judge(campaign(hours), [tollFree]);
  expect(all.refusal).toMatch(/^5: hours: no recipient in the list can ever be called: .*42 time zones.*; name the zone of each row/);
});

test('the rules named are those that leave nothing, also when only two together do', async () => {
  const oneRule = await judge(campaign('{ mon: "07:00-10:15" }', 'advanced: { dispatch_margin: 30m }\n'), [
    georgia,
    '+18005550101,America/New_York,',
  ]);
  // With an unknown state every state's rule applies, and one opens at ten.
  expect(oneRule.warnings).toEqual([expect.stringMatching(/ and rule us-ky \(.*\) are never open at the same time; it ends/)]);
  const own = (id: string, hours: string) => `{ id: ${id}, country: US, region: GA, hours: { daily: "${hours}" }, source: a test }`;
  const rules = `as_of: 2026-01-01\nrules: [${own('early', '08:00-12:00')}, ${own('late', '12:00-20:00')}, ${own('wide', '09:00-20:00')}]\n`;
  const two = await judge(campaign('{ mon: "09:00-17:00" }', 'law: own.yaml\n'), [georgia], { 'own.yaml': rules });
  expect(two.refusal).toMatch(/: rule early \(a test\) allows 08:00-12:00 on mon, and rule late \(a test\) allows 12:00-20:00 on mon;/);
  expect(two.refusal).not.toMatch(/wide/);
});

test('zones that only a rule keeps from being open together are told with the rule', async () => {
  const { refusal } = await judge(campaign('{ mon: "00:00-24:00", tue: "00:00-24:00" }'), ['+18005550101,,']);
  // The shortest day of any state.
  expect(refusal).toMatch(/^5: hours: no recipient .* and rule us-me \(.*\) are never open in all 42 time zones at once; name the zone/);
});

test('with hours: any the rule alone is at fault', async () => {
  const own = 'as_of: 2026-01-01\nrules: [{ id: never, country: US, hours: { daily: closed }, source: a test }]\n';
  const { refusal } = await judge(campaign('any', 'law: own.yaml\n'), [georgia], { 'own.yaml': own });
  expect(refusal).toMatch(/^6: law: no recipient in the list can ever be called: .*rule never \(a test\).*; correct the rule/);
});

test('a rule that holds for a time only is waited for', async () => {
  const judgeUntil = async (until: string) => {
    const rule = `{ id: us-ga, country: US, region: GA, hours: { daily: closed }, until: ${until}, source: a test }`;
    const extra = { 'own.yaml': `as_of: 2026-01-01\nrules: [${rule}]\n` };
    return (await judge(campaign('{ mon: "09:00-17:00" }', 'law: own.yaml\n'), [georgia], extra)).refusal;
  };
  expect(await judgeUntil('2026-11-30')).toBe('');
  expect(await judgeUntil('2029-11-30')).toMatch(/us-ga \(a test, until 2029-11-30\) allows no calls on mon/);
});

test('a campaign that starts later is judged from then on', async () => {
  const rule = `{ id: us-ga, country: US, region: GA, hours: { daily: closed }, from: 2028-01-01, source: a test }`;
  const extra = { 'own.yaml': `as_of: 2026-01-01\nrules: [${rule}]\n` };
  const hours = '{ mon: "09:00-17:00" }';
  expect((await judge(campaign(hours, 'law: own.yaml\n'), [georgia], extra)).refusal).toBe('');
  const later = campaign(hours, 'law: own.yaml\nstarts_at: 2028-01-02T00:00:00Z\n');
  expect((await judge(later, [georgia], extra)).refusal).toMatch(/us-ga \(a test, from 2028-01-01\)/);
});

test('rows without a known zone are no reason to refuse, and without hours and law nothing is', async () => {
  const unknown = '+870773111632,,';
  expect((await judge(campaign('{ mon: "09:00-17:00" }'), [unknown])).refusal).toBe('');
  expect((await judge(campaign('any', 'law: off\n'), [unknown, georgia])).warnings).toEqual([]);
});

test('of many places all are counted, and only the largest are explained', async () => {
  const zones = ['America/Chicago', 'America/New_York', 'America/Denver'];
  const rows = ['AL', 'LA', 'MS'].flatMap((state, i) =>
    zones.map((zone, j) => `+1205555${String(100 + i * 10 + j).padStart(4, '0')},${zone},${state}`),
  );
  const { found, warnings } = await judge(campaign('{ sun: "10:00-18:00" }'), rows);
  expect(found).toMatchObject({ all: true, rows: 9 });
  const explained = ['us-al', 'us-al', 'us-al', 'us-la', 'us-la'];
  expect(found.places.map(({ law }) => law?.map(({ id }) => id).join() ?? null)).toEqual([...explained, null, null, null, null]);
  expect(warnings[8]).toMatch(/hours and law are never open at the same time there; it ends/);
});

test.each([
  [
    '{ mon: "17:00-09:00" }',
    '5 hours.mon: "17:00-09:00" cannot be used; write the earlier time first; a window that ends on the next day lasts 12 hours at most',
  ],
  [
    '{ mon: "17:00-17:00" }',
    '5 hours.mon: "17:00-17:00" cannot be used; write an end after the start, or "00:00-24:00" for the whole day; leave a closed day out',
  ],
  ['{}', '5 hours: {} cannot be used; write the windows of each weekday, such as mon: "09:00-17:00", or hours: any to dial at any hour'],
  ['{ mon: [] }', '5 hours.mon: [] cannot be used; write "09:00-17:00"'],
  ['{ mon: ~ }', '5 hours.mon: null cannot be used; write "09:00-17:00"'],
  ['{ mon: "09:00-25:00" }', '5 hours.mon: "09:00-25:00" cannot be used; write "09:00-17:00"'],
  ['{ mon: "09:00-09:10" }', '5 hours.mon: "09:00-09:10" cannot be used; write a longer window'],
  ['{ mon: "23:55-24:00" }', '5 hours.mon: "23:55-24:00" cannot be used; write a longer window'],
  ['{ mon: "23:55-00:05" }', '5 hours.mon: "23:55-00:05" cannot be used; write a longer window'],
  [
    '{ mon: "09:00-17:00", tue: ["09:00-12:00", "12:30-12:35"] }',
    "5 hours.tue: [ '09:00-12:00', '12:30-12:35' ] cannot be used; write a longer window",
  ],
])('hours: %s is refused with path, value and fix', async (hours, expected) => {
  const { campaignPath } = await writeCampaign(minimalCampaign.replace('hours: any', `hours: ${hours}`), '');
  const message = await messageOf(readCampaignFile(campaignPath));
  expect(message.replace(/^.*campaign\.yaml:(\d+):/, '$1')).toContain(expected);
});

test.each([
  ['{ mon: "22:00-02:00" }'],
  ['{ sun: "18:00-06:00" }'],
  ['{ mon: "23:55-24:00", tue: "00:00-00:10" }'],
  ['{ sun: "23:55-24:00", mon: "00:00-00:10" }'],
])('hours: %s is taken', async (hours) => {
  const { campaignPath } = await writeCampaign(minimalCampaign.replace('hours: any', `hours: ${hours}`), '');
  await expect(readCampaignFile(campaignPath)).resolves.toBeDefined();
});

test('windows that touch at midnight are one stretch, also from Sunday to Monday', () => {
  const day = (from: number, to: number) => [{ from, to }];
  expect(openStretches({ mon: day(0, 60), tue: day(540, 1440), wed: day(0, 30), sun: day(1380, 1440) })).toEqual([
    { day: 'tue', minutes: 930 },
    { day: 'sun', minutes: 120 },
  ]);
  const always = Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((name) => [name, day(0, 1440)]));
  expect(openStretches(always)).toEqual([{ day: 'mon', minutes: 7 * 1440 }]);
  expect(openStretches({})).toEqual([]);
});

test('one value or a list of them is read as windows', () => {
  expect(readWindows('09:00-17:00')).toEqual([{ from: 540, to: 1020 }]);
  expect(readWindows(['09:00-12:00', '13:00-17:00'])).toHaveLength(2);
  for (const value of [[], null, 9, ['09:00-12:00', 'x'], ['09:00-12:00', '11:00-13:00']]) expect(readWindows(value)).toHaveProperty('fix');
});

interface Tried {
  yaml: string[];
  rows?: number;
  list?: string;
  hours?: string;
  columns?: string;
  accountLines?: number;
  allowPartial?: boolean;
  impossibleRows?: number;
}

/** The warnings about time, or the message of the refusal. */
async function timeOf(tried: Tried): Promise<string[] | string> {
  const { yaml, rows = 100, hours = 'any', columns = '', accountLines = null, allowPartial = false } = tried;
  const list = tried.list ?? `phone\n${Array.from({ length: rows }, (_, index) => numberAt(index)).join('\n')}\n`;
  const text = minimalCampaign.replace('hours: any', `hours: ${hours}`).replace('phone: phone', `phone: phone${columns}`);
  const { file, columns: header, rows: read } = await importList(`${text}${yaml.join('\n')}\n`, list);
  const rules = campaignRules(file, header, monday);
  const time = new StartTime(rules, monday);
  time.add(read);
  try {
    return time.judge({ file, rules, accountLines, allowPartial, impossibleRows: tried.impossibleRows ?? 0 });
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    return error.message.replace(/^\S+campaign\.yaml/, 'campaign.yaml');
  }
}

const oneLine = 'pacing: { max_concurrent_calls: 1, batch_size: 1 }';
const once = 'retry: { max_attempts: 1 }';
const tooShort = ['law: off', 'ends_at: 2026-01-05T15:40:00Z', oneLine, once];

test('an end that leaves somebody without a call even at best is refused with what the campaign needs', async () => {
  expect(await timeOf({ yaml: tooShort })).toMatch(
    /^campaign\.yaml:7: ends_at: 2026-01-05T15:40:00\.000Z leaves too little time: even at best 40 recipients would never be called\. The window is too short: \d\d recipients would likely never be called before 2026-01-05 15:40 UTC\. It needs 54 min more or 3 concurrent calls \(now 1\)\. Write what it needs, or .*--allow-partial$/,
  );
});

test('what it needs is enough: the time, the calls, or the wish to call only some', async () => {
  const later = tooShort.map((line) => line.replace('15:40', '16:34'));
  expect(await timeOf({ yaml: later })).toEqual([]);
  const tooEarly = tooShort.map((line) => line.replace('15:40:00', '16:32:59'));
  expect(await timeOf({ yaml: tooEarly })).toEqual([expect.stringContaining('would likely never be called')]);
  const wider = tooShort.map((line) => line.replace('calls: 1', 'calls: 3'));
  expect(await timeOf({ yaml: wider })).toEqual([]);
  expect(await timeOf({ yaml: wider, accountLines: 1 })).toMatch(/the account allows no more/);
  expect(await timeOf({ yaml: tooShort, allowPartial: true })).toEqual(['even at best 40 recipients would never be called']);
});

test('where only the likely course does not fit, that is one warning', async () => {
  const likely = tooShort.map((line) => line.replace('15:40', '16:10'));
  expect(await timeOf({ yaml: likely })).toEqual([
    expect.stringMatching(/^the window is short: \d+ recipients would likely never be called before the end; a check of the file/),
  ]);
  const retries = ['law: off', 'ends_at: 2026-01-05T16:10:00Z', 'retry: { max_attempts: 2, no_answer: 24h }'];
  expect(await timeOf({ yaml: retries })).toEqual([
    expect.stringMatching(/^the window is short: \d+ recipients would likely not get all attempts before the end/),
  ]);
});

test('a campaign without an end has time enough', async () => {
  expect(await timeOf({ yaml: [oneLine], hours: '{ sun: "09:00-10:00" }' })).toEqual([]);
});

test('an end before anybody can be called is refused, whatever is wished', async () => {
  const yaml = ['ends_at: 2026-01-05T21:00:00Z'];
  const hours = '{ wed: "09:00-17:00" }';
  for (const allowPartial of [false, true]) {
    expect(await timeOf({ yaml, hours, allowPartial })).toMatch(
      /^campaign\.yaml:6: ends_at: 2026-01-05T21:00:00\.000Z is too early: no recipient .* The first hours open 2026-01-07T14:00:00\.000Z/,
    );
  }
  const list = `phone,until\n${numberAt(0)},\n${numberAt(1)},2026-01-04\n`;
  expect(await timeOf({ yaml, hours, list, columns: ', expires_at: until' })).toMatch(
    /^campaign\.yaml:4: list: none of the rows of list\.csv would be called \(row_expired 1, no_open_window_before_end 1\)/,
  );
});

test('rows that end by themselves are named as what ends too soon', async () => {
  const list = `phone,until\n${Array.from({ length: 60 }, (_, index) => `${numberAt(index)},2026-01-05T15:30:00Z`).join('\n')}\n`;
  const tried = { columns: ', expires_at: until', list };
  expect(await timeOf({ ...tried, yaml: ['law: off', oneLine, once] })).toMatch(
    /^campaign\.yaml:4: list\.expires_at: "until" leaves too little time: even at best \d+ recipients/,
  );
  expect(await timeOf({ ...tried, yaml: tooShort })).toMatch(/^campaign\.yaml:4: list\.expires_at: "until"/);
});

test('rows whose hours do not open before the end are counted, those told of elsewhere are not', async () => {
  const list = `phone\n${numberAt(0)}\n+13105550103\n+13105550104\n`;
  const late = { yaml: ['ends_at: 2026-01-05T16:30:00Z', once], hours: '{ mon: "09:00-17:00" }', list };
  expect(await timeOf(late)).toEqual([expect.stringMatching(/^2 rows cannot be called before the end of the campaign/)]);
  expect(await timeOf({ ...late, impossibleRows: 2 })).toEqual([]);
});

import { expect, test } from 'vitest';
import { campaignRules } from '../../../src/campaign/file/file.ts';
import { CampaignFileError } from '../../../src/shared/input/errors.ts';
import { StartTime } from '../../../src/campaign/preflight/start-time.ts';
import { importList, minimalCampaign } from '../../list/campaign-folder.ts';
import { numberAt } from '../../interfaces/cli/campaign-world.ts';

/** A Monday, 15:00 UTC: 10:00 in New York. */
const monday = Date.UTC(2026, 0, 5, 15);

interface Tried {
  /** Lines of the campaign file below the smallest one. */
  yaml: string[];
  rows?: number;
  list?: string;
  hours?: string;
  columns?: string;
  accountLines?: number;
  allowPartial?: boolean;
  impossibleRows?: number;
}

/** What a start says of its time: the warnings, or the message with which it refuses. */
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

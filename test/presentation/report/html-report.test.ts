import { expect, test } from 'vitest';
import { withInstants } from '../../../src/shared/input/times.ts';
import { mostReportBytes, renderHtmlReport, ReportTooLargeError } from '../../../src/presentation/report/html-report.ts';
import { callLine } from '../charts/sample-data.ts';
import { sampleCampaign, samplePeople, sampleReport } from './sample-report.ts';
import { dataOf } from '../../support/report-file.ts';
import { holds } from '../../support/answers.ts';

test('a report holds the data that it was made from', () => {
  const data = sampleReport();
  const { people: _people, ...shown } = data;
  expect(dataOf(renderHtmlReport(data))).toEqual(withInstants(shown));
});

test('equal data give an equal file', () => {
  expect(renderHtmlReport(sampleReport())).toBe(renderHtmlReport(sampleReport()));
});

test('nothing in it runs, and nothing in it is asked for elsewhere', () => {
  const text = renderHtmlReport(sampleReport({ people: [samplePeople('spring', 3)] }));
  expect(text).not.toMatch(/<(?:img|link|iframe|object|embed|audio|video|form|base)\b|\son\w+=|url\(|@import|src=|href=|xlink/);
  expect(text.match(/<script[^>]*>/g)).toEqual(['<script type="application/json" id="data">']);
  expect(text).toMatch(/http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;/);
});

test('people are in it only when they are asked for', () => {
  const people = [samplePeople('spring', 3)];
  const without = renderHtmlReport(sampleReport());
  holds(without, ['It names no person.'], [/guest-|\+1\d{10}/]);
  const text = renderHtmlReport(sampleReport({ people }));
  expect(text).toContain('+12005550100');
  expect(dataOf(text).people[0].rows[0].externalId).toBe('guest-0');
  expect(text).toContain('And 7 rows more: carillon results spring has all.');
});

test('violations are named with their promise, and their number where not all are shown', () => {
  const { proof } = sampleReport();
  const text = renderHtmlReport(sampleReport());
  holds(text, ['1 violation found; 33 promises checked.', 'call spring/1/1 was repeated']);
  const violations = Array.from({ length: 900 }, (_, n) => ({ campaignId: 'spring', promise: 'p', at: null, what: `call ${n}` }));
  const many = renderHtmlReport(sampleReport({ proof: proof === null ? null : { ...proof, found: 900, violations } }));
  holds(many, ['900 violations found', 'carillon verify shows all of them.']);
});

const hostile = `</script><script>alert("x")</script><img src=x onerror='alert(1)'> & \u202egpj.exe\u2028 <!-- `;

test('whatever a list, an agent or a caller has written stays text', () => {
  const campaign = sampleCampaign('spring', {
    name: hostile,
    stateReason: hostile,
    collected: { [hostile]: [{ value: hostile, count: 1, share: 1 }], __proto__x: [] },
    evaluation: { constructor: [{ value: '__proto__', count: 2, share: 1 }] },
  });
  const text = renderHtmlReport(sampleReport({ campaigns: [campaign] }));
  expect(text).not.toMatch(/<img|<script>|<!--/);
  expect(text.match(/<\/script>/g)).toHaveLength(1);
  expect(dataOf(text).campaigns[0].name).toBe(hostile);
  expect(Object.keys(dataOf(text).campaigns[0].collected)).toContain(hostile);
});

test('10,000 values, 1,000 collected names, 200 caller numbers and a year of days fit, and what is left out is told', () => {
  const values = Array.from({ length: 10_000 }, (_, n) => ({
    value: `${hostile} ${n}`.padEnd(80, 'x').slice(0, 80),
    count: 10_000 - n,
    share: 0.0001,
  }));
  const days = Array.from({ length: 365 }, (_, n) => callLine(new Date(Date.UTC(2030, 0, 1 + n)).toISOString().slice(0, 10), 9, 3));
  const campaign = sampleCampaign('spring', {
    collected: Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`wish_${n}`, n === 0 ? values : values.slice(0, 3)])),
    caller: Array.from({ length: 200 }, (_, n) => ({ ...callLine(`pn_${n}`, 9 * 365, 3 * 365), days })),
    day: days,
    zone: Array.from({ length: 300 }, (_, n) => callLine(`Zone/${n}`, 3, 1)),
  });
  const text = renderHtmlReport(sampleReport({ campaigns: [campaign] }));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(mostReportBytes);
  const [shown] = dataOf(text).campaigns;
  const kept = shown.collected.wish_0.length;
  expect(shown.collected.wish_0).toEqual(JSON.parse(JSON.stringify(values.slice(0, kept))));
  expect(shown.leftOut).toMatchObject({ 'collected.wish_0': 10_000 - kept, collected: 1_000 - Object.keys(shown.collected).length });
  expect(text).toContain(`And ${(10_000 - kept).toLocaleString('en-US')} more.`);
  expect(shown.caller[0].days.at(-1).value).toBe('2030-12-31');
});

test('four full campaigns with their people fit side by side; so many that they do not are refused with what to do', () => {
  const ids = ['spring', 'summer', 'autumn', 'winter'];
  const campaigns = ids.map((id) => sampleCampaign(id));
  expect(
    Buffer.byteLength(renderHtmlReport(sampleReport({ campaigns, people: ids.map((id) => samplePeople(id, 500)) }))),
  ).toBeLessThanOrEqual(mostReportBytes);
  const many = Array.from({ length: 8 }, (_, n) => sampleCampaign(`campaign-${n}`));
  expect(() => renderHtmlReport(sampleReport({ campaigns: many }))).toThrow(
    expect.objectContaining({
      constructor: ReportTooLargeError,
      message: expect.stringMatching(/^The report of 8 campaigns would have \d+ KB.* Name fewer/) as string,
    }),
  );
});

test('a campaign that has called nobody has a report as well', () => {
  const calls = { calls: 0, open: 0, answered: 0, answerRate: null, talkSeconds: null };
  const none = { disposition: [], attempt: [], week: [], caller: [], collected: {}, evaluation: {} };
  const empty = sampleCampaign('new', { state: 'draft', calls, firstCallAt: null, lastCallAt: null, course: null, ...none });
  const text = renderHtmlReport(sampleReport({ campaigns: [empty], proof: null }));
  holds(text, ['Nobody was called yet.', 'The log was not judged for this report.'], [/NaN|undefined|Infinity/]);
});

test('it begins with a summary: who was reached of those who can be called, what further calls added, what is left, what was proven', () => {
  const outcome = [
    { value: 'completed', count: 50, share: 0.5 },
    { value: 'rejected', count: 20, share: 0.2 },
    { value: 'unresolved', count: 2, share: 0.02 },
    { value: 'in_progress', count: 28, share: 0.28 },
  ];
  const calls = { calls: 70, open: 3, answered: 50, answerRate: 0.75, talkSeconds: null };
  const attempt = [callLine(2, 20, 8), callLine(1, 45, 40), callLine(3, 5, 2)];
  const campaign = sampleCampaign('spring', { rows: { total: 100, ended: 72 }, outcome, calls, attempt });
  const text = renderHtmlReport(sampleReport({ campaigns: [campaign] }));
  const summary = text.slice(text.indexOf('<section class="summary">'), text.indexOf('<h2>Funnel'));
  holds(summary, [
    '50 of 80 people who can be called were reached (62.5 %).',
    'The first call was answered by 40, the second by 8, later ones by 2.',
    /25 people still wait\. 2 people need a decision\./,
    '52 of 80 people done, 20 cannot be called',
    'talk time unknown',
    '1 broken promise: see Proof.',
  ]);
});

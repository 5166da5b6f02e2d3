import { expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { renderReport } from '../../../../src/interfaces/cli/results/report-text.ts';
import type { Report } from '../../../../src/ledger/read/report.ts';
import { findCampaign, type Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import { createLedger, type Ledger } from '../campaign-ledger.ts';
import { buildRows } from '../../../support/campaign-rules.ts';
import { beginProven } from '../../../ledger/scenario.ts';
import { dataOf } from '../../../support/report-file.ts';

test('a report shows a table for each question', async () => {
  const ledger = await createLedger();
  const { code, stdout, stderr } = await ledger.run('report', 'spring');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    'spring: running',
    '3 rows, 2 with an outcome · 2 calls, 1 open · 1 answered (100.0 %)',
    '',
    'outcome             rows        share',
    'completed              1       33.3 %',
    'rejected               1       33.3 %',
    'in_progress            1       33.3 %',
    '',
    'call ended        calls     answered         rate  on the line',
    'answered              1            1      100.0 %',
    'open                  1            0',
    '',
    'attempt        calls     answered         rate  on the line',
    '1                  2            1      100.0 %',
    '',
    'local hour        calls     answered         rate  on the line',
    '07:00                 2            1      100.0 %',
    '',
    '% answered   7',
    'Tuesday    100',
    '',
    'day               calls     answered         rate  on the line',
    '2030-01-15            2            1      100.0 %',
    '',
    'time zone               calls     answered         rate  on the line',
    'America/New_York            2            1      100.0 %',
    '',
    'caller number        calls     answered         rate  on the line',
    'pn_main                  2            1      100.0 %',
    '',
  ]);
});

test('--by chooses the tables, --json prints them for programs', async () => {
  const ledger = await createLedger();
  const chosen = await ledger.run('report', 'spring', '--by', 'outcome, hour', '--json');
  expect(chosen.code).toBe(0);
  expect(JSON.parse(chosen.stdout)).toEqual({
    campaignId: 'spring',
    name: null,
    state: 'running',
    rows: { total: 3, ended: 2 },
    calls: { calls: 2, open: 1, answered: 1, answerRate: 1, talkSeconds: null },
    outcome: [
      { value: 'completed', count: 1, share: 0.3333 },
      { value: 'rejected', count: 1, share: 0.3333 },
      { value: 'in_progress', count: 1, share: 0.3333 },
    ],
    hour: [{ value: 7, calls: 2, open: 1, answered: 1, answerRate: 1, talkSeconds: null }],
  });
  const outcomes = await ledger.run('report', 'spring', '--by', 'outcome');
  expect(outcomes.stdout).toMatch(/^spring: running\n3 rows, 2 with an outcome\n\noutcome/);
});

test('values of free text are cut short in tables, on one line each, and times are clock times', async () => {
  const ledger = await createLedger();
  let campaign: Campaign | undefined;
  await ledger.change(async (store) => {
    campaign = await findCampaign(store.db, 'spring');
  });
  if (campaign === undefined) throw new Error('no campaign');
  const wishes = Array.from({ length: 25 }, (_, n) => ({ value: `wish ${n}\n\u001b[31m`, count: 1, share: 0.04 }));
  const report: Report = {
    campaignId: 'spring',
    name: null,
    state: 'running',
    rows: { total: 1_000, ended: 1_000 },
    calls: { calls: 1_000, open: 0, answered: 250, answerRate: 0.25, talkSeconds: 3_661 },
    collected: { wish: wishes },
    evaluation: {},
  };
  const text = renderReport(campaign, report, null, false);
  expect(text).toContain('1,000 calls · 250 answered (25.0 %) · 1:01:01 on the line');
  expect(text.split('\n').filter((line) => line.startsWith('wish '))).toHaveLength(20);
  expect(text).toContain('\nand 5 more: --json has all\n');
  expect(text).not.toContain('\u001b');
});

async function addAutumn(ledger: Ledger): Promise<void> {
  const rows = buildRows(['+13125550141'], () => 'Zoe');
  await ledger.change((store) => beginProven(store, { campaignId: 'autumn', rows }));
}

test('--html writes one file, whose data are those of --json and whose proof is that of verify', async () => {
  const ledger = await createLedger();
  const { code, stdout, stderr } = await ledger.run('report', 'spring', '--html', ledger.path('report.html'));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/^Report written to .*report\.html \(\d+ KB\)\.\n$/);
  expect((await ledger.run('report', 'spring', '--html', '-')).stdout).toMatch(/^<!doctype html>/);
  const { campaigns, proof, people } = dataOf(ledger.read('report.html'));
  expect(campaigns).toEqual([JSON.parse((await ledger.run('report', 'spring', '--json')).stdout)]);
  expect(people).toBeUndefined();
  const verified = JSON.parse((await ledger.run('verify', 'spring', '--offline', '--json')).stdout);
  expect(proof).toMatchObject({
    ok: verified.ok,
    events: verified.events,
    calls: verified.calls,
    checks: verified.rules.length,
    found: verified.rules.flatMap(({ violations }: { violations: unknown[] }) => violations).length,
  });
});

test('--json without tables tells funnel and course, with instants as text', async () => {
  const ledger = await createLedger();
  const report = JSON.parse((await ledger.run('report', 'spring', '--json')).stdout);
  expect(report).toMatchObject({
    campaignId: 'spring',
    createdAt: '2030-01-15T12:00:00.000Z',
    firstCallAt: '2030-01-15T12:00:00.000Z',
    funnel: { listed: 3, usable: 2, called: 2, answered: 1, completed: 1 },
    cost: null,
  });
  expect(report.course.points[0].at).toBe('2030-01-15T12:00:00.000Z');
});

test('no number, name or cell of the list is in a report; --people adds the numbers', async () => {
  const ledger = await createLedger();
  const path = ledger.path('report.html');
  await ledger.run('report', 'spring', '--html', path);
  for (const planted of ['5550101', '5550102', 'Ana', 'Ben', '1+1']) expect(ledger.read('report.html')).not.toContain(planted);
  expect((await ledger.run('report', 'spring', '--html', path, '--people')).code).toBe(0);
  const text = ledger.read('report.html');
  expect(text).toContain('+12125550101');
  expect(dataOf(text).people[0].rows).toHaveLength(3);
});

test('several campaigns stand side by side, and as a list in JSON', async () => {
  const ledger = await createLedger();
  await addAutumn(ledger);
  const path = ledger.path('both.html');
  const { code, stdout } = await ledger.run('report', 'spring', 'autumn', '--html', path, '--json');
  expect(code).toBe(0);
  const { bytes, ...told } = JSON.parse(stdout);
  expect(told).toEqual({ campaignIds: ['spring', 'autumn'], path, people: false, violations: 0 });
  expect(bytes).toBe(Buffer.byteLength(ledger.read('both.html')));
  const listed = JSON.parse((await ledger.run('report', 'spring', 'autumn', '--json')).stdout);
  expect(listed.campaigns.map(({ campaignId }: { campaignId: string }) => campaignId)).toEqual(['spring', 'autumn']);
  expect(dataOf(ledger.read('both.html')).campaigns).toEqual(listed.campaigns);
  const text = (await ledger.run('report', 'spring', 'autumn')).stdout;
  expect(text).toMatch(/^spring: running\n[^]*\n\nautumn: running\n/);
});

test('an earlier report is replaced, and no other file', async () => {
  const ledger = await createLedger();
  writeFileSync(ledger.path('list.csv'), 'phone,name\n');
  expect(await ledger.run('report', 'spring', '--html', ledger.path('list.csv'))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('this file is no earlier report and will not be overwritten; name another file'),
  });
  expect(ledger.read('list.csv')).toBe('phone,name\n');
  for (let times = 0; times < 2; times += 1)
    expect(await ledger.run('report', 'spring', '--html', ledger.path('report.html'))).toMatchObject({ code: 0 });
});

test.each([
  [
    ['spring', '--by', 'hours'],
    /--by: there is no "hours"\. Did you mean hour\? Possible are outcome, disposition, result, attempt, hour, week, day, zone/,
  ],
  [['sprung'], /no campaign "sprung"\. Did you mean spring\?/],
  [['spring', '--people'], /--people adds rows to an HTML file\. Name it: --html report\.html/],
  [['spring', '--html', 'r.html', '--by', 'hour'], /--html writes every table\. Leave out --by\./],
  [['spring', '--html', '-', '--json'], /both write to standard output\. Name a file\./],
  [['spring', 'sprung', '--html', 'r.html'], /no campaign "sprung"\. Did you mean spring\?/],
  [['spring', '--html', 'nowhere/r.html'], /its folder does not exist; make that first/],
])('%j is refused with what to do', async (args, says) => {
  const ledger = await createLedger();
  const { code, stdout, stderr } = await ledger.run('report', ...args);
  expect(code).toBeGreaterThan(0);
  expect(stdout).toMatch(/^$|^\{"error"/);
  expect(stderr).toMatch(says);
});

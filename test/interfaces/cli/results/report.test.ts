import { expect, test } from 'vitest';
import { renderReport } from '../../../../src/interfaces/cli/results/report-text.ts';
import type { Report } from '../../../../src/ledger/read/report.ts';
import { findCampaign, type Campaign } from '../../../../src/ledger/rows/campaigns.ts';
import { createLedger } from '../campaign-ledger.ts';

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

test.each([
  [
    ['spring', '--by', 'hours'],
    /--by: there is no "hours"\. Did you mean hour\? Possible are outcome, disposition, attempt, hour, week, day, zone/,
  ],
  [['sprung'], /no campaign "sprung"\. Did you mean spring\?/],
])('%j is refused with what is possible', async (args, says) => {
  const ledger = await createLedger();
  expect(await ledger.run('report', ...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(says),
  });
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

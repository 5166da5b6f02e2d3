import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { findCampaign } from '../../../../src/ledger/rows/campaigns.ts';
import { readReportData, type ReportData } from '../../../../src/presentation/report/report-data.ts';
import type { ServiceList } from '../../../../src/verify/judge-list.ts';
import { buildRows } from '../../../support/campaign-rules.ts';
import { beginProven } from '../../../ledger/scenario.ts';
import { createLedger, type Ledger } from '../campaign-ledger.ts';
import { dataOf } from '../../../support/report-file.ts';

async function addAutumn(ledger: Ledger): Promise<void> {
  const rows = buildRows(['+13125550141'], () => 'Zoe');
  await ledger.change((store) => beginProven(store, { campaignId: 'autumn', rows }));
}

test('--html writes one file, whose data are those of --json and whose proof is that of verify', async () => {
  const ledger = await createLedger();
  const { code, stdout, stderr } = await ledger.run('report', 'spring', '--html', ledger.path('report.html'));
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(/^Report written to .*report\.html \(\d+ KB\)\.\n$/);
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

test('a service that does not answer keeps nobody from a report, which says so', async () => {
  const ledger = await createLedger();
  const service: ServiceList = {
    accountId: 'http://service',
    // eslint-disable-next-line require-yield
    async *list() {
      throw new Error('The service cannot be reached.');
    },
  };
  let data: ReportData | undefined;
  await ledger.change(async (store) => {
    const campaigns = [(await findCampaign(store.db, 'spring'))!];
    data = await readReportData(store, { campaigns, now: 0, people: false, verify: { service } });
  });
  expect(data?.proof?.notes.join(' ')).toContain('was not judged: The service cannot be reached.');
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

test('- writes to standard output', async () => {
  const ledger = await createLedger();
  const { stdout } = await ledger.run('report', 'spring', '--html', '-');
  expect(stdout).toMatch(/^<!doctype html>/);
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
  [['spring', '--people'], /--people adds rows to an HTML file\. Name it: --html report\.html/],
  [['spring', '--html', 'r.html', '--by', 'hour'], /--html writes every table\. Leave out --by\./],
  [['spring', '--html', '-', '--json'], /both write to standard output\. Name a file\./],
  [['spring', 'sprung', '--html', 'r.html'], /no campaign "sprung"\. Did you mean spring\?/],
  [['spring', '--html', 'nowhere/r.html'], /its folder does not exist; make that first/],
])('%j is refused with what to do', async (args, says) => {
  const ledger = await createLedger();
  const { code, stderr } = await ledger.run('report', ...args);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toMatch(says);
});

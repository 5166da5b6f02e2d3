import { obeyed } from '../../../support/terminal-poison.ts';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFields } from '../../../../src/list/row-fields.ts';
import { CampaignFileError, ListFileError } from '../../../../src/shared/input/errors.ts';
import { rejectionReasons } from '../../../../src/rules/outcome.ts';
import { runCheck } from '../../../../src/interfaces/cli/check/check.ts';
import { messageOf, minimalCampaign, writeCampaign } from '../../../list/campaign-folder.ts';
import { createTerminal, runCommand, type FakeTerminal } from '../terminal.ts';
import { checkRecords } from '../../../../src/operations/control/check/service.ts';
import { readConfig } from '../../../../src/shared/config.ts';
import type { SandboxOptions } from '../../../../src/sandbox/core/settings/settings.ts';
import { buildRules } from '../../../support/campaign-rules.ts';
import { createManualClock, plainNumbers } from '../../../sandbox/harness.ts';
import { createServiceWorld } from '../service-world.ts';

const exampleCampaign = 'examples/reminders/campaign.yaml';
/** Monday, 15:00 UTC: 10:00 in New York, 07:00 in Los Angeles. */
const monday = Date.UTC(2026, 0, 5, 15);

/** No service, no database. */
function captureIo(now: () => number = () => monday, isTTY = false, env: Record<string, string> = {}): FakeTerminal {
  const io = createTerminal({ now, env: { CARILLON_DB: '/nowhere/carillon.db', ...env } });
  Object.assign(io.stderr, { isTTY });
  return io;
}

const options = { json: false, rowsPath: null };

test('the example has 300 rows, at least 15 bad ones, every rejection code that its columns can have, and opening lines that differ', async () => {
  const io = captureIo();
  const report = await runCheck(io, { ...options, campaignPath: exampleCampaign });
  expect(report).toMatchObject({ rows: 300, openingLines: { shared: 0, advice: null } });
  expect(report.rejected).toBeGreaterThanOrEqual(15);
  // The example has no column of states, and none of consent.
  const ofOtherColumns: string[] = ['invalid_zip', 'invalid_state', 'missing_consent', ...ownFields.map(({ reason }) => reason)];
  // The library's next data may cover any range that is unknown today.
  const possible = rejectionReasons.filter((reason) => reason !== 'unknown_range' && !ofOtherColumns.includes(reason));
  expect(report.rejections.map(({ reason }) => reason)).toEqual(possible);
  expect(report).toMatchObject({ excluded: 0, dialable: report.accepted });
  expect(report.start).toMatchObject({ open: report.accepted, outsideHours: 0, notBefore: 0, capped: 0 });
  expect(report.examples).toHaveLength(3);
  expect(io.written().stdout).toContain('Ready to start. No call was placed.');
  expect(io.written().stderr).toBe('');
});

test('the report tells rejections with examples, who is called when, and shared opening lines', async () => {
  const yaml = `${minimalCampaign.replace('hours: any', 'hours: { mon: "09:00-17:00" }')}first_message: "Hello {{ name }}"\n`;
  const list = `name,phone
Ana,+12125550101
Ana,+12125550102
Ben,+13105550103
Cem,+18005550104
Dee,12
Dee,
`;
  const { campaignPath } = await writeCampaign(yaml, list);
  const io = captureIo();
  const report = await runCheck(io, { ...options, campaignPath });
  expect(report).toMatchObject({
    rows: 6,
    accepted: 4,
    rejected: 2,
    exclusions: [{ reason: 'no_open_window_before_end', count: 1 }],
    dialable: 3,
    start: { open: 2, outsideHours: 1, notBefore: 0, capped: 0, nextAt: monday + 2 * 3_600_000 },
    openingLines: { shared: 2, share: 0.5 },
  });
  expect(io.written().stdout).toMatch(/missing_phone\s+1\n\s+row 6 \(line 7\), column "phone": the cell is empty/);
  expect(io.written().stdout).toMatch(/when their hours open\s+1\n.*first of those who wait: 2026-01-05 17:00 UTC/);
  expect(io.written().stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Opening lines: 2 of 4 are shared by more than one row. Calls with the same words are made one at a time (at most 3 open at once). ' +
      'The largest set has 2 rows: 2 min of calls, one after the other. No column of the list tells them apart: add one that differs',
  );
  expect(io.written().stdout).toContain("The agent's records were not looked at (SVC_API_KEY is not set)");
});

test('a campaign without an opening line is told that its calls cannot be told apart', async () => {
  const { campaignPath } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\n+12125550102\n');
  const report = await runCheck(captureIo(), { ...options, campaignPath });
  expect(report.openingLines).toMatchObject({
    shared: 2,
    share: 1,
    advice: expect.stringContaining('Add a first_message'),
  });
  expect(report.words).toMatchObject({ openAtOnce: 1, doubtful: null });
});

test('the column that would tell the rows apart, and a line that begins another, are named', async () => {
  const yaml = `${minimalCampaign}first_message: "Hello dear {{ name }}"\n`;
  const list = 'name,last_name,phone\nAna,Diaz,+12125550101\nAna,Ruiz,+12125550102\nAna Maria,Sol,+12125550103\nBen,Sol,+12125550104\n';
  const { campaignPath } = await writeCampaign(yaml, list);
  const io = captureIo();
  const report = await runCheck(io, { ...options, campaignPath });
  expect(report).toMatchObject({ openingLines: { shared: 3, groups: 2, begun: 1 }, words: { openAtOnce: 2 } });
  const told = io.written().stdout.replaceAll(/\s+/g, ' ');
  expect(told).toContain('such as "Hello dear Ana" and "Hello dear Ana Maria"');
  expect(told).toContain('Add a column that differs, such as last_name, to first_message.');
});

test('--json prints one document and --rows one line per data row', async () => {
  const { campaignPath, folder } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\nx\n+12125550101\n');
  const rowsPath = join(folder, 'rows.jsonl');
  const { stdout } = await runCommand(['check', campaignPath, '--json', '--rows', rowsPath, '--offline'], { now: () => monday });
  expect(JSON.parse(stdout)).toMatchObject({
    startable: true,
    campaign: { id: 'test' },
    rows: 3,
    accepted: 1,
    rejected: 2,
  });
  const lines = (await readFile(rowsPath, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    { row: 1, verdict: 'accepted', reason: null, e164: '+12125550101', zones: ['America/New_York'] },
    { row: 2, verdict: 'rejected', reason: 'invalid_phone', e164: null, zones: [] },
    { row: 3, verdict: 'rejected', reason: 'duplicate_phone', e164: '+12125550101', zones: ['America/New_York'] },
  ]);
});

test('--rows never overwrites the list or the campaign file', async () => {
  const { campaignPath, listPath } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\n');
  for (const rowsPath of [campaignPath, listPath]) {
    expect(await messageOf(runCheck(captureIo(), { campaignPath, json: false, rowsPath }))).toMatch(/will not be overwritten/);
  }
});

test('a list without one good row is reported and then refused', async () => {
  const { campaignPath } = await writeCampaign(minimalCampaign, 'phone\nx\n');
  const io = captureIo();
  await expect(runCheck(io, { ...options, campaignPath })).rejects.toThrow(/:4: list: none of the 1 rows of list\.csv can be dialled/);
  expect(io.written().stdout).toContain('Cannot start');
});

test('bad files end with exit code 2 and nothing on standard output', async () => {
  const { campaignPath, listPath } = await writeCampaign(minimalCampaign, 'telephone\n1\n');
  const io = captureIo();
  const badColumn: unknown = await runCheck(io, { ...options, campaignPath }).catch((error: unknown) => error);
  expect(badColumn).toBeInstanceOf(CampaignFileError);
  await writeFile(listPath, '');
  const badList: unknown = await runCheck(io, { ...options, campaignPath }).catch((error: unknown) => error);
  expect(badList).toBeInstanceOf(ListFileError);
  expect([badColumn, badList]).toMatchObject([{ isBadInput: true }, { isBadInput: true }]);
  expect(io.written().stdout).toBe('');
});

test('a campaign whose end has passed is refused', async () => {
  const { campaignPath } = await writeCampaign(`${minimalCampaign}ends_at: 2026-01-01T00:00:00Z\n`, 'phone\n+12125550101\n');
  await expect(runCheck(captureIo(), { ...options, campaignPath })).rejects.toThrow(/ends_at: .* has passed/);
});

test('--rows tells of each row that is left out why it would never be called', async () => {
  const yaml = `${minimalCampaign.replace('hours: any', 'hours: { mon: "09:00-17:00" }')}ends_at: 2026-01-05T22:00:00Z\n`;
  const list = 'phone,until\n+12125550101,\n+18005550104,\n+12125550102,2026-01-04\n+12125550103,2026-01-05\nx,\n';
  const { campaignPath, folder } = await writeCampaign(yaml.replace('phone: phone', 'phone: phone, expires_at: until'), list);
  const rowsPath = join(folder, 'rows.jsonl');
  await runCheck(captureIo(), { campaignPath, json: true, rowsPath });
  const lines = (await readFile(rowsPath, 'utf8')).trimEnd().split('\n');
  const found = lines.map((line) => JSON.parse(line) as { row: number; verdict: string; reason: string | null });
  expect(found.map(({ row, verdict, reason }) => [row, verdict, reason])).toEqual([
    [1, 'accepted', null],
    [2, 'excluded', 'no_open_window_before_end'],
    [3, 'excluded', 'row_expired'],
    [4, 'accepted', null],
    [5, 'rejected', 'invalid_phone'],
  ]);
});

test('an end before the hours of everybody is refused, with the first instant at which somebody could be called', async () => {
  const yaml = `${minimalCampaign.replace('hours: any', 'hours: { tue: "09:00-17:00", wed: "09:00-17:00" }')}ends_at: 2026-01-06T14:05:00Z\n`;
  const list = 'phone\n+13105550103\n+12125550101\n';
  const { campaignPath } = await writeCampaign(yaml, list);
  const io = captureIo();
  const error: unknown = await runCheck(io, { ...options, campaignPath }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    isBadInput: true,
    message: expect.stringMatching(
      /:6: ends_at: 2026-01-06T14:05:00\.000Z is too early: no recipient in the list can be called before it\. The first hours open 2026-01-06T14:00:00\.000Z, and a call must begin longer than advanced\.dispatch_margin \(10m\) before the end; write a later time$/,
    ),
  });
  expect(io.written().stdout).toContain('Cannot start: no recipient in the list can be called before ends_at.');
  const later = await writeCampaign(yaml.replace('14:05:00Z', '14:10:01Z'), list);
  expect(await runCheck(captureIo(), { ...options, campaignPath: later.campaignPath })).toMatchObject({ dialable: 1 });
});

test('rows that have all expired, or wait for more than the end, are no fault of ends_at', async () => {
  const yaml = `${minimalCampaign.replace('phone: phone', 'phone: phone, expires_at: until')}ends_at: 2026-01-06T14:05:00Z\n`;
  const { campaignPath } = await writeCampaign(yaml, 'phone,until\n+12125550101,2026-01-04\n');
  const io = captureIo();
  expect(await runCheck(io, { ...options, campaignPath })).toMatchObject({ dialable: 0, forecast: null });
  expect(io.exitCode).toBe(1);
});

test('progress appears on a terminal only, and only when a check takes long', async () => {
  const yaml = `${minimalCampaign}opt_out: [{ collected: opt_out, equals: true }]\n`;
  const { campaignPath } = await writeCampaign(yaml, `phone\n${'x\n'.repeat(5000)}+12125550101\n`);
  const slow = (): (() => number) => {
    let calls = 0;
    return () => monday + 1500 * calls++;
  };
  const terminal = captureIo(slow(), true);
  await runCheck(terminal, { ...options, campaignPath });
  expect(terminal.written().stderr).toMatch(/\r\d,\d{3} rows read/);
  expect(terminal.written().stderr.endsWith('\r\u001b[K')).toBe(true);
  const pipe = captureIo(slow(), false);
  await runCheck(pipe, { ...options, campaignPath });
  expect(pipe.written().stderr).toBe('');
  const fast = captureIo(() => monday, true);
  await runCheck(fast, { ...options, campaignPath });
  expect(fast.written().stderr).toBe('');
});

test('control characters of a list never reach the terminal', async () => {
  const yaml = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;
  const { campaignPath } = await writeCampaign(yaml, 'name,phone\n"\u001b[2JAna\nB",+12125550101\nBen,+12125550102\n');
  const io = captureIo();
  await runCheck(io, { ...options, campaignPath });
  const { stdout } = io.written();
  expect(stdout).toContain('Hello Ben');
  expect(stdout).toContain('U+001B');
  expect(stdout.replaceAll('\n', '')).not.toMatch(obeyed);
});

async function look(options: SandboxOptions) {
  const clock = createManualClock();
  const world = await createServiceWorld({ clock, concurrency: 500, ...options });
  const to = plainNumbers(30).flatMap((number) => ['--to', number]);
  await world.run(['numbers', 'call', '--agent', 'agent_reminders', '--from', 'pn_main', ...to, '--yes']);
  clock.advance(3_600_000);
  return checkRecords(readConfig({ SVC_BASE_URL: world.sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' }), buildRules());
}

test('of the newest records twenty are read, and those that show the number are told from those that do not', async () => {
  expect(await look({ dialect: 'extended' })).toEqual({ asked: true, read: 20, naming: 20, silent: 0 });
  expect(await look({ dialect: 'spec' })).toMatchObject({ asked: true, naming: 0 });
});

test('a key for which a campaign looks in its records and which the agent does not have is named, with the nearest', async () => {
  const world = await createServiceWorld({ dialect: 'extended' });
  const rules = [
    'opt_out: [{ collected: opt_out, equals: true }]',
    'results: [{ result: yes_they_come, collected: apointment, equals: confirmed }, { result: nobody, evaluation: right_person, equals: failure }, { result: cut, talk_under: 5s }]',
  ];
  const campaign = minimalCampaign.replace('agent_1', 'agent_reminders').replace('pn_1', 'pn_main');
  const yaml = `${campaign}${rules.join('\n')}\n`;
  const { campaignPath } = await writeCampaign(yaml, 'name,phone\nAna,+12125550101\n');
  const io = captureIo(() => monday, false, { SVC_BASE_URL: world.sandbox.url, SVC_API_KEY: 'sk_sandbox_ok' });
  const { warnings } = await runCheck(io, { ...options, campaignPath });
  expect(warnings.filter((text) => text.startsWith('results') || text.startsWith('opt_out'))).toEqual([
    'results: agent agent_reminders collects no value "apointment", so this rule never holds. Did you mean "appointment"?',
    'results: agent agent_reminders is evaluated by no criterion "right_person", so this rule never holds',
  ]);
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { CampaignFileError, ListFileError } from '../../src/campaign/errors.ts';
import { rejectionReasons } from '../../src/domain/outcome.ts';
import { checkCommand, runCheck, type CheckIo } from '../../src/cli/check.ts';
import { messageOf, minimalCampaign, writeCampaign } from '../campaign/campaign-folder.ts';

const exampleCampaign = 'examples/reminders/campaign.yaml';
/** A Monday, 15:00 UTC: 10:00 in New York, 07:00 in Los Angeles. */
const monday = Date.UTC(2026, 0, 5, 15);

function captureIo(
  now: () => number = () => monday,
  isTTY = false,
): CheckIo & { out: () => string; err: () => string } {
  const written = { out: '', err: '' };
  const stream = (key: 'out' | 'err'): Writable =>
    new Writable({
      write(chunk: Buffer, _, done) {
        written[key] += chunk.toString();
        done();
      },
    });
  const stderr = Object.assign(stream('err'), { isTTY });
  return { stdout: stream('out'), stderr, now, out: () => written.out, err: () => written.err };
}

const options = { json: false, rowsPath: null };

test('the example has 300 rows, at least 15 bad ones, every rejection code that its columns can have, and opening lines that differ', async () => {
  const io = captureIo();
  const report = await runCheck(io, { ...options, campaignPath: exampleCampaign });
  expect(report).toMatchObject({ rows: 300, openingLines: { shared: 0, advice: null } });
  expect(report.rejected).toBeGreaterThanOrEqual(15);
  // The example has no column of states.
  const possible = rejectionReasons.filter((reason) => reason !== 'invalid_state');
  expect(report.rejections.map(({ reason }) => reason)).toEqual(possible);
  expect(report.forecast).toMatchObject({ open: report.accepted, outsideHours: 0, unknownZone: 0, neverOpens: 0 });
  expect(report.examples).toHaveLength(3);
  expect(io.out()).toContain('Ready to start. No call was placed.');
  expect(io.err()).toBe('');
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
    forecast: { open: 2, outsideHours: 1, neverOpens: 1, unknownZone: 0, nextOpeningAt: monday + 2 * 3_600_000 },
    openingLines: { shared: 2, share: 0.5 },
  });
  expect(io.out()).toMatch(/missing_phone\s+1\n\s+row 6 \(line 7\), column "phone": the cell is empty/);
  expect(io.out()).toMatch(/outside their hours now\s+1 {2}the first from 2026-01-05T17:00:00\.000Z/);
  expect(io.out()).toMatch(/2 recipients \(50 %\) share theirs with another\.\n {2}.*add a column to first_message/);
});

test('a campaign without an opening line is told that its calls cannot be told apart', async () => {
  const { campaignPath } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\n+12125550102\n');
  const report = await runCheck(captureIo(), { ...options, campaignPath });
  expect(report.openingLines).toMatchObject({
    shared: 2,
    share: 1,
    advice: expect.stringContaining('add a first_message'),
  });
});

test('--json prints one document and --rows one line per data row', async () => {
  const { campaignPath, folder } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\nx\n+12125550101\n');
  const rowsPath = join(folder, 'rows.jsonl');
  const io = captureIo();
  await runCheck(io, { campaignPath, json: true, rowsPath });
  expect(JSON.parse(io.out())).toMatchObject({
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
    expect(await messageOf(runCheck(captureIo(), { campaignPath, json: false, rowsPath }))).toMatch(
      /will not be overwritten/,
    );
  }
});

test('a list without one good row is reported and then refused', async () => {
  const { campaignPath } = await writeCampaign(minimalCampaign, 'phone\nx\n');
  const io = captureIo();
  await expect(runCheck(io, { ...options, campaignPath })).rejects.toThrow(
    /:4: list: none of the 1 rows of list\.csv can be dialled/,
  );
  expect(io.out()).toContain('Cannot start');
});

test('bad files end with exit code 2 and nothing on standard output', async () => {
  const { campaignPath, listPath } = await writeCampaign(minimalCampaign, 'telephone\n1\n');
  const io = captureIo();
  const badColumn: unknown = await runCheck(io, { ...options, campaignPath }).catch((error: unknown) => error);
  expect(badColumn).toBeInstanceOf(CampaignFileError);
  await writeFile(listPath, '');
  const badList: unknown = await runCheck(io, { ...options, campaignPath }).catch((error: unknown) => error);
  expect(badList).toBeInstanceOf(ListFileError);
  expect([badColumn, badList]).toMatchObject([{ exitCode: 2 }, { exitCode: 2 }]);
  expect(io.out()).toBe('');
});

test('a campaign whose end has passed is refused', async () => {
  const { campaignPath } = await writeCampaign(
    `${minimalCampaign}ends_at: 2026-01-01T00:00:00Z\n`,
    'phone\n+12125550101\n',
  );
  await expect(runCheck(captureIo(), { ...options, campaignPath })).rejects.toThrow(/ends_at: .* has passed/);
});

test('progress appears on a terminal only, and only when a check takes long', async () => {
  const { campaignPath } = await writeCampaign(minimalCampaign, `phone\n${'x\n'.repeat(5000)}+12125550101\n`);
  const slow = (): (() => number) => {
    let calls = 0;
    return () => monday + 1500 * calls++;
  };
  const terminal = captureIo(slow(), true);
  await runCheck(terminal, { ...options, campaignPath });
  expect(terminal.err()).toMatch(/\r\d,\d{3} rows read/);
  expect(terminal.err().endsWith('\r\u001b[K')).toBe(true);
  const pipe = captureIo(slow(), false);
  await runCheck(pipe, { ...options, campaignPath });
  expect(pipe.err()).toBe('');
  const fast = captureIo(() => monday, true);
  await runCheck(fast, { ...options, campaignPath });
  expect(fast.err()).toBe('');
});

test('control characters of a list never reach the terminal', async () => {
  const yaml = `${minimalCampaign}first_message: "Hello {{ name }}"\n`;
  const { campaignPath } = await writeCampaign(yaml, 'name,phone\n"\u001b[2JAna\nB",+12125550101\n');
  const io = captureIo();
  await runCheck(io, { ...options, campaignPath });
  expect(io.out()).toContain('Hello  [2JAna B');
});

test('the command reads its argument and options', async () => {
  const { campaignPath, folder } = await writeCampaign(minimalCampaign, 'phone\n+12125550101\n');
  const io = captureIo();
  await checkCommand(io).parseAsync([campaignPath, '--json', '--rows', join(folder, 'r.jsonl')], { from: 'user' });
  expect(JSON.parse(io.out())).toMatchObject({ accepted: 1 });
  expect(await readFile(join(folder, 'r.jsonl'), 'utf8')).toContain('"row":1');
});

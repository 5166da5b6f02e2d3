import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Timeline } from '../../../../src/interfaces/cli/rehearse/timeline.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { beginCommand } from '../terminal.ts';

const rows = 100;
/** A Tuesday, 09:00 in New York. */
const startAt = '2030-01-15T14:00:00Z';
const areas = ['212', '312', '303', '415'];

/** The exchange 555 beyond the fictional lines: no rehearsal may show them. */
function realNumbers(): string[] {
  return Array.from({ length: rows }, (_, index) => `+1${areas[index % areas.length]}555${2000 + Math.floor(index / 4)}`);
}

function writeCampaign(folder: string, more: readonly string[] = []): string {
  const list = realNumbers().map((number, index) => `${number},Callee ${index + 1}`);
  writeFileSync(join(folder, 'list.csv'), `${['phone,name', ...list, 'no number,Bad'].join('\n')}\n`);
  const file = [
    'id: three-days',
    'agent_id: agent_of_the_account',
    'from_phone_number_id: [pn_of_the_account, pn_another]',
    'list: { file: list.csv, phone: phone, default_region: US }',
    "first_message: 'Hello {{ name }}, a reminder.'",
    "variables: { values: { name: '{{ name }}' } }",
    "hours: { tue: '09:00-17:00', wed: '09:00-17:00', thu: ['09:00-12:00', '13:00-17:00'] }",
    "holidays: ['2030-01-16']",
    'caps: [{ by: number, calls: 2, within: 20h }]',
    'retry: { max_attempts: 3, busy: 30m, no_answer: 1h, unreached: 1h, voicemail: 1d, failed: 10m }',
    'pacing: { max_concurrent_calls: 20, batch_size: 20 }',
    'opt_out: [{ collected: wants_no_calls, equals: true }]',
    ...more,
  ];
  writeFileSync(join(folder, 'campaign.yaml'), `${file.join('\n')}\n`);
  return join(folder, 'campaign.yaml');
}

/** Settings as with the real service: an address that counts requests, and no database. */
async function createOffice() {
  const folder = temporaryFolder();
  let asked = 0;
  const service = createServer((_request, response) => {
    asked += 1;
    response.end();
  });
  await new Promise<void>((resolve) => {
    service.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void service.close());
  const { port } = service.address() as AddressInfo;
  const env: Record<string, string> = {
    SVC_BASE_URL: `http://127.0.0.1:${port}`,
    SVC_API_KEY: 'the-real-key',
    DATABASE_URL: `postgres://127.0.0.1:${port}/real`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    CARILLON_DB: join(folder, 'real.db'),
    CARILLON_LOG_LEVEL: 'trace',
  };
  for (const name of ['HOME', 'PATH', 'XDG_CACHE_HOME']) env[name] = process.env[name] ?? '';
  return { folder, asked: () => asked, rehearse: (...args: string[]) => beginCommand(['rehearse', ...args], { env, now: Date.now }) };
}

interface Report {
  ok: boolean;
  faults: string[];
  rows: object;
  outcomes: Record<string, number>;
  verify: { ok: boolean; calls: number };
  conduct: { ok: boolean };
  forecast: Record<'earliest' | 'likely' | 'slowest' | 'rehearsed', { endsAt: string; calls: number }>;
  timeline: Omit<Timeline, 'hours' | 'quiet'> & {
    hours: { at: string; calls: number }[];
    quiet: { fromAt: string; paused: boolean }[];
  };
}

test('three days in four zones, with a holiday, caps, retries, opt-outs and a pause, pass in a minute', async () => {
  const { folder, asked, rehearse } = await createOffice();
  const path = writeCampaign(folder, ["ends_at: '2030-01-18T01:00:00Z'"]);
  const kept = join(folder, 'kept');
  const flags = ['--speed', '4500', '--start-at', startAt, '--pause-after', '1h', '--pause-for', '2h', '--keep', kept, '--json'];
  const { code, stdout, stderr } = await rehearse(path, ...flags).ended;
  const report = JSON.parse(stdout) as Report;
  expect(report).toMatchObject({ ok: true, faults: [], verify: { ok: true }, conduct: { ok: true } });
  expect(code).toBe(0);

  expect(report.rows).toEqual({ inList: rows + 1, rehearsed: rows + 1 });
  expect(Object.values(report.outcomes).reduce((sum, each) => sum + each, 0)).toBe(rows + 1);
  expect(report.outcomes['rejected']).toBe(1);
  // How many are reached before the end depends on the machine.
  expect(report.outcomes['completed']).toBeGreaterThan(0);
  expect(report.verify.calls).toBeGreaterThan(report.outcomes['completed'] ?? 0);

  const { timeline, forecast } = report;
  expect(forecast.rehearsed.calls).toBe(report.verify.calls);
  expect(forecast.earliest.calls).toBe(rows);
  expect(forecast.likely.calls).toBeGreaterThan(rows);
  expect(forecast.rehearsed.endsAt >= forecast.earliest.endsAt).toBe(true);
  expect(timeline.hours.reduce((sum, { calls }) => sum + calls, 0)).toBe(report.verify.calls);
  expect((timeline.callees?.earliest ?? '') >= '09:00').toBe(true);
  expect((timeline.callees?.latest ?? '') < '17:00').toBe(true);
  // From midnight in New York until 09:00 the next day.
  const onHoliday = ({ at }: { at: string }): boolean => at >= '2030-01-16T05' && at < '2030-01-17T14';
  expect(timeline.hours.filter((hour) => hour.calls > 0 && onHoliday(hour))).toEqual([]);
  expect(timeline.pauses).toMatchObject([{ reason: 'paused by a person' }]);
  expect(timeline.waits['outside_hours']).toBeGreaterThan(0);
  expect(timeline.quiet.some(({ fromAt }) => /^2030-01-1[56]/.test(fromAt))).toBe(true);

  // No outside request; stored files name no real number.
  expect(asked()).toBe(0);
  expect(existsSync(join(folder, 'real.db'))).toBe(false);
  expect(readdirSync(kept)).toEqual(expect.arrayContaining(['carillon.db', 'results.csv', 'worker.log']));
  const texts = [stdout, stderr, ...readdirSync(kept).map((name) => readFileSync(join(kept, name), 'latin1'))];
  const shown = realNumbers().filter((number) => texts.some((text) => text.includes(number.slice(2))));
  expect(shown).toEqual([]);
  expect(`${stdout}${stderr}`).not.toMatch(/Callee \d|\+1\d{10}/);
});

test('Ctrl-C ends a rehearsal in order and leaves nothing behind', async () => {
  const { folder, rehearse } = await createOffice();
  const path = writeCampaign(folder);
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { io, ended, interrupt } = rehearse(path, '--rows', '40', '--speed', '60', '--start-at', startAt);
  await expect.poll(() => io.written().stderr).toMatch(/of 40 done/);
  interrupt();
  expect(await ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/with 40 rows of 101, a sample that the seed decides\. Nothing real is called.*Stopped before the end/s),
  });
  expect(readdirSync(folder).sort()).toEqual(['campaign.yaml', 'list.csv']);
});

test('who asks for it in a rehearsal says when, and is called back; nobody waits for the retry of four weeks later', async () => {
  const { folder, rehearse } = await createOffice();
  const file = writeCampaign(folder, [
    "results: [{ result: later, collected: wants, equals: ['yes'], then: callback }]",
    'callback: { in: callback_in, late: 12h }',
  ]);
  const weeks = 'retry: { max_attempts: 2, no_answer: [672h], voicemail: [672h], busy: [672h], failed: [672h] }';
  writeFileSync(
    file,
    readFileSync(file, 'utf8')
      .replace(/^caps: .*\n/m, '')
      .replace(/^hours: .*$/m, 'hours: any')
      .replace(/^retry: .*$/m, weeks),
  );
  const kept = join(folder, 'kept');
  const begun = performance.now();
  const flags = ['--rows', '60', '--speed', '2400', '--start-at', startAt, '--keep', kept, '--json'];
  const { code, stdout, stderr } = await rehearse(file, ...flags).ended;
  // At this speed four weeks are 16 minutes.
  expect(performance.now() - begun).toBeLessThan(16 * 60_000);
  expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
  const report = JSON.parse(stdout) as Report & { timeline: { endedAt: string } };
  expect(report).toMatchObject({ ok: true, faults: [], verify: { ok: true }, conduct: { ok: true } });
  expect(Date.parse(report.timeline.endedAt) - Date.parse(startAt)).toBeGreaterThan(28 * 24 * 3_600_000);
  const [head = '', ...lines] = readFileSync(join(kept, 'results.csv'), 'utf8').trim().split('\n');
  const column = head
    .replace(/^\uFEFF/, '')
    .split(',')
    .indexOf('callback_state');
  const states = new Set(lines.map((line) => line.split(',').at(column)));
  expect(column).toBeGreaterThan(0);
  expect(states).toContain('kept');
  expect(lines).toHaveLength(60);
});

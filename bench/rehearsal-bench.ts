import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { processIo } from '../src/interfaces/cli/terminal/io.ts';
import { runCli } from '../src/interfaces/cli/run-cli.ts';
import { say } from './child.ts';
import type { Figure } from './report.ts';
import { targets } from './settings.ts';

/**
 * New York, Chicago, Denver and Los Angeles, four area codes each; the exchange 555 belongs to nobody, and a rehearsal replaces it anyway.
 */
const areaCodes = ['212', '718', '305', '617', '312', '214', '713', '314', '303', '720', '505', '801', '415', '213', '206', '702'];

const campaignFile = `id: three-days
agent_id: agent_of_the_account
from_phone_number_id: [pn_first, pn_second]
list: { file: list.csv, phone: phone, id: id, default_region: US }
first_message: 'Hello {{ name }}, a reminder of your visit.'
variables: { values: { name: '{{ name }}' } }
hours: { tue: ['09:00-12:00', '13:00-18:00'], wed: ['09:00-12:00', '13:00-18:00'], thu: '09:00-18:00', fri: '09:00-17:00' }
holidays: [US]
caps:
  - { by: number, calls: 2, within: 24h }
  - { by: number, calls: 4, within: 7d }
retry: { max_attempts: 4, busy: 30m, no_answer: [2h, 20h], unreached: 2h, voicemail: 20h, failed: 10m }
pacing: { max_concurrent_calls: 40, batch_size: 20 }
opt_out: [{ collected: opt_out, equals: true }]
ends_at: '2026-11-28T02:00:00Z'
`;

interface Report {
  faults: string[];
  campaign: { state: string };
  outcomes: Record<string, number>;
  timeline: { startedAt: string; endedAt: string };
  verify: { calls: number; events: number; rules: { violations: unknown[] }[] };
  conduct: { checks: { violationCount: number }[] };
}

/**
 * Three days of calls around a holiday, in four zones, with retries, caps, opt-outs and a pause: `carillon rehearse` at its usual speed.
 */
export async function benchRehearsal(rows: number): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-'));
  try {
    const path = join(folder, 'campaign.yaml');
    await writeFile(path, campaignFile);
    await writeFile(join(folder, 'list.csv'), writeList(rows));
    say(`The rehearsal: ${rows} rows, three days at 600 times real speed`);
    const stdout = new PassThrough();
    const written = text(stdout);
    const io = { ...processIo((code) => process.exit(code)), stdout };
    const startedAt = performance.now();
    const flags = ['--start-at', '2026-11-24T13:00:00Z', '--pause-after', '5h', '--pause-for', '2h', '--json'];
    await runCli(['rehearse', path, ...flags], io);
    stdout.end();
    const minutes = (performance.now() - startedAt) / 60_000;
    return figuresOf(JSON.parse(await written) as Report, minutes);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function writeList(rows: number): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const line = 2000 + Math.floor(index / areaCodes.length);
    return `p-${index + 1},(${areaCodes[index % areaCodes.length]}) 555-${line},Callee ${index + 1}`;
  });
  return `${['id,phone,name', ...lines].join('\n')}\n`;
}

function figuresOf({ faults, outcomes, timeline, verify, conduct }: Report, minutes: number): Figure[] {
  const days = (Date.parse(timeline.endedAt) - Date.parse(timeline.startedAt)) / 86_400_000;
  const told = Object.entries(outcomes).map(([outcome, rows]) => `${outcome} ${rows}`);
  return [
    {
      name: 'rehearsal, real time',
      value: minutes,
      unit: 'min',
      target: { atMost: targets.rehearsalMinutes },
      note: `${days.toFixed(1)} days of service time, ${verify.calls} calls: ${told.join(', ')}`,
    },
    {
      name: 'rehearsal, broken promises',
      value: verify.rules.reduce((sum, { violations }) => sum + violations.length, 0),
      unit: '',
      target: { atMost: 0 },
      note: `the judge over ${verify.events} events`,
    },
    {
      name: 'rehearsal, misconduct',
      value: conduct.checks.reduce((sum, { violationCount }) => sum + violationCount, 0),
      unit: '',
      target: { atMost: 0 },
      note: 'in the conduct report of the sandbox',
    },
    {
      name: 'rehearsal, other faults',
      value: faults.length,
      unit: '',
      target: { atMost: 0 },
      ...(faults.length === 0 ? {} : { note: faults.join('; ') }),
    },
  ];
}

import { writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCallableCampaign } from '../../../bench/fictional-list.ts';
import { benchImport } from '../../../bench/import-bench.ts';
import { campaignDefaults } from '../../../bench/settings.ts';
import { campaignHash, campaignRules, readCampaignFile, refuseEndedCampaign, refusePassedTimes } from '../../../src/campaign/file/file.ts';
import { campaignWarnings } from '../../../src/campaign/preflight/warnings.ts';
import { readHeader } from '../../../src/campaign/file/columns-of-rules.ts';
import { readRecipients } from '../../../src/list/recipients.ts';
import { windowAt } from '../../../src/rules/hours/calling-window.ts';
import { numberingAt } from '../../../src/shared/input/numbering.ts';
import { CampaignFileError } from '../../../src/shared/input/errors.ts';
import { messageOf, minimalCampaign, writeCampaign } from '../../list/campaign-folder.ts';
import { buildRules } from '../../support/campaign-rules.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const start = Date.UTC(2026, 0, 15);
const columns = ['phone', 'patient_id', 'tz', 'country', 'first_name'];

async function readYaml(yaml: string | Uint8Array) {
  return readCampaignFile((await writeCampaign(yaml, 'phone\n')).campaignPath);
}

async function problemsOf(yaml: string | Uint8Array): Promise<string[]> {
  try {
    await readYaml(yaml);
  } catch (error) {
    if (!(error instanceof CampaignFileError)) throw error;
    expect(error.isBadInput).toBe(true);
    return error.problems.map(({ line, path, message }) => `${String(line)} ${path}: ${message}`);
  }
  throw new Error('the file was accepted');
}

test('a file with every setting becomes exactly these rules, byte for byte as they are stored', async () => {
  const file = await readYaml(`id: reminders-november
name: Reminders
agent_id: agent_reminders
from_phone_number_id: pn_main
list: { file: lists/r.csv, delimiter: ";", phone: phone, id: patient_id, timezone: tz, country: country, default_region: us, unknown_ranges: call }
first_message: "Hello {{ first_name }}"
variables: { key: vars, reference: ref, values: { name: "{{ first_name }}", visits: 3 } }
starts_at: 2026-11-01T09:00:00-04:00
on_unknown: redial
breaker: { failure_share: 12.5%, window: 15m, min_calls: 10, cool_down: 1h }
pre_dial: { url: "https://hooks.example.com/may-we", timeout: 2s }
on_completion: { url: "http://127.0.0.1:9000/done" }
on_pause: { url: "http://127.0.0.1:9000/paused" }
dispositions: [{ when: { pointer: /metadata/cause, equals: [USER_BUSY, 17] }, is: busy }]
correlation: { callee_number: /metadata/to, batch_id: [/metadata/a, /b~1c] }
hours: { mon: "09:00-17:00", sun: "0:00-24:00" }
law: off
ends_at: 2026-11-30T17:00:00-05:00
retry: { max_attempts: 4, max_uncounted: 2, busy: 5m, no_answer: [15m, 1d], unreached: 2h, voicemail: never, failed: [90s, next_day], unknown: 45m,
  max_attempts_per_number: 9, reset_after: 7d, jitter: 2m }
pacing: { max_concurrent_calls: 40, starts_per_minute: 60, batch_size: 30, refill_threshold: 7, warm_up: 5m, priority: 90 }
opt_out: [{ collected: opt_out, equals: [true, "yes"] }, { evaluation: stop, equals: success }]
results: [{ result: confirmed, collected: confirmed, equals: "yes", talk_under: 2m, goal: true }, { result: cut_off, talk_under: 10s }]
advanced: { dispatch_margin: 5m, settle: 20m, analysis_wait: 1m, late_delivery: 2m, late_lookback: 1h, poll: 5s }
`);
  expect(file.listPath.endsWith('/lists/r.csv')).toBe(true);
  expect(file.delimiter).toBe(';');
  const rules = {
    agentId: 'agent_reminders',
    callers: { numbers: ['pn_main'], choice: 'region' },
    list: {
      columns,
      phoneColumn: 'phone',
      idColumn: 'patient_id',
      timezoneColumn: 'tz',
      countryColumn: 'country',
      regionColumn: null,
      zipColumn: null,
      notBeforeColumn: null,
      expiresAtColumn: null,
      priorityColumn: null,
      hoursColumn: null,
      personKeyColumn: null,
      defaultRegion: 'US',
      fallbackTimezone: null,
      encoding: null,
      numbering: numberingAt(start, true),
    },
    firstMessage: 'Hello {{ first_name }}',
    variables: { key: 'vars', values: { name: '{{ first_name }}', visits: '3' }, reference: 'ref' },
    calendar: { hours: { mon: [{ from: 540, to: 1020 }], sun: [{ from: 0, to: 1440 }] }, closedOn: [] },
    law: [],
    startsAt: Date.UTC(2026, 10, 1, 13),
    endsAt: Date.UTC(2026, 10, 30, 22),
    caps: [],
    retry: {
      maxAttempts: 4,
      maxAttemptsPerNumber: 9,
      resetAfterMs: 604_800_000,
      jitterMs: 120_000,
      delays: {
        busy: [300_000],
        no_answer: [900_000, 86_400_000],
        unreached: [7_200_000],
        voicemail: 'never',
        failed: [90_000, 'next_day'],
        unknown: [2_700_000],
      },
      maxUncounted: 2,
    },
    pacing: {
      maxConcurrentCalls: 40,
      startsPerMinute: 60,
      batchSize: 30,
      refillThreshold: 7,
      warmUpMs: 300_000,
      priority: 90,
    },
    breaker: { failureShare: 0.125, windowMs: 900_000, minCalls: 10, coolDownMs: 3_600_000 },
    preDial: { url: 'https://hooks.example.com/may-we', timeoutMs: 2_000 },
    onCompletion: { url: 'http://127.0.0.1:9000/done' },
    onPause: { url: 'http://127.0.0.1:9000/paused' },
    optOut: [
      { source: 'collected', key: 'opt_out', values: [true, 'yes'] },
      { source: 'evaluation', key: 'stop', values: ['success'] },
    ],
    dispositions: [{ pointer: '/metadata/cause', equals: ['USER_BUSY', 17], disposition: 'busy' }],
    correlation: { calleeNumber: ['/metadata/to'], batchId: ['/metadata/a', '/b~1c'], reference: [] },
    results: [
      { result: 'confirmed', value: { source: 'collected', key: 'confirmed', values: ['yes'] }, talkUnderMs: 120_000, goal: true },
      { result: 'cut_off', value: null, talkUnderMs: 10_000, goal: false },
    ],
    unwrapOnce: true,
    timing: {
      dispatchMarginMs: 300_000,
      settleMs: 1_200_000,
      analysisWaitMs: 60_000,
      lateDeliveryMs: 120_000,
      lateLookbackMs: 3_600_000,
      pollMs: 5000,
      clockToleranceMs: 300_000,
      ringLimitMs: 60_000,
    },
    sharedWords: 'wait',
  };
  expect(JSON.stringify(campaignRules(file, columns, start))).toBe(JSON.stringify(rules));
});

test('a file with only what is required gets the documented defaults', async () => {
  const rules = campaignRules(await readYaml(minimalCampaign), columns, start);
  expect(rules).toMatchObject({
    firstMessage: null,
    variables: null,
    calendar: { hours: null, closedOn: [] },
    endsAt: null,
    optOut: [],
    retry: { maxAttempts: 3, maxUncounted: 3, delays: { busy: [1_800_000], voicemail: [86_400_000] } },
    pacing: { maxConcurrentCalls: 10, startsPerMinute: null, batchSize: 20, refillThreshold: 2 },
    timing: { dispatchMarginMs: 600_000, settleMs: 1_800_000, lateDeliveryMs: 900_000, pollMs: 10_000 },
  });
  expect(JSON.parse(JSON.stringify(rules))).toEqual(rules);
});

test('variables default to the key of the contract and a reference, and null sends none', async () => {
  const used = campaignRules(await readYaml(`${minimalCampaign}variables: {}\n`), columns, start);
  expect(used.variables).toEqual({ key: 'variables', values: {}, reference: 'carillon_ref' });
  const none = campaignRules(await readYaml(`${minimalCampaign}variables: { reference: null }\n`), columns, start);
  expect(none.variables?.reference).toBeNull();
});

test('all problems are told at once, each with line, path, value and fix', async () => {
  const problems = await problemsOf(`id: Not An Id
agent_id: 12345
list:
  file: list.csv
  phne: phone
hours: { mon: "9-17", mnoday: "09:00-17:00" }
ends_at: 2026-02-30T10:00:00Z
retry: { busy: 5 minutes }
pacing: { batch_size: 5000 }
api_key: sk_secret_value
opt_out: [{ collected: x, equal: 1 }]
`);
  expect(problems).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^1 id: "Not An Id" cannot be used; write 1 to 64 lower-case/),
      expect.stringMatching(/^2 agent_id: 12345 cannot be used; .*in quotes/),
      expect.stringMatching(/^1 from_phone_number_id: is missing; /),
      expect.stringMatching(/^3 list\.phone: is missing; /),
      expect.stringMatching(/^5 list\.phne: there is no such setting; did you mean "phone"\?/),
      expect.stringMatching(/^6 hours\.mon: "9-17" cannot be used; write "09:00-17:00"/),
      expect.stringMatching(/^6 hours\.mnoday: there is no such setting; did you mean "mon"|settings here: mon, tue/),
      expect.stringMatching(/^7 ends_at: "2026-02-30T10:00:00Z" cannot be used; /),
      expect.stringMatching(/^8 retry\.busy: "5 minutes" cannot be used; write a duration such as 5m/),
      expect.stringMatching(/^9 pacing\.batch_size: 5000 cannot be used; write a whole number from 1 to 1000/),
      expect.stringMatching(/^10 api_key: there is no such setting; the key is read from SVC_API_KEY/),
      expect.stringMatching(/^11 opt_out\[0\]\.equal: there is no such setting; did you mean "equals"\?/),
    ]),
  );
  expect(problems.join('\n')).not.toContain('sk_secret_value');
});

test.each(
  // prettier-ignore
  [
    ['ends_at: 2026-11-30T17:00:00', /^6 ends_at: .*with its offset from UTC/],
    ['ends_at: 2026-11-30', /^6 ends_at: /],
    ['pacing: { max_concurrent_calls: 5, refill_threshold: 6 }', /pacing\.refill_threshold: 6 cannot be used; write at most/],
    ['variables: { reference: a, values: { a: "x" } }', /variables\.reference: "a" cannot be used; choose a name/],
    ['variables: { values: { "naïve key": "x" } }', /variables\.values\.naïve key: this name cannot be used/],
    ['first_message: "Hello {{ first_name"', /^6 first_message: /],
    ['first_message: "{% include \'other\' %}"', /^6 first_message: /],
    ['first_message: {{ first_name }}', /^6 : .*in quotes/],
    ['opt_out: [{ collected: a, evaluation: b, equals: 1 }]', /opt_out\[0\]: .*cannot be used; write \{ collected/],
    ['results: [{ result: Confirmed, collected: a, equals: 1 }]', /results\[0\]\.result: "Confirmed" cannot be used; write a name of small letters/],
    ['results: [{ result: other, talk_under: 10s }]', /results\[0\]\.result: "other" cannot be used; write another name/],
    ['results: [{ result: a, collected: a }]', /results\[0\]: .*cannot be used; write \{ result/],
    ['results: [{ result: a, equals: 1 }]', /results\[0\]: .*cannot be used; write \{ result/],
    ['results: [{ result: a, goal: true }]', /results\[0\]: .*cannot be used; write \{ result/],
    ['results: [{ result: a, collected: b, evaluation: c, equals: 1 }]', /results\[0\]: .*cannot be used; write \{ result/],
    ['results: [{ result: a, talk_under: 10 }]', /results\[0\]\.talk_under: /],
    ['retry: { busy: [] }', /retry\.busy/],
    ['retry: { busy: 0s }', /retry\.busy/],
    ['retry: { busy: &x [*x] }', /retry\.busy/],
    ['advanced: { poll: 10ms }', /advanced\.poll: "10ms" cannot be used; .*at least 1s/],
    ['starts_at: tomorrow', /^6 starts_at: "tomorrow" cannot be used; write a date and time with its offset/],
    ['starts_at: 2030-11-30T17:00:00Z\nends_at: 2030-11-30T17:00:00Z', /^7 ends_at: .*cannot be used; write a time after starts_at/],
    ['retry: { reset_after: 7d }', /^6 retry\.reset_after: "7d" cannot be used; set ends_at as well/],
    ['retry: { unknown: 30m }', /^6 retry\.unknown: "30m" cannot be used; write on_unknown: redial as well/],
    ['retry: { busy: nextday }', /^6 retry\.busy: "nextday" cannot be used; write a duration such as 5m, next_day/],
    ['retry: { max_attempts_per_number: 0 }', /^6 retry\.max_attempts_per_number: 0 cannot be used/],
    ['breaker: on', /^6 breaker: .*cannot be used; write off, or a mapping/],
    ['breaker: { failure_share: 0% }', /^6 breaker\.failure_share: "0%" cannot be used; write a share/],
    ['breaker: { failure_share: 0.5 }', /^6 breaker\.failure_share: 0\.5 cannot be used; write a share/],
    ['pre_dial: { url: "http://hooks.example.com" }', /^6 pre_dial\.url: .*cannot be used; write an address such as https/],
    ['pre_dial: { url: "https://me:secret@hooks.example.com" }', /^6 pre_dial\.url: .*without user and password/],
    ['pre_dial: { timeout: 5s }', /^6 pre_dial\.url: is missing/],
    ['on_completion: https://hooks.example.com', /^6 on_completion: .*write a mapping such as \{ url/],
    ['dispositions: [{ when: { pointer: a/b, equals: 1 }, is: busy }]',
      /^6 dispositions\[0\]\.when\.pointer: "a\/b" cannot be used; write a JSON pointer/],
    ['dispositions: [{ when: { pointer: /a, equals: 1 }, is: unknown }]',
      /^6 dispositions\[0\]\.is: "unknown" cannot be used; write one of answered, /],
    ['correlation: { number: /a }', /^6 correlation\.number: there is no such setting/],
    ['correlation: { callee_number: /a~2 }', /^6 correlation\.callee_number: .*write a JSON pointer/],
    ['callback: { at: when, words: en }', /^6 callback\.words: there is no such setting; let the agent collect a time .* callback\.in$/],
    ['warm_up: 5m', /^6 warm_up: there is no such setting; it belongs under pacing:/],
    ['url: x', /^6 url: there is no such setting; settings here: id, name/],
    ['pacing: 5', /pacing: 5 cannot be used; write a mapping/],
    ['__proto__: { id: 1 }', /^6 __proto__: this name is reserved/],
    ['variables: { values: { __proto__: "x" } }', /^6 __proto__: this name is reserved/],
    ['id: again', /^6 : "id" stands for the second time; keep one of them/],
    ['\thours: any', /^6 : /],
    ['---\nid: b', /^6 : a second document begins here/],
    ['name: "never closed', /^\d+ : this is not YAML/],
    ['name: !!js/function "x"', /^6 : this is not YAML/],
    ['name: *nowhere', /nowhere/],
  ],
)('%j is refused with the reason', async (line, pattern) => {
  expect((await problemsOf(`${minimalCampaign}${line}\n`)).join('\n')).toMatch(pattern);
});

test.each([
  ['a list', 'phone,name\n+12125550100,"Ann ""A"" B"\nBen: x,+12125550101\n"', 1],
  ['a page', '# Reminders\n\nThis page tells how, and when: read it.\n\n- item: one\n  - inner\n* other: two\n', 4],
])('%s instead of a campaign file is refused in one sentence, with its first fault', async (_, text, line) => {
  const problems = await problemsOf(text);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${line} : this is no campaign file; this is not YAML: `));
});

test('aliases that unfold without end are refused', async () => {
  const levels = Array.from({ length: 12 }, (_, n) => `x${String(n + 1)}: &x${String(n + 1)} [${`*x${String(n)},`.repeat(9)}]`);
  const bomb = `${minimalCampaign}x0: &x0 ["lol"]\n${levels.join('\n')}\n`;
  expect((await problemsOf(bomb)).join()).toMatch(/alias/i);
});

test('a few aliases are fine', async () => {
  const yaml = minimalCampaign.replace('hours: any', 'hours: { mon: &day "09:00-17:00", tue: *day }');
  expect(campaignRules(await readYaml(yaml), columns, start).calendar.hours).toEqual({
    mon: [{ from: 540, to: 1020 }],
    tue: [{ from: 540, to: 1020 }],
  });
});

test.each([
  ['an empty file', '', /the file is empty/],
  ['a file of blanks', ' \n\n', /the file is empty/],
  ['only comments', '# nothing\n', /write a mapping that begins with id/],
  ['a list', '- a\n', /write a mapping that begins with id/],
  ['a list of recipients', 'id,phone\n1,+12125550123\n', /^1 : this cannot be used; write a mapping that begins with id:$/],
  ['a picture', Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0]), /not UTF-8 text/],
  ['UTF-16', Buffer.from('\ufeffid: a\n', 'utf16le'), /not UTF-8 text/],
  ['Latin-1', Buffer.from('id: caf\xe9\n', 'latin1'), /not UTF-8 text/],
  ['NUL bytes', Buffer.from('id: a\0\n'), /not a text file/],
  [
    'a NUL that is written as an escape',
    `${minimalCampaign}name: "a\\0b"\n`,
    /^6 : a text that begins here holds a NUL \(U\+0000\); remove it$/,
  ],
  ['half a character', `${minimalCampaign}first_message: "Hi \\ud83d"\n`, /^6 : .* holds half a character \(U\+D83D\)/],
  ['a megabyte', 'a'.repeat(1_000_001), /too many for a campaign file/],
  ['nesting without end', `id: ${'['.repeat(200_000)}`, /nested too deeply/],
])('%s is refused with a sentence', async (_, bytes, pattern) => {
  expect((await problemsOf(bytes)).join('\n')).toMatch(pattern);
});

test('a thousand problems are told in thirty lines', async () => {
  const unknown = Array.from({ length: 1000 }, (_, n) => `unknown_${String(n)}: 1`).join('\n');
  const { campaignPath } = await writeCampaign(`${minimalCampaign}${unknown}\n`, 'phone\n');
  const lines = (await messageOf(readCampaignFile(campaignPath))).split('\n');
  expect(lines).toHaveLength(31);
  expect(lines.at(-1)).toBe('and 970 more');
});

test('a byte order mark and Windows line ends change nothing', async () => {
  const plain = await readYaml(minimalCampaign);
  const windows = await readYaml(`\ufeff${minimalCampaign.replaceAll('\n', '\r\n')}`);
  expect(windows.hash).toBe(plain.hash);
});

test('a missing file and a folder are told apart', async () => {
  const folder = temporaryFolder();
  expect(await messageOf(readCampaignFile(join(folder, 'none.yaml')))).toMatch(/none\.yaml: there is no such file/);
  await mkdir(join(folder, 'sub.yaml'));
  expect(await messageOf(readCampaignFile(join(folder, 'sub.yaml')))).toMatch(/sub\.yaml: this is a folder/);
});

test('the hash follows the meaning of the file, not its spelling', async () => {
  const plain = await readYaml(minimalCampaign);
  const respelled = await readYaml(`# comment
hours: "any"
list:
  phone: phone
  file: list.csv
from_phone_number_id: pn_1
agent_id: agent_1
id: test
`);
  const changed = await readYaml(`${minimalCampaign}pacing: { batch_size: 21 }\n`);
  expect(respelled.hash).toBe(plain.hash);
  expect(changed.hash).not.toBe(plain.hash);
  expect(plain.hash).toMatch(/^[0-9a-f]{64}$/);
});

test('columns that the list does not have are refused with the nearest name and all columns', async () => {
  const yaml = `${minimalCampaign.replace('phone: phone', 'phone: Phone Numbr, id: nothing_like_it')}first_message: "Hi {{ firstname }}"\n`;
  const file = await readYaml(yaml);
  const listColumns = ['phone_number', 'first_name'];
  expect(() => campaignRules(file, listColumns, start)).toThrow(
    /:4: list\.phone: this names "Phone Numbr", which is no column of the list\. Did you mean "phone_number"\? In order, the columns of list\.csv are "phone_number", "first_name"/,
  );
  expect(() => campaignRules(file, listColumns, start)).toThrow(
    /:4: list\.id: this names "nothing_like_it", which is no column of the list\. In order/,
  );
  expect(() => campaignRules(file, listColumns, start)).toThrow(
    /:6: first_message: the template uses "firstname".*Did you mean "first_name"\?/,
  );
});

test('a campaign whose end has passed is refused at its start only', async () => {
  const file = await readYaml(`${minimalCampaign}ends_at: 2026-11-30T17:00:00-05:00\n`);
  expect(() => refuseEndedCampaign(file, Date.UTC(2026, 10, 30, 21, 59))).not.toThrow();
  expect(() => refuseEndedCampaign(file, Date.UTC(2026, 10, 30, 22))).toThrow(/:6: ends_at: 2026-11-30T22:00:00\.000Z has passed/);
});

test('a campaign whose start has passed is refused where it would begin to call at once', async () => {
  const file = await readYaml(`${minimalCampaign}starts_at: 2026-11-30T09:00:00-05:00\n`);
  expect(() => refusePassedTimes(file, Date.UTC(2026, 10, 30, 14))).not.toThrow();
  expect(() => refusePassedTimes(file, Date.UTC(2026, 10, 30, 14, 1))).toThrow(
    /:6: starts_at: 2026-11-30T14:00:00\.000Z has passed \(it is 2026-11-30T14:01:00\.000Z\), so that calls would begin at once; write a later time/,
  );
  const ended = await readYaml(`${minimalCampaign}ends_at: 2026-11-30T17:00:00-05:00\n`);
  expect(() => refusePassedTimes(ended, Date.UTC(2026, 10, 30, 22))).toThrow(/ends_at: .* has passed/);
});

test('caps that hold somebody back are all kept', async () => {
  const caps =
    'caps: [{ calls: 3, within: 24h }, { calls: 5, within: 7d }, { by: person, calls: 3, within: 24h }, { after_talk: 7d }, { by: person, after_talk: 3d }]';
  const yaml = `${minimalCampaign.replace('phone: phone', 'phone: phone, id: patient_id')}${caps}\n`;
  expect(campaignRules(await readYaml(yaml), columns, start).caps).toHaveLength(5);
});

test('the list is found beside the campaign file, wherever the command runs', async () => {
  const folder = temporaryFolder();
  await mkdir(join(folder, 'a'));
  await writeFile(join(folder, 'a', 'campaign.yaml'), minimalCampaign);
  expect((await readCampaignFile(join(folder, 'a', 'campaign.yaml'))).listPath).toBe(join(folder, 'a', 'list.csv'));
});

test('a day may have several windows, and one may end on the next day', async () => {
  const yaml = minimalCampaign.replace(
    'hours: any',
    'hours: { mon: ["09:00-12:00", "13:00-17:00"], sat: "22:00-02:00", sun: "01:00-03:00" }',
  );
  expect(campaignRules(await readYaml(yaml), columns, start).calendar.hours).toEqual({
    mon: [
      { from: 540, to: 720 },
      { from: 780, to: 1020 },
    ],
    sat: [{ from: 1320, to: 1440 }],
    sun: [{ from: 0, to: 180 }],
  });
});

test('holidays are days of their own and the public holidays of a place, for the years from the start on', async () => {
  const yaml = `${minimalCampaign}holidays: ["2026-12-24", GB-ENG]\n`;
  const { closedOn } = campaignRules(await readYaml(yaml), columns, start).calendar;
  expect(closedOn).toEqual(expect.arrayContaining(['2026-12-24', '2026-12-25', '2026-12-28', '2027-01-01', '2028-04-14']));
  expect(closedOn).not.toContain('2027-12-24');
});

test('calling hours by law hold unless the file turns them off, and a file of rules replaces those with its ids', async () => {
  const law = async (yaml: string, rules = '') => {
    const { campaignPath } = await writeCampaign(yaml, 'phone\n');
    if (rules !== '') await writeFile(join(campaignPath, '../rules.yaml'), rules);
    return campaignRules(await readCampaignFile(campaignPath), columns, start).law;
  };
  const standard = await law(minimalCampaign);
  expect(standard.find(({ id }) => id === 'us')).toMatchObject({
    country: 'US',
    region: null,
    hours: { mon: [{ from: 480, to: 1260 }], sun: [{ from: 480, to: 1260 }] },
    source: '47 CFR 64.1200(c)(1)',
  });
  expect(standard.find(({ id }) => id === 'us-la')?.closedOn).toContain('2026-02-17');
  expect(standard.find(({ id }) => id === 'us-la')?.hours?.sun).toBeUndefined();
  expect(await law(`${minimalCampaign}law: off\n`)).toEqual([]);
  const own = await law(
    `${minimalCampaign}law: ./rules.yaml\n`,
    'as_of: 2026-01-01\nrules: [{ id: us, country: US, hours: { daily: "10:00-19:00", sun: closed }, until: 2026-06-30, source: our counsel }]\n',
  );
  expect(own).toHaveLength(standard.length);
  expect(own.find(({ id }) => id === 'us')).toMatchObject({
    hours: { mon: [{ from: 600, to: 1140 }] },
    until: '2026-06-30',
    source: 'our counsel',
  });
});

test('caps hold by number, or by person where the list names one', async () => {
  const caps = 'caps: [{ calls: 3, within: 24h }, { by: person, calls: 7, within: 7d }, { after_talk: 7d }]';
  const yaml = `${minimalCampaign.replace('phone: phone', 'phone: phone, id: patient_id')}${caps}\n`;
  expect(campaignRules(await readYaml(yaml), columns, start).caps).toEqual([
    { by: 'number', calls: 3, withinMs: 86_400_000 },
    { by: 'person', calls: 7, withinMs: 7 * 86_400_000 },
    { by: 'number', afterTalkMs: 7 * 86_400_000 },
  ]);
});

test.each(
  // prettier-ignore
  [
    ['hours: any\ncaps: [{ calls: 3 }]', /^6 caps\[0\]: .*write \{ calls: 3, within: 24h \}/],
    ['hours: any\ncaps: [{ calls: 3, within: 1d, after_talk: 1d }]', /^6 caps\[0\]: /],
    ['hours: any\ncaps: [{ by: person, calls: 3, within: 1d }]',
      /^6 caps\[0\]\.by: "person" cannot be used; name the column of the person with list\.person or list\.id/],
    ['hours: any\ncaps: [{ calls: 3, within: 24h }, { calls: 4, within: 1d }]',
      /^6 caps\[1\]: .*leave one of them out: caps\[0\] allows fewer calls over the same time/],
    ['hours: any\ncaps: [{ calls: 3, within: 24h }, { calls: 3, within: 1d }]',
      /^6 caps\[1\]: .*leave it out: it stands twice, as caps\[0\] too$/],
    ['hours: any\ncaps: [{ after_talk: 3d }, { calls: 1, within: 1d }, { after_talk: 7d }]',
      /^6 caps\[0\]: \{ after_talk: '3d' \} cannot be used; leave it out: caps\[2\] waits longer after a talk/],
    ['hours: any\ncaps: [{ after_talk: 7d }, { after_talk: 168h }]', /^6 caps\[1\]: .*leave it out: it stands twice, as caps\[0\] too$/],
    ['hours: any\ncaps: [{ calls: 3, within: 7d }, { calls: 4, within: 1d }]',
      /^6 caps\[1\]: \{ calls: 4, within: '1d' \} cannot be used; leave it out: caps\[0\] allows no more calls in a longer time/],
    ['hours: { mon: ["09:00-12:00", "11:00-17:00"] }',
      /^5 hours\.mon: .*write windows that do not overlap: "09:00-12:00" and "11:00-17:00" overlap/],
    ['hours: { mon: ["08:00-09:00", "22:00-02:00", "23:00-23:30"] }', /"22:00-02:00" and "23:00-23:30" overlap/],
    ['hours: any\nholidays: US', /^6 holidays: "US" cannot be used; write a list such as \[US\]/],
    ['hours: any\npacing: { max_concurrent_calls: 0 }',
      /^6 pacing\.max_concurrent_calls: 0 cannot be used; write a whole number from 1 to 100000$/],
    ['hours: any\npacing: { max_concurrent_calls: 0, refill_threshold: 5 }', /^6 pacing\.max_concurrent_calls: 0 .* to 100000$/],
    ['hours: any\nholidays: [XX]', /^6 holidays\[0\]: "XX" cannot be used; write a country such as US/],
    ['hours: any\nholidays: [US-ZZ]', /^6 holidays\[0\]: "US-ZZ" cannot be used/],
    ['hours: any\nlaw: 3', /^6 law: 3 cannot be used; write on, off, the path/],
  ],
)('%s is named with its fix', async (line, expected) => {
  expect((await problemsOf(minimalCampaign.replace('hours: any', line))).join('\n')).toMatch(expected);
});

test('what is wrong with a rules file is told with its own path, line and value', async () => {
  const { campaignPath } = await writeCampaign(`${minimalCampaign}law: rules.yaml\n`, 'phone\n');
  const rules = 'as_of: 2026-01-01\nrules:\n  - { id: a, country: usa, hours: { daily: "9-5" }, source: x }\n';
  await writeFile(join(campaignPath, '../rules.yaml'), rules);
  const message = await messageOf(readCampaignFile(campaignPath));
  expect(message).toMatch(/rules\.yaml:3: rules\[0\]\.country: "usa" cannot be used; write a two-letter country code in capitals/);
  expect(message).toMatch(/rules\.yaml:3: rules\[0\]\.hours\.daily: "9-5" cannot be used; write a window such as "08:00-21:00"/);
});

async function hashOf(settings: string, list: string): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'list.csv'), list);
  const base = 'id: a\nagent_id: x\nfrom_phone_number_id: y\nhours: any\n';
  writeFileSync(join(folder, 'campaign.yaml'), `${base}list: { file: list.csv, phone: phone }\n${settings}`);
  return campaignHash(await readCampaignFile(join(folder, 'campaign.yaml')));
}

test('the hash follows what the file says and every byte of the list, not where they stand', async () => {
  const hash = await hashOf('', 'phone\n+12125550101\n');
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(await hashOf('# a comment\n', 'phone\n+12125550101\n')).toBe(hash);
  expect(await hashOf('retry: { max_attempts: 2 }\n', 'phone\n+12125550101\n')).not.toBe(hash);
  expect(await hashOf('', 'phone\n+12125550101\r\n')).not.toBe(hash);
});

const planted = 'sk_Planted4711';

const read = (yaml: string) => readYaml(`${minimalCampaign}${yaml}\n`);

const override = (settings: string) => `conversation_config_override: { agent: { ${settings} } }`;
const ownModel = (settings: string) => override(`llm: { model_id: custom, custom_llm: { url: "https://m.example/v1", ${settings} } }`);

test.each([
  ['pre_dial.url', `pre_dial: { url: "https://hooks.example.com/ask?key=${planted}" }`],
  ['on_completion.url', `on_completion: { url: "https://hooks.example.com/end?key=${planted}" }`],
  ['on_pause.url', `on_pause: { url: "https://hooks.example.com/paused?key=${planted}" }`],
  ['pre_dial.url', `pre_dial: { url: "https://user:${planted}@hooks.example.com/ask" }`],
  ['custom_llm.extra_headers.authorization', ownModel(`extra_headers: { authorization: "Bearer ${planted}" }`)],
  ['custom_llm.extra_headers.x-key', ownModel(`extra_headers: { x-key: "${planted}{{ name }}" }`)],
  ['custom_llm.url', override(`llm: { custom_llm: { url: "https://m.example/v1?key=${planted}" } }`)],
  ['tools[0].request_headers.key', override(`tools: [{ request_headers: { key: ${planted} } }]`)],
  ['api_key', override(`llm: { api_key: ${planted} }`)],
  ['variables.values.secret__token', `variables: { values: { secret__token: ${planted} } }`],
])('a secret written literally in %s is refused, and not repeated', async (place, yaml) => {
  const message = await messageOf(read(yaml));
  expect(message).toContain(`${place}: this cannot be used; `);
  expect(message).not.toContain(planted);
});

test.each([
  ['the place of an address', 'pre_dial: { url: env://CARILLON_URL_ASK }'],
  ['an address without a query', 'on_completion: { url: "https://hooks.example.com/end" }'],
  ['a header out of the list', ownModel('extra_headers: { x-customer: "{{ name }}" }')],
  ['a prompt with an address in it', override('prompt: { prompt: "See https://a.example/?page=1 for {{ name }}." }')],
  ['a secret out of the list', 'variables: { values: { secret__token: "{{ name }}" } }'],
])('%s is taken', async (_what, yaml) => {
  await expect(read(yaml)).resolves.toBeDefined();
});

const delays = buildRules().retry.delays;
const optOut = [{ source: 'collected' as const, key: 'opt_out', values: ['true'] }];

test('what is allowed and yet dangerous is told', () => {
  expect(campaignWarnings(buildRules({ optOut }))).toEqual([]);
  const redial = buildRules({ optOut, retry: { delays: { ...delays, unknown: [60_000] } } });
  expect(campaignWarnings(redial)).toEqual([expect.stringMatching(/may be called twice/)]);
  const gate = { measure: 'opted_out', of: 'talks', atLeast: null, atMost: 0.03, min: 30, always: false } as const;
  const piloted = (rows: number, always = false) =>
    buildRules({ optOut, pilot: { rows, pick: 'spread', next: 'ask' }, gates: [{ ...gate, always }] });
  expect(campaignWarnings(piloted(50))).toEqual([expect.stringMatching(/^gates\[0\] .* 50 rows: .* above 3 % is possible, and 99 talks/)]);
  expect([...campaignWarnings(piloted(99)), ...campaignWarnings(piloted(50, true))]).toEqual([]);
});

test('a campaign that would hear nobody who asks not to be called again is told so', () => {
  const deaf = [expect.stringMatching(/^a request not to be called again would not be heard: add opt_out/)];
  const rule = { pointer: '/metadata/end', equals: ['asked'] };
  expect(campaignWarnings(buildRules({ optOut: [] }))).toEqual(deaf);
  expect(campaignWarnings(buildRules({ optOut: [], dispositions: [{ ...rule, disposition: 'busy' }] }))).toEqual(deaf);
  expect(campaignWarnings(buildRules({ optOut: [], dispositions: [{ ...rule, disposition: 'opted_out' }] }))).toEqual([]);
});

test('caps that forbid the calls that people ask for, and an end that comes before them, are told', () => {
  const dayMs = 24 * 3_600_000;
  const callback = {
    at: { kind: 'at', key: 'when' },
    lateMs: 1,
    missed: 'ask',
    unclear: 'ask',
    most: 3,
    horizonMs: 14 * dayMs,
  } as const;
  const optOut = [{ source: 'collected' as const, key: 'opt_out', values: [true] }];
  const caps = [
    { by: 'number' as const, calls: 3, withinMs: 7 * dayMs },
    { by: 'number' as const, afterTalkMs: 7 * dayMs },
    { by: 'person' as const, calls: 1, withinMs: dayMs },
  ];
  expect(campaignWarnings(buildRules({ optOut, caps }))).toEqual([]);
  expect(campaignWarnings(buildRules({ optOut, caps, callback }))).toEqual([
    expect.stringMatching(/^caps\[1\] allows no call back within 7 d/),
    expect.stringMatching(/^caps\[2\] allows no call back within /),
  ]);
  const short = { startsAt: 0, endsAt: 3 * dayMs };
  expect(campaignWarnings(buildRules({ optOut, callback, ...short }))).toEqual([
    expect.stringMatching(/^the campaign ends 3 d.* after its start/),
  ]);
});

test('the campaign of the benchmark does not wait for the morning', async () => {
  const file = await readCampaignFile(await writeCallableCampaign(temporaryFolder(), { ...campaignDefaults, recipients: 50 }));
  const header = await readHeader(file);
  // A Sunday, 03:00 in New York.
  const at = Date.parse('2026-11-22T08:00:00Z');
  const rules = campaignRules(file, header.columns, at);
  const calendars = [rules.calendar, ...rules.law];
  let rows = 0;
  for await (const chunk of readRecipients(file, header, rules)) {
    for (const { zones } of chunk) {
      rows += 1;
      expect(windowAt({ calendars, zones, at, marginMs: 0, endsAt: null }).open).toBe(true);
    }
  }
  expect(rows).toBe(50);
});

test('the import of the benchmark stores all rows of its list, each duplicate rejected', async () => {
  const figures = await benchImport(700);
  expect(figures.find(({ name }) => name === 'import, rows per second')?.note).toMatch(/^700 rows in .* s, 7 rejected as duplicates$/);
});

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ownFields } from '../../../src/list/row-fields.ts';
import { adjustable } from '../../../src/campaign/file/settings/pacing.ts';
import { adjustableLimits } from '../../../src/rules/campaign-rules.ts';
import { campaignJsonSchema, campaignSchema } from '../../../src/campaign/file/schema.ts';
import { ownTerms } from '../../../src/rules/row-terms.ts';
import type { JsonShape } from '../../../src/shared/input/setting.ts';
import { runCli } from '../../../src/interfaces/cli/run-cli.ts';
import { createTerminal } from '../../interfaces/cli/terminal.ts';
import { readAccountRulesFile } from '../../../src/campaign/file/house-file.ts';
import { dayMs } from '../../support/campaign-rules.ts';

const validate = new Ajv2020({ strict: true, allowUnionTypes: true, formats: { 'date-time': true } }).compile(campaignJsonSchema());

const complete = `id: complete
name: All of it
agent_id: agent_1
from_phone_number_id: [pn_1, pn_2]
caller_choice: rotation
list:
  { file: list.xlsx, sheet: Contacts, delimiter: ";", phone: phone, id: id, timezone: tz, country: country, state: state,
    zip: zip, not_before: from, expires_at: until, priority: prio, hours: window,
    fallback_timezone: America/New_York, default_region: US }
first_message: Hello {{ name }}
conversation_config_override: { agent: { prompt: { prompt: "You call {{ name }}" }, llm: { temperature: 0.5 } }, tts: { voice_id: a } }
variables: { key: vars, reference: null, values: { name: "{{ name }}", year: 2026 } }
hours: { mon: "09:00-17:00", tue: ["9:00-12:00", "13:00 - 17:00"], wed: "22:00-02:00" }
holidays: [US, "2026-12-24"]
law: on
starts_at: "2030-11-01T09:00:00-04:00"
ends_at: "2030-11-30T17:00:00-05:00"
caps: [{ calls: 3, within: 24h }, { after_talk: 7d }]
retry: { max_attempts: 2, max_uncounted: 1, busy: 5m, no_answer: [2h, 24h], unreached: [2h, next_day], voicemail: never, failed: next_day, unknown: 30m,
  max_attempts_per_number: 4, reset_after: 7d, jitter: 10m }
on_unknown: redial
pacing: { max_concurrent_calls: 10, starts_per_minute: 60, batch_size: 20, refill_threshold: 2, warm_up: 10m, priority: 50 }
breaker: { failure_share: 12.5%, window: 15m, min_calls: 10, cool_down: 1h }
pre_dial: { url: "https://hooks.example.com/may-we", timeout: 2s }
on_completion: { url: "http://127.0.0.1:9000/done" }
on_pause: { url: "http://127.0.0.1:9000/paused" }
dispositions: [{ when: { pointer: /metadata/hangup_cause, equals: [USER_BUSY, 17] }, is: busy }]
correlation: { callee_number: /metadata/to, batch_id: [/metadata/a, /metadata/b~1c], reference: [] }
opt_out: [{ collected: opt_out, equals: [true, "yes"] }, { evaluation: stop, equals: true }]
advanced: { dispatch_margin: 10m, settle: 30m, analysis_wait: 15m, late_delivery: 15m, late_lookback: 2h, poll: 10s }
`;

test('what the program accepts, the schema for editors accepts', () => {
  const example = readFileSync('examples/reminders/campaign.yaml', 'utf8');
  for (const text of [
    complete,
    example,
    complete
      .replace(/^hours: .*$/m, 'hours: any')
      .replace('law: on', 'law: false')
      .replace(/^breaker: .*$/m, 'breaker: off'),
  ]) {
    const content: unknown = parse(text);
    expect(campaignSchema.safeParse(content).error?.issues).toBeUndefined();
    expect(validate(content), JSON.stringify(validate.errors)).toBe(true);
  }
});

test.each([
  ['agent_id: agent_1\n', ''],
  ['phone: phone,', ''],
  ['name: All of it', 'nmae: All of it'],
  ['busy: 5m', 'busy: 5 minutes'],
  ['no_answer: [2h, 24h]', 'no_answer: []'],
  ['mon: "09:00-17:00"', 'mon: "9-17"'],
  ['mon:', 'monday:'],
  ['default_region: US', 'default_region: USA'],
  ['max_attempts: 2', 'max_attempts: 0'],
  ['from_phone_number_id: [pn_1, pn_2]', 'from_phone_number_id: []'],
  ['caller_choice: rotation', 'caller_choice: random'],
  ['[2h, next_day]', '[2h, next day]'],
  ['on_unknown: redial', 'on_unknown: guess'],
  ['failure_share: 12.5%', 'failure_share: half'],
  ['cool_down: 1h', 'cool_down: later'],
  ['url: "https://hooks.example.com/may-we"', 'url: hooks.example.com'],
  ['pointer: /metadata/hangup_cause', 'pointer: metadata.hangup_cause'],
  ['is: busy', 'is: engaged'],
  ['warm_up: 10m', 'warm_up: slowly'],
  ['priority: 50', 'priority: 0'],
  ['within: 24h', 'within: 24'],
  ['equals: [true, "yes"]', 'equals: { a: 1 }'],
  ['delimiter: ";"', 'delimiter: ";;"'],
  ['{ agent: { prompt: { prompt: "You call {{ name }}" }, llm: { temperature: 0.5 } }, tts: { voice_id: a } }', 'none'],
])('what the program refuses, the schema marks: %j as %j', (from, to) => {
  expect(complete).toContain(from);
  const content: unknown = parse(complete.replace(from, to));
  expect(campaignSchema.safeParse(content).success).toBe(false);
  expect(validate(content)).toBe(false);
});

function undescribed(schema: JsonShape, path: string): string[] {
  const own = path === '' || /^hours\.\w+$|\.\*$|\[\]$/.test(path) || 'description' in schema ? [] : [path];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonShape>);
  const inner = properties.flatMap(([key, value]) => undescribed(value, path === '' ? key : `${path}.${key}`));
  const items = schema['items'] === undefined ? [] : undescribed(schema['items'] as JsonShape, `${path}[]`);
  return [...own, ...inner, ...items];
}

test('every setting is described', () => {
  expect(undescribed(campaignJsonSchema(), '')).toEqual([]);
  const schema = campaignJsonSchema();
  delete (schema['properties'] as Record<string, JsonShape>)['law']?.['description'];
  expect(undescribed(schema, '')).toEqual(['law']);
});

test('each limit that may be changed while a campaign runs is a setting with a label, and has the bounds of the file', () => {
  expect(Object.keys(adjustable)).toEqual([...adjustableLimits]);
  expect(adjustable.maxConcurrentCalls).toMatchObject({ key: 'max_concurrent_calls', isLiftable: false });
  expect(adjustable.startsPerMinute).toMatchObject({ label: 'Starts per minute', isLiftable: true });
  expect(adjustable.batchSize.bounds.safeParse(1000).success).toBe(true);
  expect(adjustable.batchSize.bounds.safeParse(1001).success).toBe(false);
  expect(adjustable.batchSize.bounds.safeParse(undefined).success).toBe(false);
});

test('carillon schema prints it, and nothing else', async () => {
  const io = createTerminal();
  expect(await runCli(['schema'], io)).toBe(0);
  expect(JSON.parse(io.written().stdout)).toEqual(campaignJsonSchema());
  expect(io.written().stderr).toBe('');
});

test('whatever a row may say of its own is read from one column, which stands in the rules under its name', () => {
  // Several columns give consent: test/list/consent.test.ts.
  const single = ownTerms.filter((term) => term !== 'consentedAt');
  expect(ownFields.map(({ term }) => term)).toEqual(single);
  expect(ownFields.map(({ rules }) => rules)).toEqual(single.map((term) => `${term}Column`));
});

const read = (text: string) => readAccountRulesFile('house.yaml', Date.parse('2030-01-15T12:00:00Z'), text);

test('a file of house rules is read in the words of a campaign file', async () => {
  const { rules, text } = await read(
    [
      'hours: { mon: "09:00-18:00" }',
      'holidays: [US, "2030-08-01"]',
      'caps: [{ calls: 3, within: 7d }, { by: person, after_talk: 30d }]',
      'caller_limits: { per_day: 80 }',
      'consent: required',
    ].join('\n'),
  );
  expect(text).toContain('per_day');
  expect(rules).toMatchObject({
    calendar: { hours: { mon: [{ from: 540, to: 1080 }] } },
    caps: [
      { by: 'number', calls: 3, withinMs: 7 * dayMs },
      { by: 'person', afterTalkMs: 30 * dayMs },
    ],
    callerLimits: { perHour: null, perDay: 80 },
    requires: { consent: true, optOut: false },
  });
  for (const day of ['2030-07-04', '2030-08-01', '2031-12-25']) expect(rules.calendar.closedOn).toContain(day);
  const open = await read('{}');
  expect(open.rules).toMatchObject({ calendar: { hours: null, closedOn: [] }, caps: [], callerLimits: null });
});

test.for([
  ['caps: [{ calls: 3 }]\nhours: { mon: "17:00-09:00" }\n', /house\.yaml:2: hours\.mon[\s\S]*house\.yaml:1: caps\[0\]/],
  ['consent: yes please\n', /consent[\s\S]*write required/],
  ['cap: []\n', /cap\b[\s\S]*caps/],
  ['caps: [{ calls: 3, within: 7d }, { calls: 3, within: 7d }]\n', /caps\[1\][\s\S]*stands twice/],
  ['- a list\n', /house\.yaml/],
  ['', /house\.yaml/],
] as const)('what is wrong with it is told by its line: %j', async ([text, says]) => {
  await expect(read(text)).rejects.toThrow(says);
});

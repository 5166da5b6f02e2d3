import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { openPosting } from '../../src/ledger/dial/posting.ts';
import { ownCalendar } from '../../src/rules/hours/own-hours.ts';
import { retryAt } from '../../src/rules/attempts/retry-delay.ts';
import type { LegalHours } from '../../src/rules/campaign-rules.ts';
import { windowAt } from '../../src/rules/hours/calling-window.ts';
import { Random } from '../../src/sandbox/core/random.ts';
import type { ListedConversation, ServiceList } from '../../src/verify/service.ts';
import { readAuditedRules } from '../../src/verify/judged-rules.ts';
import { localTime, nextMidnight } from '../../src/verify/local-time.ts';
import { logRules } from '../../src/verify/log-rules.ts';
import { verifyLog } from '../../src/verify/log.ts';
import type { LoggedEvent } from '../../src/verify/book.ts';
import { LogAudit } from '../../src/verify/fold.ts';
import { auditHours } from '../../src/verify/rules/hours.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../ledger/scenario.ts';
import { dialects, type TestDialect } from '../ledger/test-stores.ts';
import { buildRows, buildRules, hourMs, minuteMs } from '../support/campaign-rules.ts';

const [ana = '', ben = '', cy = ''] = numbers(3);
const stranger = '+12125550199';

/** Ana answers, Ben opts out, Cy is busy twice; the campaign has ended. */
async function playCampaign(dialect: TestDialect): Promise<Scenario> {
  const scenario = await beginProven(await openCleanStore(dialect), {
    rows: buildRows([ana, ben, cy], (index) => `Guest ${index}`),
    rules: { retry: { ...buildRules().retry, maxAttempts: 2 } },
  });
  await scenario.dial(1);
  const busy = { callResult: 'busy' as const, userTurns: 0, agentTurns: 0 };
  const talk = (id: string, number: string, at: number) => answered(id, number, at + 5_000);
  await scenario.sweep(noon + minuteMs, [
    talk('conv_a', ana, noon),
    { ...talk('conv_b', ben, noon), collected: { opt_out: true } },
    { ...talk('conv_c', cy, noon), ...busy },
  ]);
  const again = noon + 10 * minuteMs;
  await scenario.dial(2, again);
  await scenario.sweep(again + minuteMs, [{ ...talk('conv_d', cy, again), ...busy }]);
  expect(await closeRound(scenario.store, { campaignId: 'spring', now: again + minuteMs }, 1)).toBe(true);
  return scenario;
}

async function named(scenario: Scenario, service?: ServiceList): Promise<string[]> {
  const { rules } = await verifyLog(scenario.store.db, null, service === undefined ? {} : { service });
  return rules.filter(({ violations }) => violations.length > 0).map(({ rule }) => rule);
}

/** Changes the tables, and the log too, as somebody who has the database may. */
async function corrupt({ store }: Scenario, statements: readonly string[]): Promise<void> {
  for (const change of ['update', 'delete']) await sql.raw(`drop trigger events_no_${change}`).execute(store.db);
  for (const statement of statements) await sql.raw(statement).execute(store.db);
}

const told = (type: string, id: string) => `type = '${type}' and (attempt_id = '${id}' or recipient_id = '${id}' or batch_id = '${id}')`;
const inLog = (type: string, id: string, field: string, value: string) =>
  `update events set data = json_set(data, '$.${field}', ${value}) where ${told(type, id)}`;

test.for(dialects)('tables and results of a clean campaign are what its log says: %s', async (dialect) => {
  const scenario = await playCampaign(dialect);
  const report = await verifyLog(scenario.store.db, 'spring');
  expect(report.rules.flatMap(({ violations }) => violations)).toEqual([]);
  expect(report).toMatchObject({ ok: true, calls: 4 });
});

/** What somebody with the database changes, and the rules that name it, no others. */
// prettier-ignore
const corruptions: [rules: string[], what: string, statements: string[]][] = [
  [['rows_differ'], 'an outcome is erased', [`update recipients set outcome = null, state = 'waiting' where row_number = 1`]],
  [['rows_differ'], 'an outcome is another one', [`update recipients set outcome = 'completed' where row_number = 2`]],
  [['rows_differ'], 'a row is deleted', [`delete from recipients where row_number = 3`]],
  [['rows_differ'], 'a row leads to a stranger', [`update recipients set e164 = '${stranger}' where row_number = 3`]],
  [['rows_differ'], 'a row lies in another zone', [`update recipients set zones = '["Asia/Tokyo"]' where row_number = 3`]],
  [['rows_differ'], 'a row says what its list did not', [`update recipients set terms = '{"later":7}' where row_number = 3`]],
  [['calls_differ'], 'an attempt is deleted', [`delete from attempts where attempt_id = 'spring/3/1'`]],
  [
    ['calls_differ'],
    'an attempt is in the tables alone',
    [
      `insert into attempts (attempt_id, recipient_id, campaign_id, batch_id, position, number, agent_id, e164, state, planned_at, counted)
      values ('spring/1/2', 'spring/1', 'spring', 'spring/1/2', 9, 2, 'agent_reminders', '${stranger}', 'released', 1, 0)`,
    ],
  ],
  [['calls_differ'], 'a call hides that it counts', [`update attempts set counted = 0 where attempt_id = 'spring/3/1'`]],
  [['calls_differ'], 'a call gives its record away', [`update attempts set conversation_id = null where attempt_id = 'spring/3/1'`]],
  [['calls_differ'], 'a match is deleted from the log', [`delete from events where ${told('attempt.matched', 'spring/3/1')}`]],
  [['calls_differ'], 'the log has a call that ended a second before it began',
    [`update events set at = ${noon - 1_000} where ${told('attempt.settled', 'spring/3/1')}`]],
  [['calls_differ', 'requests_differ'], 'the log has a request a minute earlier',
    [`update events set at = at - 60000 where batch_id = 'spring/1/1' and type in ('batch.posting', 'attempt.posted')`]],
  [
    ['requests_differ'],
    'a second confirmed request is in the tables',
    [
      `insert into posts (batch_id, k, posted_at, posted_real, deadline_real, verdict, verdict_at, status)
      values ('spring/1/2', 2, 1, 1, 1, 'confirmed', 1, 200)`,
    ],
  ],
  [['requests_differ'], 'a request has another verdict', [`update posts set verdict = 'refused' where batch_id = 'spring/1/1'`]],
  [['requests_differ'], 'a batch is in another state', [`update batches set state = 'released' where batch_id = 'spring/1/1'`]],
  [['list_differs'], 'an opt-out is taken off the list in silence', [`delete from suppressions`]],
  [['house_differs'], 'house rules that nobody has set', [`insert into house_rules (version, set_at, file, rules) values (1, 1, '{}', null)`]],
  [['list_differs'], 'an opt-out is made to end', [`update suppressions set expires_at = 1`]],
  [['campaign_differs'], 'the end of the campaign is erased', [`update campaigns set state = 'running'`]],
  [['campaign_differs'], 'the rules are others', [`update campaigns set rules = json_set(rules, '$.retry.maxAttempts', 9)`]],
  [['campaign_differs'], 'the campaign ended, and both lines that say so are deleted',
    [`delete from events where type = 'round.ended' or (type = 'campaign.state' and data like '%completed%')`]],
  [['row_forged', 'rows_differ', 'record_ignored'], 'log and tables have a stranger in the place of a row',
    [inLog('attempt.posted', 'spring/3/1', 'e164', `'${stranger}'`), inLog('attempt.posted', 'spring/3/2', 'e164', `'${stranger}'`),
    `update attempts set e164 = '${stranger}' where recipient_id = 'spring/3'`,
    `update recipients set e164 = '${stranger}' where recipient_id = 'spring/3'`]],
  [['record_contradicts'], 'an opt-out is rewritten as answered everywhere but in its record',
    [inLog('attempt.settled', 'spring/2/1', 'disposition', `'answered'`), inLog('recipient.outcome', 'spring/2', 'outcome', `'completed'`),
    `delete from events where type = 'suppression.added'`, `update attempts set disposition = 'answered' where attempt_id = 'spring/2/1'`,
    `update recipients set outcome = 'completed' where recipient_id = 'spring/2'`, 'delete from suppressions',
    `update aggregates set count = count + 1 where value in ('answered', 'completed')`,
    `delete from aggregates where value = 'opted_out'`]],
];

test.each(corruptions)('%j and no other: %s', async (expected, _what, statements) => {
  const scenario = await playCampaign('sqlite');
  await corrupt(scenario, statements);
  expect(await named(scenario)).toEqual(expected);
});

function listing(...entries: Partial<ListedConversation>[]): ServiceList {
  const base = { conversationId: 'conv_a', inbound: false, startedAt: noon + 5_000, calleeNumber: null };
  return {
    accountId: 'http://service',
    async *list() {
      for (const entry of entries) yield { ...base, batchId: null, references: [], ...entry };
    },
  };
}

test('a record of the service that names one of our calls and belongs to none is named', async () => {
  const scenario = await playCampaign('sqlite');
  expect(await named(scenario, listing({}))).toEqual([]);
  const reference = `${scenario.store.ledgerId}:spring/3/1`;
  expect(await named(scenario, listing({}, { conversationId: 'x', references: [reference] }))).toEqual(['record_ignored']);
  expect(await named(scenario, listing({ conversationId: 'x', batchId: 'service_1' }))).toEqual(['record_ignored']);
  const foreign = listing({ conversationId: 'x', batchId: 'service_of_others' }, { conversationId: 'y', inbound: true });
  expect(await named(scenario, foreign)).toEqual([]);
});

test('a record that may be a call without one is told, and so is a list that cannot be read', async () => {
  const scenario = await beginProven(await openCleanStore('sqlite'));
  await scenario.dial(1);
  const told = async (service: ServiceList) => (await verifyLog(scenario.store.db, null, { service })).notes.join('\n');
  expect(await told(listing({ conversationId: 'conv_x' }))).toContain('may be calls of ours without a record: conv_x');
  expect(await told(listing({ conversationId: 'conv_x', calleeNumber: stranger }))).not.toContain('conv_x');
  expect(await told(listing({ conversationId: 'conv_x', startedAt: 5 }))).not.toContain('conv_x');
  const broken: ServiceList = {
    accountId: 'http://service',
    // eslint-disable-next-line require-yield
    async *list() {
      throw new Error('not reachable');
    },
  };
  expect(await told(broken)).toContain('was not judged: not reachable');
});

test('the cells of a list that was imported without hashes of them are not judged, which is told', async () => {
  const scenario = await playCampaign('sqlite');
  await corrupt(scenario, [
    `update events set data = json_remove(data, '$.cells') where type = 'campaign.rows'`,
    `update recipients set cells = '[]'`,
  ]);
  const { ok, notes } = await verifyLog(scenario.store.db, null);
  expect([ok, ...notes]).toEqual([true, expect.stringContaining('no hashes of its cells'), expect.anything()]);
});

test('a record of the service that belongs to a call and names another one is named', async () => {
  const scenario = await playCampaign('sqlite');
  const references = ['spring/1/1', 'spring/2/1'].map((attemptId) => [`${scenario.store.ledgerId}:${attemptId}`]);
  const judged = references.map((own) => named(scenario, listing({ conversationId: 'conv_a', references: own })));
  expect(await Promise.all(judged)).toEqual([[], ['record_ignored']]);
  expect(await named(scenario, listing({ calleeNumber: stranger }))).toEqual(['record_ignored']);
});

/** The service's clock, which runs at this speed, is set back between the request and the end of its calls. */
async function setBack(speed: number, byMs: number): Promise<string[]> {
  const scenario = await beginProven(await openCleanStore('sqlite'), { rows: buildRows([ana], () => 'Ana') });
  await scenario.plan(1);
  const limits = { postingWindowMs: 10_000, httpTimeoutMs: 60_000, speed };
  await openPosting(scenario.store, { batchId: scenario.batchId(1), now: noon, nowReal: noon, ...limits });
  await scenario.verdict(1, 'confirmed', { callsInitiated: 1 });
  await scenario.sweep(noon - byMs, [answered('conv_a', ana, noon)]);
  return named(scenario);
}

test.each([
  [1, 5, []],
  [1, 5.6, ['time_reversed']],
  [60, 5.6, []],
  [60, 299, []],
  [60, 301, ['time_reversed']],
])('the tolerance of clocks is real time: at speed %d, %d min of service time', async (speed, minutes, expected) => {
  expect(await setBack(speed, minutes * minuteMs)).toEqual(expected);
});

// What the service says of batches: test/activities/reported-proof.test.ts.
test('every rule about tables and records has a change that it alone names', () => {
  const alone = corruptions.flatMap(([rules]) => (rules.length === 1 ? rules : []));
  const judged = Object.keys(logRules).filter((rule) => /(?<!service)_differ|record_contradicts/.test(rule));
  expect(judged.filter((rule) => !alone.includes(rule))).toEqual([]);
});

const zones = [
  'America/New_York', 'America/Phoenix', 'America/St_Johns', 'Europe/London', 'Asia/Kolkata', 'Asia/Kathmandu',
  'Australia/Lord_Howe', 'Pacific/Chatham', 'Pacific/Kiritimati', 'America/Havana', 'Africa/Cairo',
] as const; // prettier-ignore
const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

test('the judge finds each value that it holds a campaign to in the rules as they are frozen; garbage holds nobody', () => {
  const rules = buildRules({
    startsAt: 1,
    endsAt: 2,
    preDial: { url: 'https://hooks.example.com', timeoutMs: 5 },
    caps: [{ by: 'person', calls: 2, withinMs: hourMs }],
    dispositions: [{ pointer: '/a', equals: [1], disposition: 'busy' }],
    results: [{ result: 'a', value: { source: 'collected', key: 'b', values: [1] }, talkUnderMs: 5, goal: true }],
    unwrapOnce: true,
    callers: { numbers: ['pn_main'], choice: 'region', limits: { perHour: 1, perDay: 2 } },
    purpose: 'recall',
    consent: { atColumn: 'a', sourceColumn: 'b', textColumn: 'c', proofColumn: null, purposeColumn: null, maxAgeMs: 5 },
    stopAt: { goal: 1, overshoot: 'allowed' },
    pilot: { rows: 1, pick: 'first', next: 'ask' },
    callback: { at: { kind: 'at', key: 'when' }, lateMs: 1, missed: 'ask', unclear: 'retry', most: 3, horizonMs: 2 },
    retry: { maxAttemptsPerNumber: 4, resetAfterMs: hourMs },
    pacing: { startsPerMinute: 7 },
  });
  const judged = readAuditedRules(rules);
  expect(rules).toMatchObject(judged);
  expect(judged).toMatchObject({ retry: { maxAttempts: 3 }, pacing: { maxConcurrentCalls: 50, startsPerMinute: 7 } });
  const garbage = { ...rules, retry: { maxAttempts: 'three' }, pacing: null, timing: [], law: {}, calendar: 'any' };
  expect(readAuditedRules(garbage)).toMatchObject({
    retry: { maxAttempts: Infinity, maxAttemptsPerNumber: null, delays: {} },
    pacing: { maxConcurrentCalls: Infinity },
    timing: { dispatchMarginMs: 0 },
    law: [],
    calendar: { hours: null, closedOn: [] },
  });
});

test.each<[string, string, string]>([
  ['America/New_York', '2030-03-10T06:59:59Z', '2030-03-10 sun 01:59'],
  ['America/New_York', '2030-03-10T07:00:00Z', '2030-03-10 sun 03:00'],
  ['America/New_York', '2030-11-03T06:00:00Z', '2030-11-03 sun 01:00'],
  ['Asia/Kathmandu', '2030-01-01T18:15:00Z', '2030-01-02 wed 00:00'],
])('a clock in %s at %s shows %s', (zone, at, expected) => {
  const { date, weekday, minute } = localTime(zone, Date.parse(at)) ?? { date: '', weekday: '', minute: -1 };
  const two = (number: number) => String(number).padStart(2, '0');
  expect(`${date} ${weekday} ${two(Math.floor(minute / 60))}:${two(minute % 60)}`).toBe(expected);
});

test('there is no time in a zone that does not exist', () => {
  expect(localTime('Mars/Olympus', 0)).toBeNull();
  expect(nextMidnight('Mars/Olympus', 0)).toBeNull();
});

test('hours that are reckoned minute by minute are those that the dialler reckons by stretches, clock changes included', () => {
  const random = new Random('hours', '1');
  const seen = { open: 0, closed: 0 };
  for (let look = 0; look < 4_000; look += 1) {
    const from = Math.floor(random.between(0, 20)) * 60 + random.pick([0, 15, 30]);
    const to = Math.min(1440, from + Math.ceil(random.between(30, 900)));
    const hours = Object.fromEntries(weekdays.filter(() => random.chance(0.8)).map((day) => [day, [{ from, to }]]));
    const marginMs = random.pick([0, minuteMs, 10 * minuteMs, hourMs]);
    const eves = { dates: ['2030-03-09', '2030-11-02', '2030-07-01'], windows: [{ from: 600, to: 1140 }] };
    const calendar = { hours, closedOn: random.chance(0.3) ? ['2030-03-10', '2030-11-03', '2030-03-31'] : [] };
    const where = [random.pick(zones), random.pick(zones)].slice(0, random.chance(0.3) ? 2 : 1);
    // Around the changes of the clocks of that year, most of the time.
    const around = random.pick([Date.UTC(2030, 2, 10, 7), Date.UTC(2030, 10, 3, 6), Date.UTC(2030, 2, 31, 1), Date.UTC(2030, 6, 1)]);
    const at = Math.round(around + random.between(-36, 36) * hourMs);
    const named = { id: 'mine', country: 'US', region: null, from: null, until: null, caps: [], source: 'test' };
    const law = random.chance(0.3) ? [{ ...named, ...calendar, eves }] : [];
    const rules = buildRules({ calendar, law, timing: { dispatchMarginMs: marginMs } });
    const own = random.chance(0.3) ? random.pick(['01:00-03:30', 'Sat-Sun 22:00-02:00, Mon 09:00-17:00', 'Sun 02:30-12:00']) : null;
    const calendars = [calendar, ...law, ...(own === null ? [] : [ownCalendar(own)])];
    const dialler = windowAt({ calendars, zones: where, at, marginMs, endsAt: null }).open;
    const event = {
      seq: 1,
      campaignId: 'spring',
      type: 'attempt.posted' as const,
      at,
      data: { zones: where, country: 'US', ...(own === null ? {} : { hours: own }) },
    };
    const why = auditHours(readAuditedRules(rules), event);
    if ((why === null) !== dialler) expect({ at: new Date(at), where, calendars, marginMs, why }).toEqual({ dialler });
    seen[dialler ? 'open' : 'closed'] += 1;
  }
  expect(Math.min(seen.open, seen.closed)).toBeGreaterThan(500);
});

test('the next morning is where the dialler has it, clock changes included', () => {
  for (const zone of zones)
    for (let at = Date.UTC(2030, 0, 1, 0, 7); at < Date.UTC(2031, 0, 1); at += 11 * hourMs) {
      const dialler = retryAt({ delays: ['next_day'], nth: 1, from: at, zones: [zone], jitterMs: 0, key: '' }) ?? 0;
      const earlierMs = dialler - (nextMidnight(zone, at) ?? 0);
      // In Havana midnight comes twice in a year; the first may do.
      if (earlierMs !== 0 && !(earlierMs === hourMs && zone === 'America/Havana')) expect([zone, at, earlierMs]).toEqual([zone, at, 0]);
    }
});

test('a call to a country without a rule is judged by the hours for such countries, and by none where the file says so', () => {
  const day = [{ from: 9 * 60, to: 20 * 60 }];
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day };
  const rule = { region: null, closedOn: [], from: null, until: null, caps: [], source: 'test' };
  const elsewhere = { ...rule, id: 'elsewhere', country: '*', hours };
  const whole = Object.fromEntries(weekdays.map((weekday) => [weekday, [{ from: 0, to: 1440 }]]));
  const none = { ...rule, id: 'none-BR', country: 'BR', hours: whole };
  const judge = (law: object[], at: string): string | null =>
    auditHours(readAuditedRules({ ...buildRules(), law }), {
      seq: 1,
      campaignId: 'spring',
      type: 'attempt.posted',
      at: Date.parse(at),
      data: { zones: ['America/Sao_Paulo'], country: 'BR' },
    });
  const [noon, sunday] = ['2026-11-23T15:00:00Z', '2026-11-22T15:00:00Z'];
  expect(judge([elsewhere], noon)).toBeNull();
  expect(judge([elsewhere], sunday)).toMatch(/when it must not be/);
  expect(judge([elsewhere, none], sunday)).toBeNull();
  expect(judge([], sunday)).toBeNull();
});

/** A Tuesday, 10:00 in New York. */
const ten = Date.UTC(2030, 0, 15, 15);
const number = '+13055550100';
const law: LegalHours[] = [
  {
    id: 'us-fl-calls',
    country: 'US',
    region: 'FL',
    hours: null,
    closedOn: [],
    from: null,
    until: null,
    caps: [{ by: 'number', calls: 3, withinMs: 24 * hourMs }],
    source: 'test',
  },
];

/** What the judge says of a call to the number after calls at these times, of whatever campaigns. */
function judge(at: number, place: Record<string, unknown>, calls: readonly number[], rules: object = buildRules({ law })) {
  const audit = new LogAudit();
  for (const [index, call] of calls.entries())
    audit.numbers.place({
      attemptId: `other/${index}/1`,
      number,
      person: null,
      caller: 'pn_main',
      at: call,
      rangBy: call,
      talked: false,
      counted: true,
    });
  const lines: Omit<LoggedEvent, 'seq' | 'campaignId' | 'at'>[] = [
    { type: 'campaign.imported', data: { rows: 1, rejected: 0, rules } },
    { type: 'attempt.planned', attemptId: 'spring/1/1', recipientId: 'spring/1' },
    { type: 'attempt.posted', attemptId: 'spring/1/1', data: { e164: number, zones: ['America/New_York'], ...place } },
  ];
  for (const [index, line] of lines.entries()) audit.take({ seq: index + 1, campaignId: 'spring', at, ...line });
  return audit.finish().violations.map(({ rule }) => rule);
}

const three = [ten, ten + hourMs, ten + 2 * hourMs];

test.each<[string, Record<string, unknown>, string[]]>([
  ['the state', { country: 'US', regions: ['FL'] }, ['cap_exceeded']],
  ['a state that is one of several', { country: 'US', regions: ['GA', 'FL'] }, ['cap_exceeded']],
  ['no known state', { country: 'US', regions: null }, ['cap_exceeded']],
  ['another state', { country: 'US', regions: ['GA'] }, []],
  ['another country', { country: 'CA', regions: ['ON'] }, []],
])('a fourth call in 24 hours to somebody in %s is judged by the law there', (_, place, expected) => {
  expect(judge(ten + 24 * hourMs - 1, place, three)).toEqual(expected);
  expect(judge(ten + 24 * hourMs, place, three)).toEqual([]);
  expect(judge(ten + 3 * hourMs, place, three.slice(1))).toEqual([]);
});

test('a campaign with law: off is not held to caps by law', () => {
  const place = { country: 'US', regions: ['FL'] };
  expect(judge(ten + 3 * hourMs, place, three, buildRules())).toEqual([]);
});

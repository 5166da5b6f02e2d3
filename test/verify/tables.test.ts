import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { openPosting } from '../../src/ledger/dial/posting.ts';
import { closeRound } from '../../src/ledger/campaign/rounds.ts';
import { logRules } from '../../src/verify/log-rules.ts';
import type { ListedConversation, ServiceList } from '../../src/verify/judge-list.ts';
import { verifyLog } from '../../src/verify/log.ts';
import { buildRows, buildRules, minuteMs } from '../support/campaign-rules.ts';
import { openCleanStore } from '../ledger/clean-store.ts';
import { answered, beginProven, noon, numbers, type Scenario } from '../ledger/scenario.ts';
import { dialects, type TestDialect } from '../ledger/test-stores.ts';

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

test('every rule about tables and service has a change that it alone names', () => {
  const alone = corruptions.flatMap(([rules]) => (rules.length === 1 ? rules : []));
  const judged = Object.keys(logRules).filter((rule) => /_differ|record_contradicts/.test(rule));
  expect(judged.filter((rule) => !alone.includes(rule))).toEqual([]);
});

import { fetch } from 'undici';
import { expect } from 'vitest';
import { operationNames, routes, type OperationName } from '../../src/sandbox/core/operations.ts';
import { isFull } from '../support/depth.ts';
import { startTestSandbox, test, type Json, type TestSandbox } from './harness.ts';
import { describedAnswers } from './model/described-answers.ts';
import { bentBodies, brokenBodies, type HostileBody } from './model/hostile-bodies.ts';
import { createValidator, documentOf } from './openapi/checks.ts';

const dialects = ['spec', 'extended'] as const;
type Dialect = (typeof dialects)[number];

const config = {
  tts: { voice_id: 'voice_calm', model_id: 'svc_flash_v2' },
  agent: {
    first_message: 'Hello.',
    prompt: { prompt: 'You ask for a mark.' },
    llm: { model_id: 'custom', custom_llm: { url: 'http://127.0.0.1:9/v1', extra_headers: { 'x-one': 'a' } }, temperature: 0.5 },
  },
};
/** An accepted body per operation, with every field of the contract. */
const bodies = {
  create_agent: { request: 'CreateAgentRequest', body: { name: 'A', tags: ['one'], conversation_config: config } },
  update_agent: { request: 'UpdateAgentRequest', body: { conversation_config: config } },
  import_phone_number: {
    request: 'ImportPhoneNumberRequest',
    body: { label: 'L', phone_number: '+12125550123', telephony_account_sid: 'AC', telephony_auth_token: 'planted-9d2' },
  },
  assign_phone_number: { request: 'AssignPhoneNumberRequest', body: { agent_id: 'agent_survey' } },
  batch_calls: {
    request: 'BatchCallsRequest',
    body: {
      agent_id: 'agent_reminders',
      from_phone_number_id: 'pn_main',
      calls: [
        {
          to_phone_number: '+12125550150',
          conversation_config_override: { agent: { first_message: 'Hi.', llm: { temperature: 0 } } },
          variables: { day: 'Monday' },
        },
      ],
    },
  },
} as const satisfies Partial<Record<OperationName, { request: string; body: unknown }>>;
type BodyOperation = keyof typeof bodies;

const known: Record<string, string> = { ':agent_id': 'agent_reminders', ':phone_number_id': 'pn_main', ':conversation_id': 'nothing' };

function pathOf(operation: OperationName): string {
  return routes[operation].path.replace(/:\w+/, (name) => known[name] ?? '');
}

async function send(sandbox: TestSandbox, operation: OperationName, { text, contentType }: HostileBody) {
  const { method } = routes[operation];
  const headers = { 'x-api-key': 'sk_sandbox_ok', 'content-type': contentType ?? 'application/json' };
  const response = await fetch(sandbox.url + pathOf(operation), { method, headers, body: text });
  const answer = await response.text();
  const body: Json = answer === '' ? undefined : JSON.parse(answer);
  return { status: response.status, body };
}

/** Without the counts of resets and batches. */
async function stateOf(sandbox: TestSandbox): Promise<Json> {
  const body = await sandbox.read('/_sandbox/export');
  const counters = body.counters.filter(([series]: [string]) => series !== 'batch requests');
  return { ...body, counters, generation: undefined };
}

const cases = dialects.flatMap((dialect) =>
  (Object.keys(bodies) as BodyOperation[]).map((operation): [BodyOperation, Dialect] => [operation, dialect]),
);

test.each(cases)('no bent body breaks %s in the %s dialect, and a refused one changes nothing', async (operation, dialect) => {
  const sandbox = await startTestSandbox({ dialect, rateLimit: { requestsPerSecond: null } });
  const { request, body } = bodies[operation];
  const fits = createValidator(documentOf(dialect))(`#/components/schemas/${request}`);
  const misfit = describedAnswers(dialect);
  let refused = 0;
  let nth = 0;
  for (const { path, bodies: all } of bentBodies(body)) {
    // What the dialects share is tried in full in one, elsewhere in the sum of both.
    const isAll = isFull && dialect === 'extended';
    const bent = isAll ? all : all.filter(() => (nth += 1) % 4 === dialects.indexOf(dialect));
    sandbox.reset();
    const before = await stateOf(sandbox);
    for (const hostile of bent) {
      const mayPass = hostile.value !== undefined && fits(hostile.value);
      // No refusal so far has left a trace; what passes now does, and is taken back.
      if (mayPass) expect(await stateOf(sandbox), `state after the refusals at "${path}"`).toEqual(before);
      const { status, body: answer } = await send(sandbox, operation, hostile);
      const about = `${hostile.what} at "${path}": ${status} ${JSON.stringify(answer)}`;
      expect(misfit(operation, status, answer), about).toBeNull();
      if (status >= 400) {
        expect([400, 404, 409, 422], about).toContain(status);
        refused += 1;
        continue;
      }
      expect(mayPass, `${about} was accepted`).toBe(true);
      sandbox.reset();
    }
    expect(await stateOf(sandbox), `state after the refusals at "${path}"`).toEqual(before);
  }
  expect(refused).toBeGreaterThan(10);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(JSON.stringify(sandbox.journal())).not.toContain('planted-9d2');
});

test.each(cases)('what is no JSON is refused by %s in the %s dialect and changes nothing', async (operation, dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  const before = await stateOf(sandbox);
  for (const broken of brokenBodies(bodies[operation].body)) {
    const { status, body } = await send(sandbox, operation, broken);
    expect([400, 415, 422], `${broken.what}: ${JSON.stringify(body)}`).toContain(status);
    expect(describedAnswers(dialect)(operation, status, body), broken.what).toBeNull();
  }
  expect(await stateOf(sandbox)).toEqual(before);
});

const hostileIds = [
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  '%00',
  '%0d%0aset-cookie:a=b',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e',
  '%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7',
  '%E2%80%AE%D7%A9%D7%9C%D7%95%D7%9D',
  "'%20OR%20'1'='1",
  '%3Cscript%3E',
  'a'.repeat(5_000),
];
const withId = operationNames.filter((name) => routes[name].path.includes('/:'));

test.each(dialects)('no id breaks an operation of the %s dialect: nothing has it', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect, rateLimit: { requestsPerSecond: null } });
  const before = await stateOf(sandbox);
  for (const operation of withId)
    for (const id of hostileIds) {
      const { method, path } = routes[operation];
      const body = { update_agent: {}, assign_phone_number: { agent_id: 'agent_survey' } }[operation as string];
      const answer = await sandbox.request(method, path.replace(/:\w+/, id), body);
      expect(answer.status, `${operation} ${id}`).toBe(404);
      expect(describedAnswers(dialect)(operation, answer.status, answer.body)).toBeNull();
    }
  expect(await stateOf(sandbox)).toEqual(before);
});

const forged = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const hostileQueries: readonly (readonly [OperationName[], string[]])[] = [
  [
    ['get_signed_url', 'get_token'],
    ['', 'agent_id=', 'agent_id=agent_survey&agent_id=agent_survey', 'agent_id[]=agent_survey', 'agent_id=a&surprise=1'],
  ],
  [
    ['list_agents', 'list_conversations'],
    [
      ...['0', '-1', '101', '1.5', 'NaN', 'Infinity', '', 'ten', '1e999', '%00'].map((size) => `page_size=${size}`),
      'page_size=1&page_size=2',
      ...['x', '', '%00', 'a'.repeat(8_000), forged(null), forged({}), forged(['agents', 0, -1])].map((cursor) => `cursor=${cursor}`),
      ...[-1, 1.5, '1', null].map((position) => `cursor=${forged(['conversations of *', 0, position])}`),
      '__proto__=1',
      'constructor=1',
      'surprise=1',
      '%zz=1',
    ],
  ],
  [['list_conversations'], ['agent_id=', 'agent_id=a&agent_id=b']],
  [
    ['list_phone_numbers', 'get_agent', 'delete_agent', 'get_conversation', 'delete_conversation'],
    ['surprise=1', '__proto__=1'],
  ],
];

test.each(dialects)('a query that means nothing is refused by every operation of the %s dialect', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect, rateLimit: { requestsPerSecond: null } });
  const before = await stateOf(sandbox);
  for (const [names, queries] of hostileQueries)
    for (const operation of names)
      for (const query of queries) {
        const answer = await sandbox.request(routes[operation].method, `${pathOf(operation)}?${query}`);
        expect([400, 422], `${operation} ${query.slice(0, 60)}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
        expect(describedAnswers(dialect)(operation, answer.status, answer.body)).toBeNull();
      }
  expect(await stateOf(sandbox)).toEqual(before);
});

test.each(dialects)('each operation of the %s dialect refuses a key that is wrong, may not, or is over its limit', async (dialect) => {
  const sandbox = await startTestSandbox({ dialect });
  for (const operation of operationNames)
    for (const [key, status] of Object.entries({ sk_wrong: 401, sk_sandbox_forbidden: 403, sk_sandbox_ratelimited: 429 })) {
      const headers = { 'x-api-key': key };
      const { method } = routes[operation];
      const answer = await sandbox.request(method, pathOf(operation), operation in bodies ? {} : undefined, { headers });
      expect([operation, answer.status]).toEqual([operation, status]);
      expect(describedAnswers(dialect)(operation, status, answer.body)).toBeNull();
    }
});

test('a body where none is wanted harms nothing', async ({ sandbox }) => {
  for (const body of ['{"a":1}', '[[[', '\u0000', 'x'.repeat(100_000)]) {
    const { status } = await sandbox.delete('/v1/convai/conversations/nothing', body);
    expect([400, 404]).toContain(status);
  }
  const { status, body } = await sandbox.delete('/v1/convai/agents/agent_survey', '{"a":1}');
  expect([status, body]).toEqual([200, {}]);
});

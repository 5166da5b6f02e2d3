import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { noon, startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

const text = { type: 'string' };
const whole = { type: 'integer', minimum: -1 };
const instant = { type: 'string', pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$` };

/** What HTTP Archive 1.2 knows is all there may be, but for fields that begin with `_`. */
function record(required: Record<string, unknown>, optional: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional, comment: text },
    patternProperties: { '^_': {} },
    additionalProperties: false,
  };
}

const pair = record({ name: text, value: text });
const cookie = record({ name: text, value: text }, { path: text, domain: text, expires: instant, httpOnly: {}, secure: {} });
const list = (items: unknown): Record<string, unknown> => ({ type: 'array', items });
const messageParts = {
  httpVersion: text,
  cookies: list(cookie),
  headers: list(pair),
  headersSize: whole,
  bodySize: whole,
};
const har = record({
  log: record(
    {
      version: { const: '1.2' },
      creator: record({ name: text, version: text }),
      entries: list(
        record(
          {
            startedDateTime: instant,
            time: { type: 'number', minimum: 0 },
            request: record(
              {
                ...messageParts,
                method: text,
                url: { type: 'string', pattern: '^https?://' },
                queryString: list(pair),
              },
              { postData: record({ mimeType: text, text }, { params: list(record({ name: text })) }) },
            ),
            response: record({
              ...messageParts,
              status: { type: 'integer' },
              statusText: text,
              redirectURL: text,
              content: record({ size: whole, mimeType: text }, { compression: whole, text, encoding: text }),
            }),
            cache: record({}, { beforeRequest: {}, afterRequest: {} }),
            timings: record(
              { send: { type: 'number' }, wait: { type: 'number' }, receive: { type: 'number' } },
              { blocked: {}, dns: {}, connect: {}, ssl: {} },
            ),
          },
          { pageref: text, serverIPAddress: text, connection: text },
        ),
      ),
    },
    { browser: record({ name: text, version: text }), pages: list({}) },
  ),
});
const isHar = new Ajv({ strict: false }).compile(har);

async function archiveOf(sandbox: TestSandbox, query = ''): Promise<Json[]> {
  const { body } = await sandbox.get(`/_sandbox/journal?format=har${query}`);
  isHar(body);
  expect(isHar.errors).toBeNull();
  return body.log.entries;
}

test('the journal as an HTTP archive is valid, whatever happened', async () => {
  const sandbox = await startTestSandbox({
    faults: [
      { operation: 3, nth: 1, effect: { type: 'reset', when: 'before' } },
      { operation: 3, nth: 2, effect: { type: 'reset', when: 'after' } },
      { operation: 3, nth: 3, effect: { type: 'html' } },
      { operation: 3, nth: 4, effect: { type: 'dribble' } },
    ],
  });
  const agent = '/v1/convai/agents/agent_survey';
  await sandbox.request('POST', '/v1/convai/agents', { name: 'Ann' }, { headers: { 'x-trace': 't' } });
  for (let read = 0; read < 4; read += 1) await sandbox.get(agent).catch(() => null);
  await sandbox.get('/v1/convai/agents?page_size=2&cursor=%E4');
  await sandbox.get('/nowhere');
  await sandbox.request('POST', '/v1/convai/agents', '{');
  await sandbox.batch(['+12125550100']);
  const entries = await archiveOf(sandbox);
  expect(entries.map((entry) => entry.response.status)).toEqual([200, 0, 200, 502, 200, 422, 404, 400, 200]);
  expect(entries[0]).toMatchObject({
    startedDateTime: new Date(noon).toISOString(),
    request: {
      method: 'POST',
      url: `${sandbox.url}/v1/convai/agents`,
      postData: { mimeType: 'application/json', text: '{"name":"Ann"}' },
      bodySize: 14,
    },
    response: { statusText: 'OK', content: { mimeType: 'application/json; charset=utf-8' } },
    _sequence: 1,
    _operation: 'create_agent',
  });
  expect(entries[4].response.content.text).toContain('"agent_survey"');
  expect(entries[5].request.queryString[0]).toEqual({ name: 'page_size', value: '2' });
});

test('an archive can be filtered as the journal is', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.get('/v1/convai/agents');
  await sandbox.get('/nowhere');
  expect(await archiveOf(sandbox, '&unmatched=true')).toMatchObject([{ _sequence: 2 }]);
  expect(await archiveOf(sandbox, '&status=503')).toEqual([]);
});

test('the check of archives refuses what is none', () => {
  expect(isHar({ log: { version: '1.2', creator: { name: 'x', version: '1' }, entries: [{}] } })).toBe(false);
  expect(isHar({ log: { version: '1.2', creator: { name: 'x', version: '1' }, entries: [], more: 1 } })).toBe(false);
});

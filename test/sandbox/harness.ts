import { fetch, type RequestInit, type Response } from 'undici';
import { expect, test as plainTest, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../src/sandbox/start.ts';
import { createManualClock, noon, type ManualClock } from './manual-clock.ts';

export { createManualClock, noon, type ManualClock };

// eslint-disable-next-line typescript/no-explicit-any -- bodies are read as a caller would, without our types.
export type Json = any;

interface Answer {
  status: number;
  headers: Response['headers'];
  body: Json;
}

type Send = (path: string, body?: unknown, init?: RequestInit) => Promise<Answer>;

export interface TestSandbox extends RunningSandbox {
  clock: ManualClock;
  request(method: string, path: string, body?: unknown, init?: RequestInit): Promise<Answer>;
  get: (path: string) => Promise<Answer>;
  post: Send;
  put: Send;
  patch: Send;
  delete: Send;
  read: (path: string) => Promise<Json>;
  /** As the service shows it now; by default of the last call. */
  record: (place?: number) => Promise<Json>;
  /** Against the caller, by the name of a check. */
  violations: (check: string) => Json[];
  batch(numbers: string[], more?: Record<string, unknown>, requestId?: string, init?: RequestInit): Promise<Answer>;
  /** Lets an hour pass, and reads the record. */
  call(number: string, more?: Record<string, unknown>): Promise<Json>;
  /** In the form of comparable services; a recipient may be a bare number. */
  submit(recipients: readonly Json[], more?: Json): Promise<Json>;
  /** The id of a new agent. */
  createAgent(config?: Json, more?: Json): Promise<string>;
}

/** Its clock stands still; closed after the test. */
export async function startTestSandbox(options: SandboxOptions = {}, keyHeader = 'x-api-key'): Promise<TestSandbox> {
  const clock = createManualClock();
  const sandbox = await startSandbox({ seed: 'test', clock, ...options });
  onTestFinished(() => sandbox.close());
  const request: TestSandbox['request'] = async (method, path, body, init = {}) => {
    const headers = {
      [keyHeader]: 'sk_sandbox_ok',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(init.headers as Record<string, string> | undefined),
    };
    const response = await fetch(sandbox.url + path, {
      method,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...init,
      headers,
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text) };
  };
  const send = (method: string): Send => request.bind(null, method);
  const post = send('POST');
  const read: TestSandbox['read'] = async (path) => (await request('GET', path)).body;
  const record: TestSandbox['record'] = (place = -1) => read(`/v1/convai/conversations/${sandbox.calls().at(place)?.conversationId}`);
  const batch: TestSandbox['batch'] = (numbers, more = {}, requestId, init = {}) => {
    const calls = numbers.map((number) => ({ to_phone_number: number }));
    const headers = { ...(init.headers as Record<string, string>), ...(requestId === undefined ? {} : { 'x-request-id': requestId }) };
    const body = { agent_id: 'agent_reminders', from_phone_number_id: 'pn_main', calls, ...more };
    return post('/v1/convai/phone-numbers/batch-calls', body, { ...init, headers });
  };
  const make = async (path: string, body: Json): Promise<Json> => {
    const made = await post(path, body);
    expect(made).toMatchObject({ status: 200 });
    return made.body;
  };
  return {
    ...sandbox,
    clock: (options.clock as ManualClock | undefined) ?? clock,
    request,
    get: (path) => request('GET', path),
    post,
    put: send('PUT'),
    patch: send('PATCH'),
    delete: send('DELETE'),
    read,
    record,
    violations: (check) => sandbox.conduct().checks.find(({ name }) => name === check)?.violations ?? [],
    batch,
    call: async (number, more) => {
      await batch([number], more);
      if (options.clock === 'manual') await sandbox.advance(3_600_000);
      else clock.advance(3_600_000);
      return record();
    },
    submit: (recipients, more) => make('/v1/convai/batch-calling/submit', batchOf(recipients, more)),
    createAgent: async (config = {}, more = {}) =>
      (await make('/v1/convai/agents', { name: 'A', conversation_config: config, ...more })).agent_id,
  };
}

/** Each test that names it gets a sandbox of its own. */
export const testWith = (options: SandboxOptions = {}) => plainTest.extend('sandbox', () => startTestSandbox(options));
export const test = testWith();

export function batchOf(recipients: readonly Json[], more: Json = {}): Json {
  const named = recipients.map((each) => (typeof each === 'string' ? { phone_number: each } : each));
  return { call_name: 'Spring round', agent_id: 'agent_reminders', agent_phone_number_id: 'pn_main', recipients: named, ...more };
}

/** A number to import, with what its provider wants. */
export const imported = {
  label: 'Line',
  phone_number: '+13135550101',
  telephony_account_sid: 'account',
  telephony_auth_token: 'provider-token-in-clear',
};

export function plainNumbers(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const area = 201 + Math.floor(index / 70);
    return `+1${area}55501${String(30 + (index % 70)).padStart(2, '0')}`;
  });
}

function parse(text: string): Json {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

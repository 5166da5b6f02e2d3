import { expect, onTestFinished, test as plainTest } from 'vitest';
import { ServiceClock } from '../../../src/sandbox/core/clock/clock.ts';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startSandbox, type RunningSandbox } from '../../../src/sandbox/start.ts';
import { browserMissing, mustHaveBrowser, openWindow, type TestWindow, type WindowOptions } from '../../support/browser.ts';
import { noon, type Json } from '../harness.ts';

const missing = browserMissing();
if (missing !== null) console.warn(missing);

export const test = plainTest.extend('sandbox', () => startPageSandbox());
/** A test in a real browser; skipped where there is none, unless one is required. */
export const browserTest = test.skipIf(missing !== null && !mustHaveBrowser);

export interface PageSandbox extends RunningSandbox {
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }>;
  batch(...numbers: string[]): Promise<string>;
  advance(seconds: number): Promise<void>;
}

export const apiKey = 'sk_sandbox_ok';
export const ownKey = 'sk_page_test_key_of_our_own';

export async function startPageSandbox(options: SandboxOptions = {}): Promise<PageSandbox> {
  const clock = new ServiceClock({ speed: 0, epochMs: noon });
  const sandbox = await startSandbox({ seed: 'page', clock, apiKeys: [ownKey], ...options });
  onTestFinished(() => sandbox.close());
  const ask: PageSandbox['ask'] = async (method, path, body) => {
    const response = await fetch(sandbox.url + path, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(options.controlToken === undefined ? {} : { authorization: `Bearer ${options.controlToken}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
  };
  return {
    ...sandbox,
    ask,
    batch: async (...numbers) => {
      const { status, body } = await ask('POST', '/v1/convai/phone-numbers/batch-calls', {
        agent_id: 'agent_reminders',
        from_phone_number_id: 'pn_main',
        calls: numbers.map((number) => ({ to_phone_number: number })),
      });
      expect(status).toBe(200);
      return body.batch_id;
    },
    advance: async (seconds) => {
      expect((await ask('POST', '/_sandbox/clock/advance', { seconds })).status).toBe(200);
    },
  };
}

/** At the test's end it must have asked nobody else, nor complained. */
export async function look(sandbox: PageSandbox, path = '/', options: Partial<WindowOptions> = {}): Promise<TestWindow> {
  const window = await openWindow({ origin: sandbox.url, ...options });
  onTestFinished(async () => {
    await window.close();
    expect(window.strayed).toEqual([]);
    expect(window.complaints).toEqual([]);
  });
  await window.page.goto(sandbox.url + path);
  return window;
}

/** With calls in every state. Returns the addresses of the views. */
export async function fillSandbox(sandbox: PageSandbox): Promise<string[]> {
  await sandbox.ask('POST', '/_sandbox/webhooks', { url: 'http://127.0.0.1:9/hook', secret: 'secret-of-the-page-test' });
  await sandbox.batch('+12125550100', '+12125550101', '+12125550102', '+12125550103');
  await sandbox.advance(3600);
  const { body } = await sandbox.ask('GET', '/v1/convai/conversations');
  await sandbox.ask('GET', `/v1/convai/conversations/${body.conversations[0].conversation_id}`);
  await sandbox.ask('POST', '/v1/convai/batch-call', { calls: [] });
  await sandbox.ask('POST', '/_sandbox/faults', { id: 'own', operation: 1, effect: { type: 'error', status: 503 } });
  await sandbox.ask('POST', '/v1/convai/agents', { name: 'Never made' });
  await sandbox.batch('+13125550121', '+13125550122', '+13125550123');
  await sandbox.advance(12);
  const answered = sandbox.calls().find(({ to }) => to === '+12125550100');
  const requests = sandbox.journal();
  return [
    '/',
    `/?view=call&id=${answered?.callId}`,
    '/?view=batches',
    '/?view=agents',
    '/?view=agent&id=agent_reminders',
    '/?view=numbers',
    '/?view=journal',
    `/?view=request&id=${requests[0]?.sequence}`,
    `/?view=request&id=${requests.at(-1)?.sequence}`,
    '/?view=webhooks',
    '/?view=faults',
    '/?view=conduct',
    '/?view=control',
    '/?view=nothing',
  ];
}

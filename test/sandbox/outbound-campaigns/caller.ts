import { expect } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { noon, startTestSandbox, testWith, type Json, type TestSandbox } from '../harness.ts';

export const campaigns = '/v1/convai/outbound-campaigns/campaigns';
export const inThirtyDays = noon / 1000 + 30 * 86_400;
export const [answers, isBusy, isAbsent, other] = ['+12125550100', '+12125550101', '+12125550102', '+12125550115'] as const;

export function submission(numbers: readonly string[], more: Json = {}): Json {
  return {
    call_name: 'Reminders',
    agent_id: 'agent_reminders',
    channel_config: { channel: 'phone', agent_phone_number_id: 'pn_main' },
    variant: 'simple',
    recipients: numbers.map((phone_number, index) => ({ id: `row_${index}`, phone_number })),
    ...more,
  };
}

export async function submit(sandbox: TestSandbox, numbers: readonly string[], more: Json = {}): Promise<Json> {
  const { status, body } = await sandbox.post(`${campaigns}/submit`, submission(numbers, more));
  expect(status, JSON.stringify(body)).toBe(body.created ? 201 : 200);
  return body;
}

export async function read(sandbox: TestSandbox, path: string): Promise<Json> {
  const { status, body } = await sandbox.get(`${campaigns}/${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

export const start = async (settings: SandboxOptions['campaigns'] = {}, more: SandboxOptions = {}): Promise<TestSandbox> =>
  startTestSandbox({ campaigns: settings, ...more });

export const test = testWith({ campaigns: {} });

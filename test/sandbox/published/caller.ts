import { test as plainTest } from 'vitest';
import type { SandboxOptions } from '../../../src/sandbox/core/settings/settings.ts';
import { startTestSandbox, type Json, type TestSandbox } from '../harness.ts';

export const batches = '/v1/convai/batch-calling';
export const conversations = '/v1/convai/conversations';

export interface Recipient {
  id?: string;
  phone_number: string;
  conversation_initiation_client_data?: Json;
}

export interface PublishedSandbox extends TestSandbox {
  statuses(batchId: string): Promise<Record<string, string>>;
}

export async function startPublished(options: SandboxOptions = {}): Promise<PublishedSandbox> {
  const sandbox = await startTestSandbox({ dialect: 'published', ...options }, 'xi-api-key');
  return {
    ...sandbox,
    statuses: async (batchId) => {
      const { recipients } = await sandbox.read(`${batches}/${batchId}`);
      return Object.fromEntries(recipients.map(({ id, status }: Json) => [id, status]));
    },
  };
}

export const test = plainTest.extend('sandbox', () => startPublished());

/** Each under the last four digits of the number as its id. */
export function people(...endings: string[]): Recipient[] {
  return endings.map((ending) => ({ id: ending, phone_number: `+1212555${ending}` }));
}

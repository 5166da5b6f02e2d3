import { expect, test } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import { createSdkLogger } from '../../src/temporal/runtime-logger.ts';

function collect(level: string) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  return { lines, sdk: createSdkLogger(() => logger) };
}

test("the SDK's lines become ours: ids and the error's sentence, no inputs, at our level", () => {
  const { lines, sdk } = collect('warn');
  sdk.info('started', { workflowId: 'campaign/a/1' });
  sdk.log('WARN', 'activity failed', {
    workflowId: 'campaign/a/1',
    attempt: 2,
    input: { e164: '+12125550101' },
    error: Object.assign(new Error('no answer\n at somewhere'), { type: 'RateLimited' }),
  });
  expect(lines).toEqual([
    {
      level: 40,
      time: expect.any(String),
      workflowId: 'campaign/a/1',
      attempt: 2,
      error: 'Error RateLimited: no answer',
      msg: 'activity failed',
    },
  ]);
});

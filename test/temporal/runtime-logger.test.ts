import { expect, test } from 'vitest';
import { createLogger } from '../../src/logger.ts';
import { createSdkLogger } from '../../src/temporal/runtime-logger.ts';

function collect(level: string, monotonicMs = () => 0) {
  const lines: Record<string, unknown>[] = [];
  const logger = createLogger(level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  return {
    lines,
    sdk: createSdkLogger(
      () => logger,
      () => '127.0.0.1:7233',
      monotonicMs,
    ),
  };
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

test('while Temporal is down there is one line with address and cause, and not 257', () => {
  let now = 0;
  const { lines, sdk } = collect('info', () => now);
  const error = `Status { code: Unavailable, message: "tcp connect error", source: Some(ConnectError("tcp connect error", 127.0.0.1:7233, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })) }`;
  const goDown = () => {
    for (let tries = 0; tries < 257; tries += 1) {
      now += 9_000;
      sdk.warn(`gRPC call poll_activity_task_queue retried ${tries} times`, { sdkComponent: 'core', error });
    }
  };
  goDown();
  expect(lines).toEqual([
    {
      level: 40,
      time: expect.any(String),
      temporal: '127.0.0.1:7233',
      error: 'Unavailable: Connection refused',
      msg: expect.stringMatching(/^Temporal gives no answer/),
    },
  ]);
  now += 61_000;
  goDown();
  expect(lines).toHaveLength(2);
});

test('a worker that begins as it should warns of nothing', () => {
  const { lines, sdk } = collect('info');
  sdk.warn('No workflows registered, not polling for workflow tasks', { sdkComponent: 'worker' });
  sdk.info('Worker state changed', { sdkComponent: 'worker', state: 'RUNNING' });
  expect(lines).toEqual([]);
});

import { z } from 'zod';
import { headerOf } from '../http/answer-errors.ts';
import { BadResponseError, ServiceError } from '../port/errors.ts';
import { readJson } from '../http/bodies.ts';
import { createTransport } from '../http/transport.ts';
import { noProxies } from '../../shared/network/proxies.ts';
import { UnpackError } from '../../shared/network/unpack.ts';
import { realClock, type ServiceClock } from '../port/service-clock.ts';

const health = z.looseObject({
  sandbox: z.literal(true),
  dialect: z.enum(['spec', 'extended', 'published']),
  clock: z.looseObject({
    speed: z.number().positive(),
    anchorRealMs: z.number(),
    anchorServiceMs: z.number(),
  }),
});

/**
 * Reads, without the key, whether the service is a sandbox and which clock it keeps; any other answer means real time. Throws NotSentError
 * when nothing listens, OutcomeUnknownError without a whole answer, and BadResponseError when a sandbox does not state its clock, as real
 * time would be wrong. `nowReal`: epoch ms.
 */
export async function readServiceClock(
  baseUrl: string,
  fetchTimeoutMs: number,
  nowReal: () => number = Date.now,
  proxies = noProxies,
): Promise<ServiceClock> {
  let isSandbox = false;
  const transport = createTransport({
    baseUrl,
    apiKey: null,
    keyHeader: 'x-api-key',
    // No key is sent.
    allowInsecure: true,
    timeouts: { connectMs: fetchTimeoutMs, headersMs: fetchTimeoutMs, bodyMs: fetchTimeoutMs },
    readsPerSecond: 10,
    retriesAfter429: { reads: 0, changes: 0 },
    proxies,
    nowReal,
  });
  try {
    const success = await transport.read('/_sandbox/health');
    isSandbox = headerOf(success.headers, 'x-sandbox') === '1';
    if (!isSandbox) return realClock(nowReal);
    const answer = readJson(success.body);
    const parsed = health.safeParse(answer);
    if (!parsed.success) {
      const problem = answer === undefined ? 'a sandbox whose answer is not JSON' : 'a sandbox that does not tell its clock';
      throw new BadResponseError(success.request, success.status, [problem]);
    }
    return scaledClock(parsed.data, nowReal);
  } catch (error) {
    // An unreadable answer may come from a sandbox.
    const isUnreadable = error instanceof BadResponseError && error.cause instanceof UnpackError && error.status < 300;
    if (error instanceof ServiceError && !isSandbox && !isUnreadable && wasAnswered(error)) return realClock(nowReal);
    throw error;
  } finally {
    await transport.close();
  }
}

function scaledClock({ dialect, clock }: z.output<typeof health>, nowReal: () => number): ServiceClock {
  const { speed, anchorRealMs, anchorServiceMs } = clock;
  return {
    speed,
    sandbox: true,
    dialect,
    now: () => anchorServiceMs + (nowReal() - anchorRealMs) * speed,
    toRealMs: (serviceMs) => serviceMs / speed,
    atReal: (serviceInstantMs) => anchorRealMs + (serviceInstantMs - anchorServiceMs) / speed,
  };
}

function wasAnswered(error: ServiceError): boolean {
  const phase = 'phase' in error ? error.phase : 'answered';
  return error.knowledge !== 'not_sent' && phase === 'answered';
}

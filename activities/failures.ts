import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure, type ApplicationFailureOptions } from '@temporalio/common';
import { ServiceError, RateLimitedError } from '../src/service/port/errors.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { isAway, StandbyError } from '../src/ledger/postgres/writer-pool.ts';
import { LedgerOlderError } from '../src/ledger/ledger-older.ts';

interface ExpectedWait extends Pick<ApplicationFailureOptions, 'nonRetryable' | 'details'> {
  type: string;
  message: string;
  /** Real ms; absent: the retry policy decides. */
  retryInMs?: number | undefined;
}

/** Fails in a way that is retried without raising an alarm. */
export function expectedWait({ retryInMs, ...failure }: ExpectedWait): ApplicationFailure {
  return ApplicationFailure.create({
    ...failure,
    category: ApplicationFailureCategory.BENIGN,
    ...(retryInMs === undefined ? {} : { nextRetryDelay: Math.max(1, Math.ceil(retryInMs)) }),
  });
}

/** An error's name and code, never its message, which may hold a value of a row. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [name, code].filter((word) => typeof word === 'string' && word !== '').join(' ') || 'unknown error';
}

/** How soon a worker resumes after its database is back. */
const usualAwayRetryMs = 5_000;

/**
 * Translates errors into Temporal failures. Their messages stay in histories for weeks, so they carry type, status and request id only, and
 * no cause. An unreachable database is retried after `awayRetryMs`; null: by the retry policy.
 */
export async function toFailure(
  error: unknown,
  { serviceClock }: Pick<ActivityDependencies, 'serviceClock'>,
  awayRetryMs: number | null = usualAwayRetryMs,
): Promise<TemporalFailure> {
  if (error instanceof TemporalFailure) return error;
  if (error instanceof LedgerOlderError) {
    const { missing, submitted } = error.lost;
    const details = [{ missing, submitted }];
    return ApplicationFailure.create({
      type: failureTypes.ledgerOlder,
      message: error.message,
      nonRetryable: true,
      details,
    });
  }
  if (error instanceof RateLimitedError) {
    const { retryAfterMs } = error;
    const clock = retryAfterMs === null ? null : await serviceClock().catch(() => null);
    return expectedWait({
      type: failureTypes.rateLimited,
      message: `The service limits requests (429, request ${error.requestId ?? 'without id'})`,
      retryInMs: retryAfterMs === null ? undefined : (clock?.toRealMs(retryAfterMs) ?? retryAfterMs),
    });
  }
  if (error instanceof ServiceError) {
    const status = 'status' in error && typeof error.status === 'number' ? `, status ${error.status}` : '';
    return ApplicationFailure.create({
      type: failureTypes.serviceUnavailable,
      message: `${error.name}${status}, request ${error.requestId ?? 'without id'}`,
    });
  }
  // Its message holds no value of a row, and explains more than a code.
  const message = error instanceof StandbyError ? error.message : codeOf(error);
  const again = awayRetryMs !== null && isAway(error) ? { nextRetryDelay: awayRetryMs } : {};
  return ApplicationFailure.create({ type: failureTypes.database, message, ...again });
}

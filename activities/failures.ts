import { ApplicationFailure, ApplicationFailureCategory, TemporalFailure, type ApplicationFailureOptions } from '@temporalio/common';
import { ServiceError, RateLimitedError } from '../src/service/port/errors.ts';
import { failureTypes } from '../src/rules/failure-types.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { isAway, StandbyError } from '../src/ledger/postgres/writer-pool.ts';
import { LedgerOlderError } from '../src/ledger/ledger-older.ts';

interface ExpectedWait extends Pick<ApplicationFailureOptions, 'nonRetryable' | 'details'> {
  type: string;
  message: string;
  /** Real milliseconds until it is worth trying again; the retry policy decides when it is absent. */
  retryInMs?: number | undefined;
}

/** Something that is waited for as a matter of course: it is retried and raises no alarm. */
export function expectedWait({ retryInMs, ...failure }: ExpectedWait): ApplicationFailure {
  return ApplicationFailure.create({
    ...failure,
    category: ApplicationFailureCategory.BENIGN,
    ...(retryInMs === undefined ? {} : { nextRetryDelay: Math.max(1, Math.ceil(retryInMs)) }),
  });
}

/** Machine words of an error: its code (of a database or a socket), never its message, which may hold a value of a row. */
export function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [name, code].filter((word) => typeof word === 'string' && word !== '').join(' ') || 'unknown error';
}

/** A worker is at work again so soon after its database. */
const usualAwayRetryMs = 5_000;

/**
 * The one translation of errors into failures of Temporal. Messages there stay in histories for weeks: they carry type, status
 * and request id only, and no cause. A database that is away is tried again after `awayRetryMs`; null: as the retry policy has it.
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
  // Its words hold no value of a row, and say what no code does.
  const message = error instanceof StandbyError ? error.message : codeOf(error);
  const again = awayRetryMs !== null && isAway(error) ? { nextRetryDelay: awayRetryMs } : {};
  return ApplicationFailure.create({ type: failureTypes.database, message, ...again });
}

/** Failure types of activities; workflows compare them because classes do not survive the boundary. */
export const failureTypes = {
  /** The service answered 429; it is waited for. */
  rateLimited: 'RateLimited',
  /** Nothing was sent because the service was unreachable; retried. */
  notSent: 'NotSent',
  /** The ledger does not allow a POST yet. */
  blocked: 'Blocked',
  /** No answer of the pre-dial hook yet: nothing is sent, and it is asked again. */
  screening: 'Screening',
  /** A hook or webhook did not take a notification. */
  hook: 'Hook',
  /** A read failed or returned nothing usable. */
  serviceUnavailable: 'ServiceUnavailable',
  /** The database lost progress that the campaign has made. Never retried. */
  ledgerOlder: 'LedgerOlder',
  /** The campaign belongs to another service than this worker's; it waits for another worker. */
  otherService: 'OtherService',
  /** A scheduled run of a recurring campaign failed; the message says why. */
  firing: 'Firing',
  /** The database did not answer or refused. */
  database: 'Database',
} as const;

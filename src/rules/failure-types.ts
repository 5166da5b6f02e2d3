/** Types of the failures that activities report; workflows compare them, since classes do not survive the boundary. */
export const failureTypes = {
  /** The service said 429; it is waited for. */
  rateLimited: 'RateLimited',
  /** Nothing was sent because the service could not be reached; it is tried again. */
  notSent: 'NotSent',
  /** The ledger does not allow a POST yet. */
  blocked: 'Blocked',
  /** The pre-dial hook gave no answer yet, so nothing may be sent; it is asked again. */
  screening: 'Screening',
  /** A hook was not told of the end of a round. */
  hook: 'Hook',
  /** A read failed or told nothing usable. */
  serviceUnavailable: 'ServiceUnavailable',
  /** The database lost progress that the campaign has made. Never retried. */
  ledgerOlder: 'LedgerOlder',
  /** The campaign was started against another service than this worker's: it waits for a worker that has it. */
  otherService: 'OtherService',
  /** A firing of a recurring campaign came to nothing; the message says why. */
  firing: 'Firing',
  /** The database did not answer, or refused. */
  database: 'Database',
} as const;

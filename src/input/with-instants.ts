const instantName = /^at$|[a-z]At$/;

/**
 * The same value with every instant of ours as programs get it: ISO 8601 in UTC, under a name that is `at` or ends in `At`. Not for records
 * of the service, whose names and times are its own.
 */
export function withInstants(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      typeof inner === 'number' && instantName.test(name) ? new Date(inner).toISOString() : inner,
    ),
  );
}

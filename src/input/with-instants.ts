const instantName = /^at$|[a-z]At$/;

/** A value whose instants are texts. */
type WithInstants<Value> = Value extends readonly (infer Item)[]
  ? WithInstants<Item>[]
  : Value extends object
    ? { [Name in keyof Value]: Name extends 'at' | `${string}At` ? Told<Value[Name]> : WithInstants<Value[Name]> }
    : Value;
type Told<Value> = Value extends number ? string : Value;

/**
 * The same value with every instant of ours as programs get it: ISO 8601 in UTC, under a name that is `at` or ends in `At`. Not for records
 * of the service, whose names and times are its own.
 */
export function withInstants<Value>(value: Value): WithInstants<Value> {
  return JSON.parse(
    JSON.stringify(value, (name, inner: unknown) =>
      typeof inner === 'number' && instantName.test(name) ? new Date(inner).toISOString() : inner,
    ),
  ) as WithInstants<Value>;
}

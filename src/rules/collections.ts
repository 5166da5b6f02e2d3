/** Like `Map.groupBy`, which not every engine has. */
export function groupBy<Value, Key>(values: Iterable<Value>, keyOf: (value: Value) => Key): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Binary search for the first integer with `holds`: false at `before`, true from `after` on. */
export function firstThat(holds: (value: number) => boolean, before: number, after: number): number {
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** Memoises `find`; beyond `most` entries the cache is cleared, to bound memory. */
export function remember<Key, Value>(find: (key: Key) => Value, most = Infinity): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined || known.has(key)) return found as Value;
    if (known.size >= most) known.clear();
    const value = find(key);
    known.set(key, value);
    return value;
  };
}

/** Copy without undefined properties. */
export function withoutUndefined<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const written = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(written) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** Copy with only these fields. */
export function picked<Value, Name extends keyof Value>(value: Value, names: readonly Name[]): Pick<Value, Name> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}

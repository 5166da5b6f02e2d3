/** As `Map.groupBy`, which not every engine has. */
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

/** The first whole number for which `holds`, by halving what is between: it does not hold at `before`, and from `after` on it does. */
export function firstThat(holds: (value: number) => boolean, before: number, after: number): number {
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** As `find`, whose answers are kept; with more than `most` of them, all are forgotten first: memory matters more than speed. */
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

/** The same without what is left out. */
export function withoutUndefined<T extends object>(record: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const written = Object.entries(record).filter(([, value]) => value !== undefined);
  return Object.fromEntries(written) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** These fields of an object alone. */
export function picked<Value, Name extends keyof Value>(value: Value, names: readonly Name[]): Pick<Value, Name> {
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Pick<Value, Name>;
}

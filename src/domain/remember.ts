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

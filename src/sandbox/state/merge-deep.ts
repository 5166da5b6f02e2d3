/** Merges objects at every depth; anything else, arrays included, is replaced. Neither argument is changed. */
export function mergeDeep<T extends object>(base: T, patch: T): T {
  const merged: Record<string, unknown> = { ...(base as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    const existing = Object.hasOwn(merged, key) ? merged[key] : undefined;
    merged[key] = isPlainObject(value) && isPlainObject(existing) ? mergeDeep(existing, value) : value;
  }
  return merged as T;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

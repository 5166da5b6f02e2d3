/** Recursive: null removes a field, arrays are replaced. Changes neither argument. */
export function mergeDeep<T extends object>(base: T, patch: object): T {
  const merged: Record<string, unknown> = { ...(base as Record<string, unknown>) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    const existing = Object.hasOwn(merged, key) ? merged[key] : undefined;
    if (value === null) delete merged[key];
    else if (!isPlainObject(value)) merged[key] = value;
    else if (isPlainObject(existing)) merged[key] = mergeDeep(existing, value);
    else {
      const filled = mergeDeep({}, value);
      if (Object.keys(filled).length > 0) merged[key] = filled;
    }
  }
  return merged as T;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

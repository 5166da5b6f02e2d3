/** Thrown when the database cannot be used; the message says which one, why, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError' as const;
  readonly isBadInput = false;
}

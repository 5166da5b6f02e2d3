/** Thrown when what was asked for cannot be done as it was asked; the message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
  readonly isBadInput = true;
}

/** Thrown when a command line, or a file that it names, cannot be used; the message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
  readonly exitCode = 2;
}

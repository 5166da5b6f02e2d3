/**
 * Thrown when what was asked for cannot be done as it was asked; the message says what is wrong and what to do. `remedy`: what helps, which
 * the command line turns into a command.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError' as const;
  readonly isBadInput = true;
  readonly remedy: { kind: string; campaignId?: string } | null;

  constructor(message: string, options: ErrorOptions & { remedy?: UsageError['remedy'] } = {}) {
    super(message, options);
    this.remedy = options.remedy ?? null;
  }
}

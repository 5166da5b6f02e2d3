/** Thrown when the database cannot be used; the message says which one, why, and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError' as const;
  readonly isBadInput = false;
  readonly remedy: Remedy | null;

  constructor(message: string, { remedy = null, ...options }: ErrorOptions & { remedy?: Remedy | null } = {}) {
    super(message, options);
    this.remedy = remedy;
  }
}

/** Which way out of a refusal there is; src/cli/terminal/failure.ts has the command for it. */
export interface Remedy {
  kind:
    | 'start_first'
    | 'upgrade'
    | 'fix_failure'
    | 'retry_rows'
    | 'leave_unresolved'
    | 'await_end'
    | 'recover'
    | 'name_rows';
  campaignId?: string;
}

/** Base of what a campaign's state refuses; the message says why. */
export abstract class RefusedError extends Error {
  readonly isBadInput = true;
  readonly remedy: Remedy | null;

  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}

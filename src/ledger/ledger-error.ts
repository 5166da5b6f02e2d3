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

/** Which way out of a refusal there is; src/interfaces/cli/terminal/failure.ts has the command for it. */
export interface Remedy {
  kind: 'start_first' | 'upgrade' | 'fix_failure' | 'retry_rows' | 'leave_unresolved' | 'await_end' | 'recover' | 'name_rows';
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

/**
 * What is the matter, and what to do, where a database's code says that the disk takes no more; null for any other code. SQLite does not
 * tell a full one from a limit on the size of files.
 */
export function describeFullDisk(code: string): string | null {
  if (!/^(SQLITE_FULL|SQLITE_IOERR_(WRITE|SHMSIZE)|53100)$/.test(code)) return null;
  return 'the disk is full, or no file may grow any further (ulimit -f). Make room and run the command again';
}

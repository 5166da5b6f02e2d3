export class StoreError extends Error {
  override readonly name = 'StoreError' as const;
  readonly isBadInput = false;
  readonly remedy: Remedy | null;

  constructor(message: string, { remedy = null, ...options }: ErrorOptions & { remedy?: Remedy | null } = {}) {
    super(message, options);
    this.remedy = remedy;
  }
}

/** src/interfaces/cli/terminal/failure.ts has the command for each. */
export interface Remedy {
  kind: 'start_first' | 'upgrade' | 'fix_failure' | 'retry_rows' | 'leave_unresolved' | 'await_end' | 'recover' | 'name_rows';
  campaignId?: string;
}

export abstract class RefusedError extends Error {
  readonly isBadInput = true;
  readonly remedy: Remedy | null;

  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}

/** Null: another code. SQLite does not distinguish a full disk from a file size limit. */
export function describeFullDisk(code: string): string | null {
  if (!/^(SQLITE_FULL|SQLITE_IOERR_(WRITE|SHMSIZE)|53100)$/.test(code)) return null;
  return 'the disk is full, or no file may grow any further (ulimit -f). Make room and run the command again';
}

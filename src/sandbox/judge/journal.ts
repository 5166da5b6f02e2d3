import type { OperationName } from '../core/operations.ts';

export interface JournalEntry {
  sequence: number;
  method: string;
  path: string;
  operation: OperationName | null;
  unmatched: boolean;
  requestId: string | null;
  apiKey: '[redacted]' | null;
  at: number;
  realAt: number;
  parallel: number;
  faults: string[];
  batchId: string | null;
  callsRequested: number | null;
  callsAccepted: number | null;
  status: number | null;
  /** Close-frame reason of a socket conversation refused after the handshake. */
  socketRefusal: string | null;
  /** Real ms until the reply was sent or the connection lost. */
  durationMs: number | null;
  ending: 'in_progress' | 'sent' | 'aborted';
}

export interface JournalFilter {
  operation?: OperationName | undefined;
  status?: string | undefined;
  unmatched?: boolean | undefined;
}

type EntryFacts = Pick<JournalEntry, 'method' | 'path' | 'operation' | 'unmatched' | 'requestId' | 'apiKey' | 'at' | 'realAt'>;

const longest = 200_000;

/** Requests, oldest first: the newest 200,000. */
export class Journal {
  #entries: JournalEntry[] = [];
  #sequence = 0;
  #inProgress = 0;
  #batchesInProgress = 0;

  begin(facts: EntryFacts): JournalEntry {
    this.#inProgress += 1;
    if (facts.operation === 'batch_calls') this.#batchesInProgress += 1;
    const entry: JournalEntry = {
      sequence: ++this.#sequence,
      ...facts,
      parallel: this.#inProgress,
      faults: [],
      batchId: null,
      callsRequested: null,
      callsAccepted: null,
      status: null,
      socketRefusal: null,
      durationMs: null,
      ending: 'in_progress',
    };
    this.#entries.push(entry);
    if (this.#entries.length > longest * 1.1) this.#entries = this.#entries.slice(-longest);
    return entry;
  }

  end(entry: JournalEntry, ending: 'sent' | 'aborted', status: number, durationMs: number): void {
    this.#inProgress -= 1;
    if (entry.operation === 'batch_calls') this.#batchesInProgress -= 1;
    Object.assign(entry, { ending, status, durationMs });
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  get batchesInProgress(): number {
    return this.#batchesInProgress;
  }

  get last(): number {
    return this.#sequence;
  }

  get(sequence: number): JournalEntry | null {
    return this.#entries[sequence - (this.#entries[0]?.sequence ?? 1)] ?? null;
  }

  /** `next` is where to continue: no match lies before it. */
  since(since: number, limit = longest, filter: JournalFilter = {}): { entries: JournalEntry[]; next: number } {
    const first = this.#entries[0]?.sequence ?? 1;
    const entries: JournalEntry[] = [];
    let next = since;
    for (let index = Math.max(0, since + 1 - first); entries.length < limit; index += 1) {
      const entry = this.#entries[index];
      if (entry === undefined) break;
      next = entry.sequence;
      if (matchesFilter(entry, filter)) entries.push(entry);
    }
    return { entries, next };
  }

  /** Keeps the count of requests in progress: they end in the new journal. */
  clear(): void {
    this.#entries = [];
  }
}

function matchesFilter(entry: JournalEntry, { operation, status, unmatched }: JournalFilter): boolean {
  if (operation !== undefined && entry.operation !== operation) return false;
  if (unmatched !== undefined && entry.unmatched !== unmatched) return false;
  if (status === undefined) return true;
  const answered = String(entry.status ?? '');
  return status.endsWith('xx') ? answered.startsWith(status[0] ?? '') && answered !== '' : answered === status;
}

import type { OperationName } from '../operations.ts';

/** One request as it happened. Holds no body, no key, and no address that carries one. */
export interface JournalEntry {
  sequence: number;
  method: string;
  path: string;
  operation: OperationName | null;
  requestId: string | null;
  apiKey: '[redacted]' | null;
  /** Epoch milliseconds of service time and of the machine. */
  at: number;
  realAt: number;
  /** Requests in progress when this one came, itself included. */
  parallel: number;
  /** Fault rules that hit it. */
  faults: string[];
  batchId: string | null;
  callsRequested: number | null;
  callsAccepted: number | null;
  status: number | null;
  /** Real milliseconds until the reply was sent or the connection was gone. */
  durationMs: number | null;
  ending: 'in_progress' | 'sent' | 'aborted';
}

const longest = 200_000;

/** What was asked of the service, oldest first; the oldest go when it grows beyond 200,000 requests. */
export class Journal {
  #entries: JournalEntry[] = [];
  #sequence = 0;
  #inProgress = 0;

  begin(
    facts: Pick<JournalEntry, 'method' | 'path' | 'operation' | 'requestId' | 'apiKey' | 'at' | 'realAt'>,
  ): JournalEntry {
    this.#inProgress += 1;
    const entry: JournalEntry = {
      sequence: ++this.#sequence,
      ...facts,
      parallel: this.#inProgress,
      faults: [],
      batchId: null,
      callsRequested: null,
      callsAccepted: null,
      status: null,
      durationMs: null,
      ending: 'in_progress',
    };
    this.#entries.push(entry);
    if (this.#entries.length > longest * 1.1) this.#entries = this.#entries.slice(-longest);
    return entry;
  }

  end(entry: JournalEntry, ending: 'sent' | 'aborted', status: number, durationMs: number): void {
    this.#inProgress -= 1;
    Object.assign(entry, { ending, status, durationMs });
  }

  get inProgress(): number {
    return this.#inProgress;
  }

  /** Entries after the sequence number `since`. */
  since(since: number, limit = longest): { entries: JournalEntry[]; next: number } {
    const first = this.#entries[0]?.sequence ?? 1;
    const from = Math.max(0, since + 1 - first);
    const entries = this.#entries.slice(from, from + limit);
    return { entries, next: entries.at(-1)?.sequence ?? since };
  }

  /** Requests still in progress end in the new journal's count, so the count stays. */
  clear(): void {
    this.#entries = [];
  }
}

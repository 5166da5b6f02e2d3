import type { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { ClientBase, Pool, PoolClient, QueryConfig, QueryResult } from 'pg';

export const standbyText = 'the database answers as a read-only standby';
export const standbyAdvice = 'Let DATABASE_URL lead to the primary server; work goes on by itself when it does.';

/** Thrown when the server is read-only, like a standby; nothing was written. */
export class StandbyError extends Error {
  override readonly name = 'StandbyError' as const;
  readonly isBadInput = false;

  constructor(options?: ErrorOptions) {
    super(`${standbyText}. ${standbyAdvice}`, options);
  }
}

/** Lost connection, server going down or coming up, demoted writer, session ended by the server. */
const awayCodes = /^(08[0-9A-Z]{3}|57P0[1-35]|25P0[34]|25006|ECONN[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+|E(HOST|NET)(UNREACH|DOWN))$/;
/** Client faults without a code. */
const awayWords = /^(Connection terminated|Client (has encountered|was closed)|Query read timeout|timeout e)/;

/** Whether the connection is dead or misdirected. The last statement's effect is unknown: a COMMIT may have succeeded. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StandbyError) return true;
  return awayCodes.test(String((error as { code?: unknown }).code)) || awayWords.test(error.message);
}

export async function requireWriter(ask: (text: string) => Promise<{ rows: unknown[] }>): Promise<void> {
  const { rows } = await ask('select pg_is_in_recovery() as standby');
  if ((rows[0] as { standby?: boolean } | undefined)?.standby === true) throw new StandbyError();
}

/** How long a checked connection counts as leading to the writer; behind a pooler its server may change. */
const sureMs = 5_000;
const mostWaitMs = 10_000;
const full = 'timeout exceeded when trying to connect';

export interface WriterPoolOptions {
  pg: typeof import('pg');
  /** Server addresses, one of them writable. */
  urls: readonly string[];
  /** Real ms until a connection is replaced, ±20 % so that not all go at once. */
  connectionAgeMs: number;
  onConnect: (client: ClientBase) => void;
}

/** Dead and standby connections are dropped on release, idle ones checked before use. */
export class WriterPool implements PostgresPool {
  readonly #options: WriterPoolOptions;
  readonly #pool: Pool;
  readonly #lent = new WeakMap<ClientBase, LentClient>();
  #turn = 0;
  /** When a connection was last found dead or misdirected (real time); earlier checks of the others no longer count. */
  #doubtedAt = -Infinity;

  constructor(options: WriterPoolOptions) {
    this.#options = options;
    const { pg, urls } = options;
    const next = () => urls[this.#turn % urls.length] ?? '';
    const Connecting = class extends pg.Client {
      constructor() {
        super({ connectionString: next(), keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
      }
    };
    this.#pool = new pg.Pool({
      Client: Connecting,
      max: 10,
      connectionTimeoutMillis: mostWaitMs,
      verify: (client, done) => void this.#welcome(client).then(() => done(), done),
    });
    // The pool replaces a broken idle connection; without a listener the error would end the process.
    this.#pool.on('error', () => {});
  }

  /** Tries each address once, the last good one first. Throws StandbyError, or the client's error for an unreachable server. */
  async connect(): Promise<PostgresPoolClient> {
    for (let tries = 1; ; tries += 1) {
      const at = this.#turn;
      try {
        return (await this.#lend()) as unknown as PostgresPoolClient;
      } catch (error) {
        if (tries >= this.#options.urls.length || (error as Error).message === full) throw error;
        // Another caller may have moved on already.
        if (this.#turn === at) this.#turn += 1;
      }
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  async #lend(): Promise<LentClient> {
    for (;;) {
      const client = await this.#pool.connect();
      const lent = this.#lent.get(client) as LentClient;
      if (lent.askedAt > this.#doubtedAt && performance.now() - lent.askedAt < sureMs) return lent;
      try {
        await lent.ask();
        return lent;
      } catch {
        // The loop takes another connection; a new one reports its own fault.
        lent.discard();
      }
    }
  }

  async #welcome(client: PoolClient): Promise<void> {
    // A connection that breaks in use fails its next statement.
    client.on('error', () => {});
    this.#options.onConnect(client);
    const ageMs = this.#options.connectionAgeMs * (0.8 + 0.4 * Math.random());
    const lent = new LentClient(client, performance.now() + ageMs, () => (this.#doubtedAt = performance.now()));
    await lent.ask();
    this.#lent.set(client, lent);
  }
}

class LentClient {
  readonly #client: PoolClient;
  readonly #endsAt: number;
  readonly #doubt: () => void;
  /** Real time at which the server last confirmed that it may write. */
  askedAt = -Infinity;
  #isAway = false;

  constructor(client: PoolClient, endsAt: number, doubt: () => void) {
    this.#client = client;
    this.#endsAt = endsAt;
    this.#doubt = doubt;
  }

  /** Throws StandbyError, or the client's error for a dead connection. */
  async ask(): Promise<void> {
    const checkedAt = performance.now();
    await requireWriter((text) => this.#client.query({ text, query_timeout: mostWaitMs } as QueryConfig));
    this.askedAt = checkedAt;
  }

  async query(text: string, values: unknown[]): Promise<QueryResult> {
    try {
      return await this.#client.query(text, values);
    } catch (error) {
      // A standby refuses BEGIN … READ WRITE as an unsupported feature. A connection that cannot roll back still holds its locks.
      const isRefused = text.startsWith('begin') && (error as { code?: unknown }).code === '0A000';
      if (isAway(error) || isRefused || text === 'rollback') {
        this.#isAway = true;
        this.#doubt();
      }
      throw error;
    }
  }

  release(): void {
    if (this.#isAway) this.discard();
    else this.#client.release(performance.now() >= this.#endsAt);
  }

  /** Destroys the socket: a regular end would wait for a silent server. */
  discard(): void {
    this.#doubt();
    (this.#client as PoolClient & { connection: { stream: Socket } }).connection.stream.destroy();
    this.#client.release(true);
  }
}

import type { Socket } from 'node:net';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { ClientBase, Pool, PoolClient, QueryConfig, QueryResult } from 'pg';

export const standbyText = 'the database answers as a read-only standby';
export const standbyAdvice = 'Let DATABASE_URL lead to the primary server; work goes on by itself when it does.';

/** Thrown when the server can only be read, as a standby is until it is promoted, and nothing was written to it. */
export class StandbyError extends Error {
  override readonly name = 'StandbyError' as const;
  readonly isBadInput = false;

  constructor(options?: ErrorOptions) {
    super(`${standbyText}. ${standbyAdvice}`, options);
  }
}

/** Lost connection, server going down or coming up, a writer that is none any more, a session that the server has ended. */
const awayCodes = /^(08[0-9A-Z]{3}|57P0[1-35]|25P0[34]|25006|ECONN[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_[A-Z]+|E(HOST|NET)(UNREACH|DOWN))$/;
/** Faults of which the client has only words. */
const awayWords = /^(Connection terminated|Client (has encountered|was closed)|Query read timeout|timeout e)/;

/** Whether the connection is dead, or leads to a wrong server. What the last statement did is unknown: after COMMIT, it may stand. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StandbyError) return true;
  return awayCodes.test(String((error as { code?: unknown }).code)) || awayWords.test(error.message);
}

export async function requireWriter(ask: (text: string) => Promise<{ rows: unknown[] }>): Promise<void> {
  const { rows } = await ask('select pg_is_in_recovery() as standby');
  if ((rows[0] as { standby?: boolean } | undefined)?.standby === true) throw new StandbyError();
}

/** For so long a connection is taken to lead to the writer after it was asked; behind a pooler its server may change. */
const sureMs = 5_000;
const mostWaitMs = 10_000;
const full = 'timeout exceeded when trying to connect';

export interface WriterPoolOptions {
  pg: typeof import('pg');
  /** Addresses of servers, of which one may write. */
  urls: readonly string[];
  /** Real milliseconds after which a connection is replaced, a fifth more or less, so that not all go at once. */
  connectionAgeMs: number;
  onConnect: (client: ClientBase) => void;
}

/**
 * Connections to the server that may write. One that is dead, or leads to a standby, is thrown away when it is given back, and idle ones
 * are asked before they are used.
 */
export class WriterPool implements PostgresPool {
  readonly #options: WriterPoolOptions;
  readonly #pool: Pool;
  readonly #lent = new WeakMap<ClientBase, LentClient>();
  #turn = 0;
  /** Real time at which a connection was last found dead or astray: what is known of the others from before counts no more. */
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
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    this.#pool.on('error', () => {});
  }

  /** Tries each address once, from the one that was good last. Throws StandbyError, and what the client says of a server out of reach. */
  async connect(): Promise<PostgresPoolClient> {
    for (let tries = 1; ; tries += 1) {
      const at = this.#turn;
      try {
        return (await this.#lend()) as unknown as PostgresPoolClient;
      } catch (error) {
        if (tries >= this.#options.urls.length || (error as Error).message === full) throw error;
        // Others may have found out as well.
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
        // The next one is another, and a new one says for itself what is wrong.
        lent.discard();
      }
    }
  }

  async #welcome(client: PoolClient): Promise<void> {
    // One that breaks while it is used: the next statement fails and says so.
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
  /** Real time at which its server last said that it may write. */
  askedAt = -Infinity;
  #isAway = false;

  constructor(client: PoolClient, endsAt: number, doubt: () => void) {
    this.#client = client;
    this.#endsAt = endsAt;
    this.#doubt = doubt;
  }

  /** Throws StandbyError, and what the client says of a dead connection. */
  async ask(): Promise<void> {
    const askedAt = performance.now();
    await requireWriter((text) => this.#client.query({ text, query_timeout: mostWaitMs } as QueryConfig));
    this.askedAt = askedAt;
  }

  async query(text: string, values: unknown[]): Promise<QueryResult> {
    try {
      return await this.#client.query(text, values);
    } catch (error) {
      // A standby refuses BEGIN … READ WRITE as a feature that is not supported. What cannot be rolled back still holds its locks.
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

  /** At once: the end of a connection on which nothing comes would be waited for. */
  discard(): void {
    this.#doubt();
    (this.#client as PoolClient & { connection: { stream: Socket } }).connection.stream.destroy();
    this.#client.release(true);
  }
}

/** What befalls a process, where, and when. */
import { minuteMs } from '../support/campaign-rules.ts';
import { CompiledQuery, type DatabaseConnection } from 'kysely';
import { heldConnection } from '../../src/ledger/sqlite-dialect.ts';
import type { Tx } from '../../src/ledger/tx.ts';

/** What can befall a process at an effect: a transaction, a write, or a request to the service. */
export const strikes = [
  /** The process is gone; a transaction had done all but its commit. */
  'dies before',
  /** The effect stands; the process dies before it hears. */
  'dies after',
  /** No effect, and the process is told so. */
  'fails',
  /** The effect stands; the process is told that it failed. */
  'unheard',
] as const;

/** What the database says at a statement; the transaction is undone. */
export const refusals = ['locked', 'disk full'] as const;
export type Refusal = (typeof refusals)[number];

export type Strike = (typeof strikes)[number] | Refusal;

export function isRefusal(strike: Strike | null): strike is Refusal {
  return refusals.some((each) => each === strike);
}

/** A strike; for a refusal, the statement: 0 begins the transaction; beyond the last: the commit. */
export interface Blow {
  strike: Strike;
  statement?: number;
}

export const clockSteps = {
  'clock 5 min ahead': 5 * minuteMs,
  'clock 5 min behind': -5 * minuteMs,
  'clock 1 h ahead': 60 * minuteMs,
  'clock 1 h behind': -60 * minuteMs,
} as const;
export type ClockStep = keyof typeof clockSteps;

export const steps = Object.values(clockSteps) as [number, ...number[]];

export const wrongForMs = 15 * minuteMs;

export function nameStep(byMs: number): ClockStep | undefined {
  return (Object.keys(clockSteps) as ClockStep[]).find((name) => clockSteps[name] === byMs);
}

/** Thrown into the driver; the process's own code never goes on. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied' as const;
}

export interface Mortality {
  /** Kills the process; the answer never comes. */
  die(): Promise<never>;
  died: Promise<never>;
}

export function createMortality(): Mortality {
  let kill: (error: ProcessDied) => void = () => {};
  const died = new Promise<never>((_, reject) => {
    kill = reject;
  });
  died.catch(() => {});
  return {
    died,
    die: () => {
      kill(new ProcessDied('the process is gone'));
      return new Promise<never>(() => {});
    },
  };
}

export function brokenConnection(): Error {
  return Object.assign(new Error('the connection to the database broke'), { code: 'ECONNRESET' });
}

const codes: Readonly<Record<'sqlite' | 'postgres', Readonly<Record<Refusal, string>>>> = {
  sqlite: { locked: 'SQLITE_BUSY', 'disk full': 'SQLITE_FULL' },
  postgres: { locked: '55P03', 'disk full': '53100' },
};

/** As SQLite's driver says it. */
function refusedBySqlite(refusal: Refusal): Error {
  const said = refusal === 'locked' ? 'database is locked' : 'database or disk is full';
  return Object.assign(new Error(said), { code: codes.sqlite[refusal] });
}

/** Has PostgreSQL itself say it. */
function raise(refusal: Refusal): CompiledQuery {
  return CompiledQuery.raw(`do $$ begin raise exception 'refused' using errcode = '${codes.postgres[refusal]}'; end $$`);
}

/** Refuses the nth statement of this transaction, from 1, or the commit where there are fewer. */
export async function refuseStatement(tx: Tx, refusal: Refusal, nth: number): Promise<void> {
  let count = 0;
  const isRefused = (text: string): boolean => {
    if (text === 'rollback') return false;
    count += 1;
    return count === nth || text === 'commit';
  };
  const held = heldConnection(tx);
  if (held !== undefined) {
    const prepare = held.prepare.bind(held);
    const restore = replace(held, 'prepare', (text) => {
      const refused = isRefused(text);
      if (refused || text === 'rollback') restore();
      if (!refused) return prepare(text);
      // A full disk ends the transaction.
      if (refusal === 'disk full') prepare('rollback').run([]);
      throw refusedBySqlite(refusal);
    });
    return;
  }
  await tx.getExecutor().provideConnection(async (connection: DatabaseConnection) => {
    const executeQuery = connection.executeQuery.bind(connection);
    const restore = replace(connection, 'executeQuery', async (query) => {
      const refused = isRefused(query.sql);
      if (refused || query.sql === 'rollback') restore();
      return (await executeQuery(refused ? raise(refusal) : query)) as never;
    });
  });
}

/** Replaces a method; answers the undo. */
function replace<Owner extends object, Key extends keyof Owner>(owner: Owner, key: Key, value: Owner[Key]): () => void {
  const own = Object.getOwnPropertyDescriptor(owner, key);
  owner[key] = value;
  return () => {
    if (own === undefined) Reflect.deleteProperty(owner, key);
    else Object.defineProperty(owner, key, own);
  };
}

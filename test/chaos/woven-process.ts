import { TableNode, type KyselyPlugin, type RootOperationNode } from 'kysely';
import type { NotedPost, RequestNotes } from '../../activities/request-notes.ts';
import type { ServiceApi } from '../../src/rules/service-api.ts';
import type { Transport } from '../../src/service/http/transport.ts';
import { NotSentError, OutcomeUnknownError } from '../../src/service/port/errors.ts';
import type { Tx, Store } from '../../src/ledger/tx.ts';
import { type Effect, type EffectLog, type Looked } from './effect-log.ts';
import { nameRequest, requestsOf } from './requests.ts';
import { type Blow, brokenConnection, createMortality, isRefusal, ProcessDied, type Strike, refuseStatement } from '../world/faults.ts';

/** Called before each effect; returns what strikes the process there. */
export type Disturb = (at: { step: number; operation: string; nth: number }) => Promise<Blow | null>;

export type BeforeCommit = (at: { step: number; operation: string; nth: number }) => Promise<(() => Promise<void>) | undefined>;

class RolledBack extends Error {}

/** One process: its effects run one at a time, until it is gone. */
export class WovenProcess {
  readonly who: string;
  readonly #log: EffectLog;
  readonly #disturb: Disturb;
  readonly #beforeCommit: BeforeCommit | undefined;
  readonly #api: ServiceApi;
  readonly #mortality = createMortality();
  #turn: Promise<unknown> = Promise.resolve();
  #dead = false;
  #step = 0;
  #operation = '';
  #nth = 0;

  constructor(
    who: string,
    { api, log, disturb, beforeCommit }: { api: ServiceApi; log: EffectLog; disturb: Disturb; beforeCommit?: BeforeCommit },
  ) {
    this.who = who;
    this.#api = api;
    this.#log = log;
    this.#disturb = disturb;
    this.#beforeCommit = beforeCommit;
  }

  /** Throws `ProcessDied` when the process does not survive it. */
  async run<Result>(step: number, operation: string, work: () => Promise<Result>): Promise<Result> {
    [this.#step, this.#operation, this.#nth] = [step, operation, 0];
    return Promise.race([work(), this.#mortality.died]);
  }

  #die(): Promise<never> {
    this.#dead = true;
    return this.#mortality.die();
  }

  #inTurn<Result>(effect: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(() => (this.#dead ? this.#mortality.die() : effect()));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  #note(effect: Pick<Effect, 'nth' | 'what' | 'strike'> & Partial<Pick<Effect, 'transitions' | 'posting'>>): void {
    const { who } = this;
    this.#log.effects.push({
      transitions: [],
      posting: null,
      ...effect,
      who,
      step: this.#step,
      operation: this.#operation,
      at: this.#log.now(),
    });
  }

  async #askForBlow(nth: number): Promise<Blow | null> {
    return this.#disturb({ step: this.#step, operation: this.#operation, nth });
  }

  /** The strike at an effect that no database can refuse. */
  async #ask(nth: number): Promise<Strike | null> {
    const { strike = null } = (await this.#askForBlow(nth)) ?? {};
    return isRefusal(strike) ? null : strike;
  }

  store(store: Store): Store {
    const db = store.db.withPlugin(this.#writes());
    return { ...store, db, transaction: (work) => this.#inTurn(() => this.#transaction(store, work)) };
  }

  async #transaction<Result>(store: Store, work: (tx: Tx) => Promise<Result>): Promise<Result> {
    const nth = this.#nth++;
    const blow = await this.#askForBlow(nth);
    const { strike = null, statement = 0 } = blow ?? {};
    const undone = strike === 'dies before' || strike === 'fails' || isRefusal(strike);
    let looked: Looked | undefined;
    let overtaken: (() => Promise<void>) | undefined;
    let result: { value: Result } | undefined;
    try {
      await store.transaction(async (tx) => {
        if (isRefusal(strike)) await refuseStatement(tx, strike, statement);
        const value = await work(tx);
        looked = await this.#log.look(tx);
        // The commit is refused where no statement was.
        if (isRefusal(strike)) return;
        if (undone) throw new RolledBack();
        overtaken ??= await this.#beforeCommit?.({ step: this.#step, operation: this.#operation, nth });
        result = { value };
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) {
        await overtaken?.();
        if (isRefusal(strike)) this.#note({ nth, what: 'refused', strike });
        throw error;
      }
    }
    if (!undone) looked?.keep();
    const { what = 'commit', transitions = [], posting = null } = looked ?? {};
    this.#note({ nth, what, transitions, posting: undone ? null : posting, strike });
    await overtaken?.();
    if (strike === 'dies before' || strike === 'dies after') return this.#die();
    if (strike !== null || result === undefined) throw brokenConnection();
    return result.value;
  }

  /** The last noted POST of each submit, by the batch that it began with. */
  witness(noted: Map<string, NotedPost>, batchId: string): RequestNotes {
    let last = noted.get(batchId) ?? null;
    return {
      get last() {
        return last;
      },
      mayGoOn: true,
      note: (post) =>
        this.#inTurn(async () => {
          const nth = this.#nth++;
          const strike = await this.#ask(nth);
          last = post;
          if (strike !== 'dies before' && strike !== 'fails') noted.set(batchId, post);
          this.#note({ nth, what: 'note with Temporal', strike });
          if (strike === 'dies before' || strike === 'dies after') return this.#die();
          if (strike !== null) throw brokenConnection();
        }),
      answered: () => {},
      beat: () => {},
      close: () => {},
    };
  }

  /** Requests about calls; the service's self-descriptions are no effect. */
  transport(transport: Transport): Transport {
    const send = <Result>(what: string | null, method: string, work: () => Promise<Result>): Promise<Result> =>
      what === null ? work() : this.#inTurn(() => this.#request(what, method, work));
    return {
      ...transport,
      read: (path, query) => send(nameRequest('GET', path), 'GET', () => transport.read(path, query)),
      write: (request) => send(nameRequest(request.method, request.path, request.body), request.method, () => transport.write(request)),
    };
  }

  async #request<Result>(what: string, method: string, send: () => Promise<Result>): Promise<Result> {
    const facts = { method, path: '/', requestId: null };
    const nth = this.#nth++;
    const transitions = requestsOf(this.#api, what);
    const strike = await this.#ask(nth);
    const sent =
      strike === 'fails' || strike === 'dies before'
        ? null
        : await send().then(
            (value) => ({ value }),
            (error: unknown) => ({ error }),
          );
    this.#note({ nth, what: sent !== null && 'error' in sent ? `${what}: ${nameOf(sent.error)}` : what, strike, transitions });
    if (strike === 'dies before' || strike === 'dies after') return this.#die();
    if (sent === null) throw new NotSentError(facts, 'no_connection', 'no connection.');
    if (strike === 'unheard') throw new OutcomeUnknownError(facts, { status: null, phase: 'awaiting_response' }, 'the connection broke.');
    if ('error' in sent) throw sent.error;
    return sent.value;
  }

  /** A write outside a transaction keeps its connection until its result is returned; it fails once the process is gone. */
  #writes(): KyselyPlugin {
    const tables = new WeakMap<object, string>();
    return {
      transformQuery: ({ node, queryId }) => {
        const table = writtenTable(node);
        if (table !== null && this.#dead) throw new ProcessDied('the process is gone');
        if (table !== null) tables.set(queryId, table);
        return node;
      },
      transformResult: async ({ result, queryId }) => {
        const table = tables.get(queryId);
        if (table === undefined) return result;
        const nth = this.#nth++;
        const strike = await this.#ask(nth);
        const heard = strike === 'dies before' ? 'dies after' : strike === 'fails' ? 'unheard' : strike;
        this.#note({ nth, what: `write ${table}`, strike: heard });
        if (heard === null) return result;
        if (heard === 'unheard') throw brokenConnection();
        void this.#die();
        throw new ProcessDied('the process is gone');
      },
    };
  }
}

function writtenTable(node: RootOperationNode): string | null {
  if (node.kind === 'InsertQueryNode') return node.into?.table.identifier.name ?? null;
  if (node.kind === 'UpdateQueryNode')
    return node.table !== undefined && TableNode.is(node.table) ? node.table.table.identifier.name : 'a table';
  return null;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'failed';
}

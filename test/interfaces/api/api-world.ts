import { onTestFinished } from 'vitest';
import { pino } from 'pino';
import type { Api, ApiContext } from '../../../src/interfaces/api/core/app.ts';
import { usualLimits, type ServerLimits } from '../../../src/interfaces/api/core/http-server.ts';
import { buildApi } from '../../../src/interfaces/api/server.ts';
import { installConsole } from '../../../src/interfaces/console/install-console.ts';
import type { Logger } from '../../../src/shared/logger.ts';
import { createControl } from '../../../src/operations/control/control.ts';
import { readConfig } from '../../../src/shared/config.ts';
import { realClock } from '../../../src/service/port/service-clock.ts';
import { beginSession, createToken, type TokenRole } from '../../../src/ledger/console/tokens.ts';
import { readMarks } from '../../../src/ledger/events.ts';
import { openCleanStore } from '../../ledger/clean-store.ts';
import { noon } from '../../ledger/scenario.ts';
import type { Store } from '../../../src/ledger/tx.ts';

export type Connect = Parameters<typeof createControl>[0]['connect'];

interface WorldOptions {
  limits?: Partial<ServerLimits>;
  isOwn?: boolean;
  logger?: Logger;
  settings?: NodeJS.ProcessEnv;
  connect?: Connect;
}

export async function actsIn({ db }: Pick<Store, 'db'>, campaignId = 'spring'): Promise<string[]> {
  return (await readMarks(db, campaignId)).flatMap((mark) => (mark.type === 'operator.acted' ? [mark.data.action] : []));
}

/** The API over a store with campaigns made by hand; time stops at noon unless `at` is moved. */
export class ApiWorld {
  readonly app: Api;
  readonly context: ApiContext;
  readonly store: Store;
  at = noon;
  fault: Error | null = null;
  readonly #texts = new Map<TokenRole, string>();
  readonly #ids = new Map<TokenRole, string>();
  #keys = 0;

  private constructor(app: Api, context: ApiContext) {
    this.app = app;
    this.context = context;
    this.store = context.store;
  }

  static async over(store: Store, options: WorldOptions = {}): Promise<ApiWorld> {
    const { limits = {}, isOwn = false, logger = pino({ level: 'silent' }), settings = {} } = options;
    const { connect = () => Promise.reject(new Error('this test has no Temporal')) } = options;
    // The context is made before the world whose time it reads.
    const held: { world?: ApiWorld } = {};
    const nowReal = () => held.world?.at ?? noon;
    const control = createControl({
      config: readConfig({ CARILLON_LOG_LEVEL: 'silent', SVC_BASE_URL: 'http://127.0.0.1:9', ...settings }),
      store,
      now: nowReal,
      connect,
    });
    const clock = async () => {
      if (held.world?.fault != null) throw held.world.fault;
      return realClock(nowReal);
    };
    const context = { ...control, logger, clock, install: installConsole };
    const app = await buildApi(context, { isOwn, limits: { ...usualLimits, ...limits } });
    onTestFinished(async () => {
      await app.close();
      await control.close();
    });
    const world = new ApiWorld(app, context);
    held.world = world;
    for (const role of ['read', 'operate', 'admin'] as const) {
      const made = await createToken(store, { name: `${role} console`, role, lastsMs: null, nowReal: noon });
      world.#texts.set(role, made.text);
      world.#ids.set(role, made.token.tokenId);
    }
    return world;
  }

  static async empty(options?: WorldOptions): Promise<ApiWorld> {
    return ApiWorld.over(await openCleanStore('sqlite'), options);
  }

  tokenText(role: TokenRole): string {
    return this.#texts.get(role) ?? '';
  }

  async cookie(role: TokenRole): Promise<string> {
    const tokenId = this.#ids.get(role) ?? '';
    return `carillon_session=${await beginSession(this.store, { tokenId, nowReal: this.at })}`;
  }

  /** As `admin` by default, with a new key for each change. A path is below `/api/v1`, or begins with `/api`. */
  async ask(request: AskedOf, { role = 'admin', token, key, body, headers = {} }: AskOptions = {}) {
    const [method, path] = request.split(' ') as ['GET' | 'POST' | 'DELETE', string];
    const text = token === undefined ? this.#texts.get(role) : token;
    this.#keys += 1;
    const answer = await this.app.inject({
      method,
      url: path.startsWith('/api/') ? path : `/api/v1${path}`,
      headers: {
        ...headers,
        ...(text == null ? {} : { authorization: `Bearer ${text}` }),
        ...(method === 'GET' || key === '' ? {} : { 'idempotency-key': key ?? `key-${this.#keys}` }),
      },
      ...(body === undefined ? {} : { payload: body }),
    });
    const isJson = /json/.test(String(answer.headers['content-type']));
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? answer.json() : answer.body };
  }

  async body(...asked: Parameters<ApiWorld['ask']>) {
    return (await this.ask(...asked)).body;
  }
}

type AskedOf = `${'GET' | 'POST' | 'DELETE'} ${string}`;

interface AskOptions {
  role?: TokenRole;
  token?: string | null;
  key?: string;
  body?: object;
  headers?: Record<string, string>;
}

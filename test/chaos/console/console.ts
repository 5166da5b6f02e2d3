import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac } from 'node:crypto';
import { pino } from 'pino';
import { fetch } from 'undici';
import type { Api, ApiContext } from '../../../src/interfaces/api/core/app.ts';
import { buildApi } from '../../../src/interfaces/api/server.ts';
import { installConsole } from '../../../src/interfaces/console/install-console.ts';
import { keyHeaders, type ServiceApi } from '../../../src/rules/service-api.ts';
import type { RunningSandbox } from '../../../src/sandbox/start.ts';
import { readConfig, type Config } from '../../../src/shared/config.ts';
import { backgroundInPlace } from '../../../src/operations/control/aside/works.ts';
import { ReadCache } from '../../../src/operations/control/read-cache.ts';
import type { TemporalAccess } from '../../../src/operations/control/control.ts';
import { realClock } from '../../../src/service/port/service-clock.ts';
import { createToken, noteUse } from '../../../src/ledger/console/tokens.ts';
import type { Store } from '../../../src/ledger/tx.ts';

const secretOfService = 'secret_of_the_service';

type ToldEvent = { headers: Record<string, string>; body: string };

/** Of the last ended call with a record; null: none. */
export async function newestEvent(sandbox: RunningSandbox, api: ServiceApi): Promise<ToldEvent | null> {
  const ended = sandbox.calls().filter((call) => call.batchId !== null && call.endedAt !== null && call.visible);
  const [last] = ended.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  if (last === undefined) return null;
  const { agentId, conversationId, result } = last;
  const request = { headers: { [keyHeaders[api]]: 'sk_sandbox_ok' } };
  const record = (await (await fetch(`${sandbox.url}/v1/convai/conversations/${conversationId}`, request)).json()) as object;
  const isReached = result === 'answered' || result === 'voicemail';
  const data = isReached ? record : { agent_id: agentId, conversation_id: conversationId, failure_reason: 'busy', metadata: {} };
  const seconds = Math.floor(sandbox.clock.now() / 1000);
  const type = isReached ? 'post_call_transcription' : 'call_initiation_failure';
  const body = JSON.stringify({ type, event_timestamp: seconds, data });
  const digest = createHmac('sha256', secretOfService).update(`${seconds}.${body}`).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'elevenlabs-signature': `t=${seconds},v0=${digest}` } };
}

/** The store of a process that may die, and its workflow. */
export interface Served {
  store: Store;
  now: () => number;
  serviceUrl: string;
  temporal: TemporalAccess;
}

export interface ConsoleRequest {
  path: string;
  body?: object;
  list?: string;
}

export interface ConsoleAnswer {
  status: number;
  /** Of a refusal. */
  code: string | null;
  isReplayed: boolean;
  // eslint-disable-next-line typescript/no-explicit-any -- bodies are read as a client would, without our types.
  body: any;
}

export type ConsoleRole = 'read' | 'operate';

/** The API of `carillon serve` over the store of the process that gets the request. */
export class Console {
  readonly #app: Api;
  readonly #served: AsyncLocalStorage<Served>;
  readonly #tokens: Readonly<Record<ConsoleRole, string>>;

  private constructor(app: Api, served: AsyncLocalStorage<Served>, tokens: Record<ConsoleRole, string>) {
    [this.#app, this.#served, this.#tokens] = [app, served, tokens];
  }

  static async open(store: Store, { api, nowReal }: { api: ServiceApi; nowReal: number }): Promise<Console> {
    const served = new AsyncLocalStorage<Served>();
    const current = (): Served => {
      const found = served.getStore();
      if (found === undefined) throw new Error('a request was served by no process');
      return found;
    };
    const configs = new Map<string, Config>();
    const configOf = (serviceUrl: string): Config => {
      const settings = {
        CARILLON_LOG_LEVEL: 'silent',
        SVC_BASE_URL: serviceUrl,
        SVC_API_KEY: 'sk_sandbox_ok',
        SVC_API: api,
        SVC_WEBHOOK_SECRET: secretOfService,
      };
      const config = configs.get(serviceUrl) ?? readConfig(settings);
      configs.set(serviceUrl, config);
      return config;
    };
    const servedStore = new Proxy(store, { get: (_, key) => Reflect.get(served.getStore()?.store ?? store, key) as unknown });
    const context: ApiContext = {
      store: servedStore,
      aside: backgroundInPlace(servedStore),
      get config() {
        // Routes are chosen before the first request, independent of the service.
        return configOf(served.getStore()?.serviceUrl ?? 'http://127.0.0.1:9');
      },
      // It also runs unrequested cleanup.
      now: () => served.getStore()?.now() ?? nowReal,
      temporal: async () => current().temporal,
      cache: new ReadCache(),
      logger: pino({ level: 'silent' }),
      clock: async () => realClock(current().now),
      install: installConsole,
    };
    const token = async (role: ConsoleRole): Promise<string> => {
      const { token: made, text } = await createToken(store, { name: `${role} console`, role, lastsMs: null, nowReal });
      // Token use is noted at times of its own, beside the counted effects.
      await noteUse(store, made, Number.MAX_SAFE_INTEGER);
      return text;
    };
    const app = await buildApi(context);
    await app.ready();
    return new Console(app, served, { read: await token('read'), operate: await token('operate') });
  }

  /** Never returns where the process dies. With a key it is a change. */
  async ask(
    served: Served,
    { role, key, request }: { role: ConsoleRole; key: string | null; request: ConsoleRequest },
  ): Promise<ConsoleAnswer> {
    const { path, body, list } = request;
    const form = new FormData();
    if (list !== undefined) form.append('list', new Blob([list]), 'list.csv');
    const payload = list === undefined ? body : form;
    const answer = await this.#served.run(served, async () =>
      this.#app.inject({
        method: key === null ? 'GET' : 'POST',
        url: `/api/v1/${path}`,
        headers: {
          authorization: `Bearer ${this.#tokens[role]}`,
          ...(key === null ? {} : { 'idempotency-key': key }),
        },
        ...(payload === undefined ? {} : { payload }),
      }),
    );
    const told = answer.json<{ code?: string }>();
    return {
      status: answer.statusCode,
      code: answer.statusCode < 300 ? null : (told.code ?? null),
      isReplayed: answer.headers['idempotent-replayed'] === 'true',
      body: told,
    };
  }

  async tell(served: Served, { headers, body }: ToldEvent): Promise<number> {
    const request = { method: 'POST', url: '/v1/service-webhooks', headers, payload: body } as const;
    return (await this.#served.run(served, async () => this.#app.inject(request))).statusCode;
  }

  async close(): Promise<void> {
    await this.#app.close();
  }
}

import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/until.ts';
import { runCommand, spawnWorker, type WorkerProcess } from '../support/worker-process.ts';

/** Two operators, and one read-only. */
export const clerks = ['front desk', 'back office', 'onlooker'] as const;
export type Clerk = (typeof clerks)[number];

export interface Said {
  status: number;
  code: string | null;
  isReplayed: boolean;
  text: string;
  /** When it came, in real time. */
  at: number;
}

/** A requested change; its repeats have the same `key`. */
export interface Change {
  who: Clerk;
  path: string;
  key: string;
  body?: object;
}

const againMs = 250;
const patienceMs = 90_000;
/** A request whose process died is under way for ten minutes: the test does not wait for that. */
const underWayMs = 12_000;

/** `carillon serve` in a process of its own, and operators with tokens. */
export class Office {
  readonly everyProcess: WorkerProcess[] = [];
  readonly #settings: Record<string, string>;
  readonly #tokens: Readonly<Record<string, string>>;
  #url = '';

  private constructor(settings: Record<string, string>, tokens: Readonly<Record<string, string>>) {
    [this.#settings, this.#tokens] = [settings, tokens];
  }

  /** `settings`: as those of a worker. */
  static async open(settings: Record<string, string>): Promise<Office> {
    const makeToken = async (who: Clerk): Promise<[Clerk, string]> => {
      const role = who === 'onlooker' ? 'read' : 'operate';
      const made = await runCommand(['token', 'create', who, '--role', role, '--json'], settings);
      return [who, (JSON.parse(made.stdout) as { token: string }).token];
    };
    const office = new Office(settings, Object.fromEntries(await Promise.all(clerks.map(makeToken))));
    await office.#start();
    return office;
  }

  get secrets(): string[] {
    return Object.values(this.#tokens);
  }

  async #start(): Promise<void> {
    const settings = { ...this.#settings, CARILLON_LOG_LEVEL: 'debug' };
    const started = spawnWorker(settings, ['serve', '--port', '0']);
    this.everyProcess.push(started);
    const { url } = await until('the API listens', () => {
      if (started.hasEnded()) throw new Error(`carillon serve ended: ${started.output()}`);
      const [, found] = /the API at (\S+)\/api\/v1 /.exec(started.output()) ?? [];
      return found !== undefined && { url: found };
    });
    this.#url = url;
  }

  /** SIGKILL, then restart. */
  async crash(): Promise<void> {
    await this.everyProcess.at(-1)?.kill();
    await this.#start();
  }

  async close(): Promise<void> {
    await Promise.all(this.everyProcess.map((each) => each.kill()));
  }

  /** Sends it once; null: no answer, or the client cut the connection first. */
  async send({ who, path, key, body }: Change, cutAfterMs?: number): Promise<Said | null> {
    const asked = this.#fetch(who, path, {
      method: 'POST',
      headers: { 'idempotency-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(cutAfterMs === undefined ? {} : { signal: AbortSignal.timeout(cutAfterMs) }),
    });
    return asked.catch(() => null);
  }

  /** Sends it until it is answered, under the same key; null: unknown outcome. */
  async change(change: Change): Promise<Said | null> {
    const deadline = Date.now() + patienceMs;
    let underWaySince = Infinity;
    for (; Date.now() < deadline && Date.now() < underWaySince + underWayMs; await pause(againMs)) {
      const said = await this.send(change);
      if (said !== null && said.status < 500 && said.code !== 'under_way') return said;
      underWaySince = said?.code === 'under_way' ? Math.min(underWaySince, said.at) : Infinity;
    }
    return null;
  }

  async read<Body>(who: Clerk, path: string): Promise<Body> {
    const asked = async (): Promise<{ body: Body } | undefined> => {
      const said = await this.#fetch(who, path, {}).catch(() => null);
      return said?.status === 200 ? { body: JSON.parse(said.text) as Body } : undefined;
    };
    return (await until(`the API answers for ${path}`, asked, { everyMs: againMs, limitMs: patienceMs })).body;
  }

  async #fetch(who: Clerk, path: string, request: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> }): Promise<Said> {
    const headers = { ...request.headers, authorization: `Bearer ${this.#tokens[who]}` };
    const answer = await fetch(`${this.#url}/api/v1/${path}`, { ...request, headers });
    const text = await answer.text();
    const code = answer.ok ? null : ((JSON.parse(text) as { code?: string }).code ?? null);
    const isReplayed = answer.headers.get('idempotent-replayed') === 'true';
    return { status: answer.status, code, isReplayed, text, at: Date.now() };
  }
}

import type { TokenRole } from '../../../src/ledger/console/tokens.ts';
import { ApiWorld, type Connect } from '../api/api-world.ts';
import type { Store } from '../../../src/ledger/tx.ts';

// Loaded when it is first asked for; a page waits for moments only.
await import('../../../src/operations/control/aside/forecast.ts');

/** What the page answered. */
export interface ConsoleAnswer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
}

/** The page over a store whose campaigns a test has made by hand, as it is asked for by a browser that is signed in. */
export class ConsoleWorld {
  readonly api: ApiWorld;

  private constructor(api: ApiWorld) {
    this.api = api;
  }

  static async over(store: Store, settings: NodeJS.ProcessEnv = {}, connect?: Connect): Promise<ConsoleWorld> {
    return new ConsoleWorld(await ApiWorld.over(store, { settings, ...(connect === undefined ? {} : { connect }) }));
  }

  /** `role`: of the token with which the browser is signed in. */
  get(path: string, role: TokenRole = 'operate', headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.#ask({ method: 'GET', path, role, headers });
  }

  /** Sends a form from a page of this server. */
  post(path: string, fields: Record<string, string>, role: TokenRole = 'operate'): Promise<ConsoleAnswer> {
    return this.#ask({ method: 'POST', path, role, fields });
  }

  /** Opens a form and sends it with what it holds already, changed and completed by `fields`. */
  async submit(path: string, fields: Record<string, string> = {}, role: TokenRole = 'operate'): Promise<ConsoleAnswer> {
    return this.post(path, { ...hiddenFields((await this.get(path, role)).text), ...fields }, role);
  }

  /** Sends a form with files from a page of this server. */
  async send(
    path: string,
    { fields, files }: { fields: Record<string, string>; files: Record<string, string> },
    role: TokenRole = 'operate',
  ): Promise<ConsoleAnswer> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    for (const [name, text] of Object.entries(files)) form.append(name, new Blob([text]), `${name}.csv`);
    const answer = await this.api.app.inject({
      method: 'POST',
      url: path,
      headers: await this.#headers(role),
      payload: form,
    });
    return { status: answer.statusCode, headers: answer.headers, text: answer.body };
  }

  async #headers(role: TokenRole): Promise<Record<string, string>> {
    return { 'sec-fetch-site': 'same-origin', cookie: await this.api.cookie(role) };
  }

  async #ask(asked: {
    method: 'GET' | 'POST';
    path: string;
    role: TokenRole;
    fields?: Record<string, string>;
    headers?: Record<string, string>;
  }) {
    const { method, path, role, fields, headers = {} } = asked;
    const answer = await this.api.app.inject({
      method,
      url: path,
      headers: {
        ...(await this.#headers(role)),
        ...headers,
        ...(fields === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(fields === undefined ? {} : { payload: new URLSearchParams(fields).toString() }),
    });
    return { status: answer.statusCode, headers: answer.headers, text: answer.body };
  }
}

/** The hidden fields of the form of an action, its key among them. */
export function hiddenFields(text: string): Record<string, string> {
  const [form = ''] = /<form class="act"[\s\S]*?<\/form>/.exec(text) ?? [];
  const found = form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

import type { TokenRole } from '../../../src/ledger/console/tokens.ts';
import { until } from '../../support/until.ts';
import { ConsoleWorld, type ConsoleAnswer } from './console-world.ts';
import type { Store } from '../../../src/ledger/tx.ts';

export const goodList = [
  'Customer No,First name,Mobile phone,Day',
  '1,Ana,+12125550131,Monday',
  '2,Ben,+12125550132,Tuesday',
  '3,Chloe,+12125550133,Wednesday',
  '4,David,555,Thursday',
].join('\n');

export const goodWords = {
  agent_id: 'agent_reminders',
  from_phone_number_id: 'pn_main',
  first_message: 'Hello {{ First_name }}, we call about {{ Day }}.',
  'variables.0.name': 'first_name',
  'variables.0.value': '{{ First_name }}',
};
export const goodName = { id: 'autumn', name: 'Autumn' };
export const goodCalls = { hours: 'any', 'pacing.max_concurrent_calls': '5', 'retry.max_attempts': '2', 'retry.no_answer': '4h, next_day' };

export class DraftWorld {
  readonly console: ConsoleWorld;

  constructor(console: ConsoleWorld) {
    this.console = console;
  }

  static async over(store: Store): Promise<DraftWorld> {
    return new DraftWorld(await ConsoleWorld.over(store));
  }

  static async empty(): Promise<DraftWorld> {
    return new DraftWorld(await ConsoleWorld.empty());
  }

  get store(): Store {
    return this.console.store;
  }

  save(path: string, part: string, fields: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return this.console.post(`${path}/${part}`, fields);
  }

  async yaml(path: string): Promise<string> {
    return this.console.text(`${path}/campaign.yaml`);
  }

  async upload(
    content: string | Uint8Array,
    { path = '/new', name = 'list.csv', fields = {}, role = 'operate' }: Partial<Upload> = {},
  ): Promise<ConsoleAnswer> {
    const form = new FormData();
    form.append('list', new Blob([content]), name);
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    return this.raw(path, form, {}, role);
  }

  async raw(
    path: string,
    payload: FormData | string,
    headers: Record<string, string> = {},
    role: TokenRole = 'operate',
  ): Promise<ConsoleAnswer> {
    return this.console.ask({ method: 'POST', url: path, headers, payload }, role);
  }

  /** Returns the draft's path: `/new/<draft>`. */
  async begin(content: string | Uint8Array = goodList, upload: Partial<Upload> = {}): Promise<string> {
    const { status, headers, text } = await this.upload(content, upload);
    if (status !== 303) throw new Error(`the list was refused: ${text}`);
    return String(headers['location']);
  }

  async page(path: string, role: TokenRole = 'operate'): Promise<string> {
    return until('the list of the draft is read', async () => {
      const { text } = await this.console.get(path, role);
      return text.includes('being read') ? undefined : text;
    });
  }

  async prepare(
    { words = goodWords, calls = goodCalls, name = goodName }: Partial<Record<'words' | 'calls' | 'name', Record<string, string>>> = {},
    content: string | Uint8Array = goodList,
  ): Promise<string> {
    const path = await this.begin(content);
    const parts = { columns: { 'column.0': 'list.id', 'column.2': 'list.phone' }, words, calls, name };
    for (const [part, fields] of Object.entries(parts)) {
      const { status, text } = await this.save(path, part, fields);
      if (status !== 303) throw new Error(`${part} was refused: ${text}`);
    }
    return path;
  }
}

interface Upload {
  path: string;
  name: string;
  fields: Record<string, string>;
  role: TokenRole;
}

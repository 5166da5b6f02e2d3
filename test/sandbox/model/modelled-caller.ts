import { expect } from 'vitest';
import { routes, type OperationName } from '../../../src/sandbox/core/operations.ts';
import type { Dialect } from '../../../src/sandbox/core/dialects.ts';
import type { Json, TestSandbox } from '../harness.ts';
import { describedAnswers } from './described-answers.ts';
import { emptyModel, patched, settled, shown, type Config, type ServiceModel } from './service-model.ts';

const signedUrlMs = 15 * 60_000;
const tokenMs = 10 * 60_000;

/** What happens between two pages of a list. */
export type Disturbance = 'add' | 'delete oldest' | 'delete newest' | 'delete last seen';

/** Holds each answer, and its effect, against the model. An unknown id stands for any other. */
export class ModelledCaller {
  readonly sandbox: TestSandbox;
  readonly dialect: Dialect;
  model: ServiceModel;
  readonly asked = new Set<OperationName>();

  constructor(sandbox: TestSandbox, dialect: Dialect) {
    this.sandbox = sandbox;
    this.dialect = dialect;
    this.model = emptyModel(sandbox.clock.now());
  }

  /** Only an agent and a number of one's own. */
  async startOver(): Promise<void> {
    this.sandbox.reset();
    this.model = emptyModel(this.sandbox.clock.now());
    await this.createAgent('First', ['one'], { tts: { voice_id: 'voice_calm' } });
    await this.importNumber('+13125550199', 'First');
  }

  advance(ms: number): void {
    this.sandbox.clock.advance(ms);
    this.model.now += ms;
  }

  async createAgent(name: string, tags: string[] | undefined, config: Config | undefined): Promise<void> {
    const wanted = settled(config ?? {});
    const body = await this.#ask('create_agent', '', { name, tags, conversation_config: config }, wanted === null ? 422 : 200);
    if (wanted === null) return;
    const id: string = body.agent_id;
    expect([...this.model.agents.keys(), ...this.model.deletedAgents]).not.toContain(id);
    this.model.agents.set(id, { name, tags: tags ?? [], config: wanted, createdAt: this.model.now });
  }

  async refusedAgent(body: unknown): Promise<void> {
    await this.#ask('create_agent', '', body, 422);
  }

  async getAgent(id: string): Promise<void> {
    const agent = this.model.agents.get(id);
    const body = await this.#ask('get_agent', id, undefined, agent === undefined ? 404 : 200);
    if (agent !== undefined) this.#expectAgent(body, id);
  }

  async patchAgent(id: string, patch: Config): Promise<void> {
    const agent = this.model.agents.get(id);
    const config = agent === undefined ? null : settled(patched(agent.config, patch));
    const status = agent === undefined ? 404 : config === null ? 422 : 200;
    const body = await this.#ask('update_agent', id, { conversation_config: patch }, status);
    if (agent === undefined || config === null) return;
    agent.config = config;
    this.#expectAgent(body, id);
  }

  async deleteAgent(id: string): Promise<void> {
    const known = this.model.agents.delete(id);
    await this.#ask('delete_agent', id, undefined, known ? this.#deleted : 404);
    if (!known) return;
    this.model.deletedAgents.push(id);
    for (const number of this.model.numbers.values()) if (number.agentId === id) number.agentId = null;
  }

  /** Newest first, each once, but for those that came or went meanwhile. */
  async listAgents(pageSize: number, disturbances: readonly Disturbance[] = []): Promise<void> {
    const before = [...this.model.agents.keys()];
    const seen = await this.#walk('list_agents', 'agents', 'agent_id', { pageSize, query: '' }, async (page, last) => {
      const ids = [...this.model.agents.keys()];
      const disturbance = disturbances[page];
      if (disturbance === undefined) return;
      if (disturbance === 'add') await this.createAgent(`Late ${page}`, undefined, undefined);
      else await this.deleteAgent(chosen(disturbance, ids, last));
    });
    this.#expectWalk(
      seen.map((agent) => agent.agent_id),
      before,
      this.model.agents,
    );
    for (const agent of seen) {
      const known = this.model.agents.get(agent.agent_id);
      if (known !== undefined) expect(agent).toMatchObject({ name: known.name, tags: known.tags });
    }
  }

  async getConversation(id: string): Promise<void> {
    const agentId = this.model.conversations.get(id);
    const body = await this.#ask('get_conversation', id, undefined, agentId === undefined ? 404 : 200);
    if (agentId === undefined) return;
    expect([body.conversation_id, body.metadata.agent_id]).toEqual([id, agentId]);
    expect(Date.parse(body.metadata.start_time)).toBeLessThanOrEqual(this.model.now);
  }

  async listConversations(agentId: string | null, pageSize: number, disturbances: readonly Disturbance[] = []): Promise<void> {
    const ofAgent = (): [string, string][] => [...this.model.conversations].filter(([, owner]) => agentId === null || owner === agentId);
    const before = ofAgent().map(([id]) => id);
    const query = agentId === null ? '' : `&agent_id=${encodeURIComponent(agentId)}`;
    const seen = await this.#walk('list_conversations', 'conversations', 'conversation_id', { pageSize, query }, async (page, last) => {
      const disturbance = disturbances[page];
      const caller = agentId ?? [...this.model.agents.keys()][0];
      if (disturbance === 'add' && caller !== undefined)
        await this.batch(caller, [...this.model.numbers.keys()][0] ?? 'nowhere', ['+12125550177']);
      else if (disturbance !== undefined && disturbance !== 'add')
        await this.deleteConversation(
          chosen(
            disturbance,
            ofAgent().map(([id]) => id),
            last,
          ),
        );
    });
    this.#expectWalk(
      seen.map((entry) => entry.conversation_id),
      before,
      this.model.conversations,
    );
  }

  async deleteConversation(id: string): Promise<void> {
    const known = this.model.conversations.delete(id);
    await this.#ask('delete_conversation', id, undefined, known ? this.#deleted : 404);
    if (known) this.model.deletedConversations.push(id);
  }

  async credential(kind: 'signed_url' | 'token', agentId: string): Promise<void> {
    const operation = kind === 'token' ? 'get_token' : 'get_signed_url';
    const status = this.model.agents.has(agentId) ? 200 : 404;
    const body = await this.#ask(operation, '', undefined, status, `?agent_id=${encodeURIComponent(agentId)}`);
    if (status === 404) return;
    const secret: string = body.token ?? new URL(body.signed_url).searchParams.get('conversation_signature');
    expect(this.model.credentials.map((each) => each.secret)).not.toContain(secret);
    const lifetime = kind === 'token' ? tokenMs : signedUrlMs;
    // A token names whole seconds.
    const expiresAt = kind === 'token' ? Math.floor((this.model.now + lifetime) / 1000) * 1000 : this.model.now + lifetime;
    this.model.credentials.push({ secret, expiresAt, used: false });
  }

  /** What a conversation started with it finds: good once, and not for long. */
  async redeem(nth: number): Promise<void> {
    const credential = this.model.credentials[nth % this.model.credentials.length];
    if (credential === undefined) return;
    const { body } = await this.sandbox.request('POST', '/_sandbox/credentials/redeem', { credential: credential.secret });
    expect(body.accepted).toBe(!credential.used && this.model.now < credential.expiresAt);
    credential.used = true;
  }

  async listNumbers(): Promise<void> {
    const body = await this.#ask('list_phone_numbers', '', undefined, 200);
    const wanted = [...this.model.numbers].map(([id, { phoneNumber, label, agentId }]) => ({
      phone_number_id: id,
      phone_number: phoneNumber,
      label,
      agent_id: agentId,
    }));
    const got = body.map(({ phone_number_id, phone_number, label, agent_id }: Json) => ({
      phone_number_id,
      phone_number,
      label,
      agent_id,
    }));
    expect(got).toEqual(wanted);
  }

  async importNumber(phoneNumber: string, label: string): Promise<void> {
    const known = [...this.model.numbers.values()].some((number) => number.phoneNumber === phoneNumber);
    const body = await this.#ask(
      'import_phone_number',
      '',
      { label, phone_number: phoneNumber, telephony_account_sid: 'AC1', telephony_auth_token: 'planted-71c' },
      known ? 409 : 200,
    );
    if (!known) this.model.numbers.set(body.phone_number_id, { phoneNumber, label, agentId: null });
  }

  async assign(numberId: string, agentId: string): Promise<void> {
    const number = this.model.numbers.get(numberId);
    const status = number !== undefined && this.model.agents.has(agentId) ? 200 : 404;
    const body = await this.#ask('assign_phone_number', numberId, { agent_id: agentId }, status);
    if (status === 404 || number === undefined) return;
    number.agentId = agentId;
    expect([body.phone_number_id, body.agent_id]).toEqual([numberId, agentId]);
  }

  /** Each call makes a record; from a number that is not imported it fails. */
  async batch(agentId: string, from: string, numbers: readonly string[]): Promise<void> {
    const status = this.model.agents.has(agentId) ? 200 : 404;
    const calls = numbers.map((number) => ({ to_phone_number: number }));
    const body = await this.#ask('batch_calls', '', { agent_id: agentId, from_phone_number_id: from, calls }, status);
    if (status === 404) return;
    expect(body.calls_initiated).toBe(numbers.length);
    const newest = await this.#ask('list_conversations', '', undefined, 200, `?page_size=${numbers.length}`);
    const ids: string[] = newest.conversations.map((entry: Json) => entry.conversation_id);
    expect(ids).toHaveLength(numbers.length);
    for (const id of ids.toReversed()) {
      expect([...this.model.conversations.keys(), ...this.model.deletedConversations]).not.toContain(id);
      this.model.conversations.set(id, agentId);
    }
  }

  async refusedBatch(body: Record<string, unknown>): Promise<void> {
    await this.#ask('batch_calls', '', body, 422);
  }

  /** Nothing lost, nothing there that should not be. */
  async readEverything(): Promise<void> {
    await this.listAgents(100);
    for (const id of this.model.agents.keys()) await this.getAgent(id);
    await this.listNumbers();
    await this.listConversations(null, 100);
    for (const id of this.model.conversations.keys()) await this.getConversation(id);
    for (const id of this.model.deletedConversations.slice(0, 3)) await this.getConversation(id);
    for (const id of this.model.deletedAgents.slice(0, 3)) await this.getAgent(id);
  }

  get #deleted(): number {
    return this.dialect === 'spec' ? 204 : 200;
  }

  async #ask(operation: OperationName, id: string, body: unknown, status: number, query = ''): Promise<Json> {
    const { method, path } = routes[operation];
    const answer = await this.sandbox.request(method, path.replace(/:\w+/, encodeURIComponent(id)) + query, body);
    expect({ operation, body: answer.body, status: answer.status }).toMatchObject({ operation, status });
    expect(describedAnswers(this.dialect)(operation, answer.status, answer.body)).toBeNull();
    if (status < 300) this.asked.add(operation);
    return answer.body;
  }

  #expectAgent(body: Json, id: string): void {
    const agent = this.model.agents.get(id);
    expect({
      agent_id: body.agent_id,
      name: body.name,
      tags: body.tags,
      config: shown(body.conversation_config),
      createdAt: Date.parse(body.metadata.created_at),
    }).toEqual({ agent_id: id, name: agent?.name, tags: agent?.tags, config: shown(agent?.config ?? {}), createdAt: agent?.createdAt });
  }

  async #walk(
    operation: 'list_agents' | 'list_conversations',
    field: string,
    key: string,
    { pageSize, query }: { pageSize: number; query: string },
    between: (page: number, last: string) => Promise<void>,
  ): Promise<Json[]> {
    const seen: Json[] = [];
    let cursor = '';
    for (let page = 0; ; page += 1) {
      const body = await this.#ask(operation, '', undefined, 200, `?page_size=${pageSize}${query}${cursor}`);
      expect(body[field].length).toBeLessThanOrEqual(pageSize);
      expect(body.has_more).toBe(body.next_cursor !== null);
      seen.push(...body[field]);
      if (!body.has_more) return seen;
      cursor = `&cursor=${body.next_cursor}`;
      await between(page, seen.at(-1)?.[key] ?? '');
    }
  }

  /** Who stayed is in the list once, in order; who came meanwhile at most once. */
  #expectWalk(seen: string[], before: string[], now: ReadonlyMap<string, unknown>): void {
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = before.filter((id) => now.has(id)).toReversed();
    const known = new Set(before);
    expect(seen.filter((id) => known.has(id) && now.has(id))).toEqual(stayed);
    expect(seen.filter((id) => !known.has(id) && !now.has(id))).toEqual([]);
  }
}

function chosen(disturbance: Disturbance, ids: string[], last: string): string {
  if (disturbance === 'delete last seen') return last;
  return (disturbance === 'delete oldest' ? ids[0] : ids.at(-1)) ?? 'nothing';
}

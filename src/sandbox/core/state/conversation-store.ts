import { isListed, type Call } from './call.ts';

export interface ConversationPage {
  conversations: Call[];
  /** Start of the next page; null at the end. */
  next: number | null;
}

/** By id and in creation order. Positions never move, so a page costs only what it shows. */
export class ConversationStore {
  readonly #byId = new Map<string, Call>();
  readonly #everything: Call[] = [];
  readonly #byAgent = new Map<string, Call[]>();

  /** Also restores a state, record by record in order: deleted ones keep their position. */
  add(call: Call, recordedAt: number): void {
    call.recordedAt = recordedAt;
    this.#byId.set(call.conversationId, call);
    this.#everything.push(call);
    const ofAgent = this.#byAgent.get(call.agentId);
    if (ofAgent === undefined) this.#byAgent.set(call.agentId, [call]);
    else ofAgent.push(call);
  }

  get(conversationId: string): Call | undefined {
    return this.wasDeleted(conversationId) ? undefined : this.#byId.get(conversationId);
  }

  delete(conversationId: string): boolean {
    const call = this.get(conversationId);
    if (call === undefined) return false;
    call.recordDeleted = true;
    return true;
  }

  get everything(): readonly Call[] {
    return this.#everything;
  }

  get inbound(): Call[] {
    return this.#everything.filter(({ direction }) => direction === 'inbound');
  }

  wasDeleted(conversationId: string): boolean {
    return this.#byId.get(conversationId)?.recordDeleted === true;
  }

  get size(): number {
    return this.#everything.filter(({ recordDeleted }) => !recordDeleted).length;
  }

  /** `start` defaults to the beginning. `madeBefore` drops younger records, `matches` others. */
  page(request: {
    agentId: string | null;
    start: number | null;
    size: number;
    order: 'newest_first' | 'oldest_first';
    now: number;
    madeBefore: number;
    matches?: (call: Call) => boolean;
  }): ConversationPage {
    const { agentId, size, order, now, madeBefore, matches } = request;
    const list = agentId === null ? this.#everything : (this.#byAgent.get(agentId) ?? []);
    const step = order === 'newest_first' ? -1 : 1;
    const conversations: Call[] = [];
    for (let index = request.start ?? (step < 0 ? list.length - 1 : 0); ; index += step) {
      const call = list[index];
      if (call === undefined) return { conversations, next: null };
      if (!isListed(call, now) || (call.recordedAt ?? 0) >= madeBefore || matches?.(call) === false) continue;
      if (conversations.length === size) return { conversations, next: index };
      conversations.push(call);
    }
  }
}

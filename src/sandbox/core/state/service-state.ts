import type { Call, ForcedCourse } from './call.ts';
import type { Agent, PhoneNumber } from './agent.ts';
import type { Campaign } from './campaign.ts';
import { ConversationStore } from './conversation-store.ts';
import { CredentialStore } from './credential-store.ts';
import { deriveId } from '../random.ts';
import { conflict } from '../service-error.ts';

export interface Batch {
  readonly batchId: string;
  readonly name: string;
  /** Dial time, epoch ms. */
  readonly scheduledAt: number;
  readonly timezone: string | null;
  readonly callConfig: Record<string, unknown> | null;
  readonly targetConcurrency: number | null;
  /** In request order, each with its latest call. */
  readonly recipients: { readonly id: string; call: Call }[];
  retryCount: number;
  cancelled: boolean;
  cancelledAt?: number | undefined;
  readonly branchId?: string | null | undefined;
  readonly environment?: string | null | undefined;
  deleted: boolean;
}

export class ServiceState {
  readonly agents = new Map<string, Agent>();
  readonly agentOrder: string[] = [];
  readonly numbers = new Map<string, PhoneNumber>();
  readonly numberOrder: string[] = [];
  readonly conversations = new ConversationStore();
  readonly credentials = new CredentialStore();
  readonly calls: Call[] = [];
  /** Batches named or changed through upstream's form; others exist only as calls. */
  readonly batches = new Map<string, Batch>();
  /** By id, oldest first. */
  readonly campaigns = new Map<string, Campaign>();
  readonly nextCourses = new Map<string, ForcedCourse[]>();
  readonly #counters = new Map<string, number>();

  addAgent(agent: Agent): void {
    this.agents.set(agent.agentId, agent);
    this.agentOrder.push(agent.agentId);
  }

  /** Deletes for good and frees the agent's numbers. False when unknown. */
  deleteAgent(agentId: string): boolean {
    if (!this.agents.delete(agentId)) return false;
    for (const number of this.numbers.values()) {
      if (number.agentId === agentId) number.agentId = null;
    }
    return true;
  }

  wasAgentDeleted(agentId: string): boolean {
    return !this.agents.has(agentId) && this.agentOrder.includes(agentId);
  }

  addNumber(number: PhoneNumber): void {
    this.numbers.set(number.phoneNumberId, number);
    this.numberOrder.push(number.phoneNumberId);
  }

  /** Deletes for good. False when unknown. */
  deleteNumber(phoneNumberId: string): boolean {
    return this.numbers.delete(phoneNumberId);
  }

  wasNumberDeleted(phoneNumberId: string): boolean {
    return !this.numbers.has(phoneNumberId) && this.numberOrder.includes(phoneNumberId);
  }

  count(series: string): number {
    const next = (this.#counters.get(series) ?? 0) + 1;
    this.#counters.set(series, next);
    return next;
  }

  get counters(): ReadonlyMap<string, number> {
    return this.#counters;
  }

  setCounter(series: string, value: number): void {
    this.#counters.set(series, value);
  }

  /** Restores numbers in creation order; deleted ones by id only. */
  restoreNumbers(order: readonly string[], numbers: readonly PhoneNumber[]): void {
    for (const number of numbers) this.numbers.set(number.phoneNumberId, { ...number });
    this.numberOrder.push(...order);
  }

  /** Consumes the course ordered for the next call to a number. */
  takeNextCourse(to: string): ForcedCourse | undefined {
    const [next, ...rest] = this.nextCourses.get(to) ?? [];
    if (rest.length > 0) this.nextCourses.set(to, rest);
    else this.nextCourses.delete(to);
    return next;
  }
}

export const defaultProvider = 'telephony';

/** Adds a number under a new id. Throws 409 when the number exists. */
export function addNumber(
  { state, settings }: { state: ServiceState; settings: { seed: string } },
  facts: Omit<PhoneNumber, 'phoneNumberId'>,
): PhoneNumber {
  const known = [...state.numbers.values()].find(({ phoneNumber }) => phoneNumber === facts.phoneNumber);
  if (known !== undefined)
    throw conflict('phone_number_already_imported', `${facts.phoneNumber} is already imported, as ${known.phoneNumberId}.`, 'phone_number');
  const phoneNumberId = deriveId('pn', settings.seed, state.count('numbers'));
  const number: PhoneNumber = { phoneNumberId, ...facts };
  state.addNumber(number);
  return number;
}

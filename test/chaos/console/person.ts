import { campaignQueues } from '../../../src/rules/ids.ts';
import { actOf, wish, type Act, type ActContext, type ActOfService } from '../acts.ts';
import type { Activities } from '../../../activities/index.ts';
import type { TemporalAccess } from '../../../src/operations/control/control.ts';
import { newestEvent, type Console, type ConsoleRequest, type ConsoleRole, type Served } from './console.ts';
import { requestOf, type Wanted } from './requests.ts';

export const sendings = [
  'once',
  /** Again after the answer, as if it had been lost. */
  'twice',
  'at once',
  /** Under a key that is later used for another request. */
  'key reused',
  /** By a read-only token; refused. */
  'read only',
] as const;
export type Sending = (typeof sendings)[number];

export interface Try {
  status: number;
  code: string | null;
  isReplayed: boolean;
  /** Index in the effect log. */
  from: number;
  to: number;
  who: string;
  /** Overlaps another sending, so effects may be of either. */
  together: boolean;
}

export interface Asked extends Wanted {
  act: Act | 'resume' | 'stale resume';
  sending: Sending;
  key: string;
  tries: Try[];
  from: number;
  /** How often it was sent; more than the tries where a process died. */
  begun: number;
  /** Status of the first conclusive answer; null: unknown. */
  answer: number | null;
  retryAt: number;
}

const againMs = 8_000;

/** Resends unanswered requests under the same key. */
export class Person {
  readonly asked: Asked[] = [];
  readonly seen: string[] = [];
  readonly #console: () => Promise<Console>;
  readonly #serviceUrl: string;

  constructor(console: () => Promise<Console>, serviceUrl: string) {
    [this.#console, this.#serviceUrl] = [console, serviceUrl];
  }

  /** By the program itself where the API has no such request. */
  async act(worker: Acting, { act, sending }: { act: Exclude<Act, ActOfService>; sending: Sending }): Promise<unknown> {
    const wanted = await requestOf(act, worker);
    return wanted === null ? actOf(act, worker) : this.#carryOut(worker, this.#begin(worker, wanted, { act, sending }));
  }

  async handOn(worker: Acting): Promise<void> {
    const told = await newestEvent(worker.sandbox, worker.deps.api);
    if (told === null) return;
    const status = await (await this.#console()).tell(this.#serve(worker), told);
    if (status >= 500) throw new Error(`an event of the service was answered with ${status}`);
    if (status !== 200) this.seen.push(`an event of the service was answered with ${status}`);
  }

  /** Whether an unanswered request may have paused a campaign. */
  get mayHavePaused(): boolean {
    return this.asked.some(({ act, begun, tries }) => act === 'pause' && (begun > tries.length || tries.some(isOpen)));
  }

  get waits(): boolean {
    return this.asked.some(({ answer }) => answer === null);
  }

  async sendAgain(worker: Acting): Promise<void> {
    const due = ({ answer, retryAt }: Asked): boolean => answer === null && retryAt <= worker.deps.nowReal();
    for (const asked of this.asked.filter(due)) await this.#carryOut(worker, asked);
  }

  /** Like clients that missed the answer, however late: it must have no effect. */
  async repeatAnswered(worker: Acting): Promise<void> {
    for (const asked of this.asked) if (asked.answer !== null && isKept(asked.answer)) await this.#send(worker, asked, asked.request);
  }

  /** First by a page from before the pause, without effect, then by a current one. */
  async resume(worker: Acting): Promise<void> {
    const { pausesSeen } = await this.#look(worker);
    if (pausesSeen > 0) {
      await this.#resume(worker, 'stale resume', pausesSeen - 1);
      const { state } = await this.#look(worker);
      if (state !== 'paused') this.seen.push(`a resume that was wished before the pause left the campaign ${state}`);
    }
    await this.#resume(worker, 'resume', pausesSeen);
    // If a repeat paused it again, this would never end.
    if (this.seen.length > 0) return;
    const { state: before } = await this.#look(worker);
    await this.repeatAnswered(worker);
    const { state } = await this.#look(worker);
    if (state !== before) this.seen.push(`repeated requests made a campaign that was ${before} ${state}`);
  }

  async #look(worker: Acting): Promise<{ state: string; pausesSeen: number }> {
    const request = { path: 'campaigns/small' };
    const console = await this.#console();
    return (await console.ask(this.#serve(worker), { role: 'read', key: null, request })).body;
  }

  async #resume(worker: Acting, act: 'resume' | 'stale resume', pausesSeen: number): Promise<void> {
    const request = { path: 'campaigns/small/resume', body: { pausesSeen } };
    const heard: Wanted['heard'] = (_, { standing, mark }) => {
      standing.wentOnAt = mark();
    };
    await this.#carryOut(worker, this.#begin(worker, { request, number: null, heard }, { act, sending: 'once' }));
  }

  #begin({ mark }: Acting, wanted: Wanted, { act, sending }: Pick<Asked, 'act' | 'sending'>): Asked {
    const key = `key ${this.asked.length + 1}`;
    const asked = { ...wanted, act, sending, key, tries: [], from: mark(), begun: 0, answer: null, retryAt: 0 };
    this.asked.push(asked);
    return asked;
  }

  async #carryOut(worker: Acting, asked: Asked): Promise<void> {
    const { sending, request } = asked;
    asked.retryAt = worker.deps.nowReal() + againMs;
    if (sending === 'read only') {
      asked.answer = (await this.#send(worker, asked, request, { role: 'read' })).status;
      return;
    }
    const isTwin = sending === 'at once' && asked.begun === 0;
    const first = this.#send(worker, asked, request, { together: isTwin });
    const tries = await Promise.all(isTwin ? [first, this.#send(worker, asked, request, { together: true })] : [first]);
    // A refusal because another try is under way is not conclusive.
    const told = tries.find((each) => !isOpen(each));
    if (told === undefined) return;
    asked.answer = told.status;
    // A replayed answer describes the first sending: its effect may be over.
    const isOver = told.isReplayed && asked.endsWhenItGoesOn === true && asked.from < worker.standing.wentOnAt;
    if (told.status < 300) {
      if (!isOver) asked.heard(told.body as never, worker);
    } else if (asked.begun > asked.tries.length || asked.tries.some(isOpen)) await asked.unheard?.(worker);
    if (sending === 'twice' && isKept(told.status)) await this.#send(worker, asked, request);
    if (sending !== 'key reused' || !isKept(told.status)) return;
    const [row] = worker.standing.rows;
    const other = { path: 'suppressions', body: { numbers: [row?.e164 ?? ''], reason: 'under a key that was used' } };
    await this.#send(worker, asked, other);
  }

  async #send(
    worker: Acting,
    asked: Asked,
    request: ConsoleRequest,
    { role = 'operate', together = false }: { role?: ConsoleRole; together?: boolean } = {},
  ): Promise<Try & { body: unknown }> {
    const { mark, who } = worker;
    asked.begun += 1;
    const console = await this.#console();
    const from = mark();
    const { body, ...answer } = await console.ask(this.#serve(worker), { role, key: asked.key, request });
    const sent = { ...answer, from, to: mark(), who, together };
    asked.tries.push(sent);
    return { ...sent, body };
  }

  #serve(worker: Acting): Served {
    const { deps, activities, standing } = worker;
    const queue = campaignQueues('carillon', deps.store.ledgerId).campaign;
    const temporal = temporalOf(queue, async (update, known = {}) => {
      const change = (['resume', 'drain', 'cancel'] as const).find((each) => each === update);
      if (change === undefined) return true;
      standing.wishes += 1;
      const wished = { change, number: standing.wishes, ...known };
      // As Temporal does with the activity of an update.
      return wish(activities, standing, wished).catch(() => wish(activities, standing, wished));
    });
    return { store: deps.store, now: deps.nowReal, serviceUrl: this.#serviceUrl, temporal };
  }
}

type Acting = ActContext & { activities: Activities };

/** Whether its outcome is unknown: it failed outside, or is under way. */
export function isOpen({ status, code }: Pick<Try, 'status' | 'code'>): boolean {
  return status >= 500 || code === 'under_way';
}

export function nameTry(each: Try): string {
  if (isOpen(each)) return each.code ?? 'failed';
  if (each.isReplayed) return 'repeated';
  return each.status < 300 ? 'carried out' : `refused (${each.code})`;
}

/** Whether the same request always gets this answer. */
export function isKept(status: number): boolean {
  return status < 300 || status === 422;
}

type Tell = (update: string, input: { pausesSeen?: number } | undefined) => Promise<boolean>;

/** A fake Temporal: knows the workflow's queue and passes updates to the driver. */
function temporalOf(queue: string, tell: Tell): TemporalAccess {
  const handle = {
    describe: async () => ({ taskQueue: queue, status: { name: 'RUNNING' }, raw: {} }),
    executeUpdate: async (update: { name: string }, options?: { args: [{ pausesSeen?: number }] }) => tell(update.name, options?.args[0]),
  };
  return {
    address: 'the driver',
    namespace: 'small',
    connection: { withDeadline: async (_: number, work: () => Promise<unknown>) => work() },
    client: { workflow: { getHandle: () => handle } },
  } as unknown as TemporalAccess;
}

import { serviceNow } from '../../../operations/runs/run.ts';
import type { FastifyRequest } from 'fastify';
import { appendEvents } from '../../../ledger/events.ts';
import { mayAct, type Token } from '../../../ledger/console/tokens.ts';
import { holderOf, type ApiContext } from './app.ts';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { readCallRecord, type NamedCall } from '../../../operations/control/call-record.ts';

/** Logs that whole numbers were shown. Throws ProblemError for the role read. */
export async function noteNumbersShown(context: ApiContext, request: FastifyRequest, campaignId: string): Promise<void> {
  const holder = holderOf(request);
  const { name, role } = holder;
  if (!mayAct(role, 'operate'))
    throw new ProblemError(403, 'role', `Whole numbers take the role operate; the token of ${name} has ${role}.`);
  await noteShown(context, holder, { campaignId, action: 'numbers_shown' });
}

/** A single call is logged in the history of its row. */
export async function noteShown(
  context: ApiContext,
  { name }: Token,
  { action, ...what }: { campaignId: string; recipientId?: string; attemptId?: string; action: string },
): Promise<void> {
  const at = await serviceNow(context);
  await context.store.transaction((tx) => appendEvents(tx, [{ at, ...what, type: 'operator.acted', data: { name, action } }]));
}

/** Reads a transcript from the service and logs that it was shown. Throws as `readCallRecord`, before logging. */
export async function showTranscript(context: ApiContext, holder: Token, named: NamedCall) {
  const { ids, record } = await readCallRecord(context, named);
  await noteShown(context, holder, { ...ids, action: 'transcript_shown' });
  const { conversationId, startedAt, durationMs, callResult, audio } = record.facts;
  return {
    ...named,
    campaignId: ids.campaignId,
    conversationId,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    durationMs,
    callResult,
    isRecorded: audio !== null,
    turns: [...record.turns],
  };
}

/** Numbers stay on a page: a repeated view within this time is not logged again. */
const lastsMs = 15 * 60_000;

/** What each token was shown, and until when that counts. In memory: a restart forgets it. */
export class LatelyShown {
  readonly #until = new Map<string, number>();

  /** `now`: real time. The caller has already logged it. */
  show(tokenId: string, what: string, now: number): void {
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key);
    this.#until.set(`${tokenId} ${what}`, now + lastsMs);
  }

  hide(tokenId: string, what: string): void {
    this.#until.delete(`${tokenId} ${what}`);
  }

  isShown(tokenId: string, what: string, now: number): boolean {
    return (this.#until.get(`${tokenId} ${what}`) ?? 0) > now;
  }
}

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { appendEvents } from '../../ledger/events.ts';
import { claimKey, keepAnswer } from '../../ledger/desk/kept-answers.ts';
import { holderOf } from './app.ts';
import { serviceNow, type ApiContext } from './context.ts';
import { ProblemError, problemOf, type Problem } from './problem.ts';

/** A change, as its route tells of it. */
export interface Change<Answer> {
  /** What is done, for the log: `pause`, `suppressions_added`. */
  action: string;
  /** The campaign whose log it goes to; `account` where it concerns all. */
  campaignId: string;
  /** Of what was sent: the body, or the hashes of files. */
  fingerprint: unknown;
  status?: 200 | 201;
  work: () => Promise<Answer>;
}

/**
 * Carries out a change once for its `Idempotency-Key`, logs it with the name of who made it, and keeps the answer for good. A refusal is
 * kept as well; what failed for a reason outside (503, 500) frees the key.
 */
export async function makeChange<Answer>(
  context: ApiContext,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { action, campaignId, fingerprint, status = 200, work }: Change<Answer>,
): Promise<Answer> {
  const { store } = context;
  const holder = holderOf(request);
  const key = String(request.headers['idempotency-key'] ?? '');
  const [path = ''] = request.url.split('?');
  const claim = await claimKey(store, {
    tokenId: holder.tokenId,
    key,
    fingerprint: hashOf([request.method, path, fingerprint]),
  });
  if (claim.kind === 'other')
    throw new ProblemError(422, 'key_reused', 'This Idempotency-Key was used for another request. Choose a new one.');
  if (claim.kind === 'under_way') {
    void reply.header('retry-after', '2');
    throw new ProblemError(
      409,
      'under_way',
      'A request with this Idempotency-Key is being carried out. Ask again in a moment.',
    );
  }
  if (claim.kind === 'done') {
    void reply.header('idempotent-replayed', 'true');
    const answer = JSON.parse(claim.answer.body) as unknown;
    if (claim.answer.status >= 400) throw ProblemError.of(answer as Problem);
    void reply.code(claim.answer.status);
    return answer as Answer;
  }
  try {
    const answer = await work();
    const now = await serviceNow(context);
    await store.transaction((tx) =>
      appendEvents(tx, [{ at: now, campaignId, type: 'operator.acted', data: { name: holder.name, action } }]),
    );
    await keepAnswer(store, claim.entry, { status, body: JSON.stringify(answer) });
    void reply.code(status);
    return answer;
  } catch (error) {
    const refusal = problemOf(error);
    await keepAnswer(
      store,
      claim.entry,
      refusal.status >= 500 ? null : { status: refusal.status, body: JSON.stringify(refusal) },
    );
    throw error;
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

import type { FastifyRequest } from 'fastify';
import { appendEvents } from '../../ledger/events.ts';
import { mayAct, type Token } from '../../ledger/desk/tokens.ts';
import { holderOf } from './app.ts';
import { serviceNow, type ApiContext } from './context.ts';
import { ProblemError } from './problem.ts';

/** Writes to the log who is shown whole numbers. Throws ProblemError for whoever may only look. */
export async function noteNumbersShown(
  context: ApiContext,
  request: FastifyRequest,
  campaignId: string,
): Promise<void> {
  const holder = holderOf(request);
  const { name, role } = holder;
  if (!mayAct(role, 'operate'))
    throw new ProblemError(403, 'role', `Whole numbers take the role operate; the token of ${name} has ${role}.`);
  await noteShown(context, holder, { campaignId, action: 'numbers_shown' });
}

/** Writes to the log who is shown what; of a single call, in the story of its row. */
export async function noteShown(
  context: ApiContext,
  { name }: Token,
  { action, ...what }: { campaignId: string; recipientId?: string; attemptId?: string; action: string },
): Promise<void> {
  const at = await serviceNow(context);
  await context.store.transaction((tx) =>
    appendEvents(tx, [{ at, ...what, type: 'operator.acted', data: { name, action } }]),
  );
}

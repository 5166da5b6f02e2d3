import type { FastifyRequest } from 'fastify';
import { appendEvents } from '../../ledger/events.ts';
import { mayAct } from '../../ledger/desk/tokens.ts';
import { holderOf } from './app.ts';
import { serviceNow, type ApiContext } from './context.ts';
import { ProblemError } from './problem.ts';

/** Writes to the log who is shown whole numbers. Throws ProblemError for whoever may only look. */
export async function noteNumbersShown(
  context: ApiContext,
  request: FastifyRequest,
  campaignId: string,
): Promise<void> {
  const { name, role } = holderOf(request);
  if (!mayAct(role, 'operate'))
    throw new ProblemError(403, 'role', `Whole numbers take the role operate; the token of ${name} has ${role}.`);
  await noteShown(context, request, { campaignId, action: 'numbers_shown' });
}

/** Writes to the log who is shown what. */
export async function noteShown(
  context: ApiContext,
  request: FastifyRequest,
  { campaignId, action }: { campaignId: string; action: string },
): Promise<void> {
  const { name } = holderOf(request);
  const at = await serviceNow(context);
  await context.store.transaction((tx) =>
    appendEvents(tx, [{ at, campaignId, type: 'operator.acted', data: { name, action } }]),
  );
}

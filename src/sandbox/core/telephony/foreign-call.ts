import { deriveId } from '../random.ts';
import type { CallVariables } from '../../schemas/request-schemas.ts';
import type { PhoneNumber } from '../state/agent.ts';
import { newCall, type Call, type ForcedCourse } from '../state/call.ts';
import type { Switchboard } from './phone-network.ts';

export interface ForeignOrder {
  to: string;
  firstMessage?: string | undefined;
  variables: CallVariables;
  course: ForcedCourse;
}

/** Dials for somebody else: the record is one of the agent's as any other, and no batch of the caller knows of the call. */
export function placeForeignCall(switchboard: Switchboard, number: PhoneNumber, agentId: string, order: ForeignOrder): Call {
  const { settings, state, clock, network, people } = switchboard;
  const { to, firstMessage, variables, course } = order;
  // A series of its own: what happens to the calls of a batch does not depend on calls of others.
  const key = [settings.seed, 'foreign', to, state.count(`foreign calls to ${to}`)] as const;
  const conversationId = deriveId('conv', ...key);
  const now = clock.now();
  const call = newCall({
    callId: deriveId('call', ...key),
    conversationId,
    agentId,
    phoneNumberId: number.phoneNumberId,
    to,
    nth: key[3],
    variables,
    override: firstMessage === undefined ? undefined : { agent: { first_message: firstMessage } },
    acceptedAt: now,
    realAcceptedAt: clock.realNow(),
    hiddenForMs: people.listDelayMs(settings.seed, conversationId),
    forced: course,
  });
  state.calls.push(call);
  network.queue([call], now);
  return call;
}

import { deriveId } from '../random.ts';
import { takesInbound, type PhoneNumber } from '../state/agent.ts';
import { newCall, type Call, type ForcedCourse } from '../state/call.ts';
import { decideInbound } from './callee.ts';
import { renderOpeningLine } from '../conversation/call-config.ts';
import type { Switchboard } from './phone-network.ts';
import type { CallVariables } from '../../schemas/request-schemas.ts';

type Reception = { conversationId: string; agentId: string } | { reason: 'no_agent' | 'outbound_only' | 'no_free_line' };

/** The agent answers at once, if there is one and a line is free. */
export function takeInboundCall({ settings, state, clock, network, people }: Switchboard, number: PhoneNumber, from: string): Reception {
  const agent = state.agents.get(number.agentId ?? '');
  if (!takesInbound(number)) return { reason: 'outbound_only' };
  if (agent === undefined) return { reason: 'no_agent' };
  if (!network.hasFreeLine) return { reason: 'no_free_line' };
  const now = clock.now();
  const nth = state.count(`calls from ${from} to ${number.phoneNumberId}`);
  const key = [settings.seed, 'inbound', number.phoneNumberId, from, nth] as const;
  const conversationId = deriveId('conv', ...key);
  const call = newCall({
    callId: deriveId('call', ...key),
    conversationId,
    direction: 'inbound',
    agentId: agent.agentId,
    phoneNumberId: number.phoneNumberId,
    to: from,
    nth,
    acceptedAt: now,
    realAcceptedAt: clock.realNow(),
    hiddenForMs: people.listDelayMs(settings.seed, conversationId),
    dialedAt: now,
    agent,
    agentNumber: number.phoneNumber,
    course: decideInbound({
      seed: settings.seed,
      number: from,
      nth,
      dialedAt: now,
      people,
      outcomeMix: settings.outcomeMix,
      meanTalkSeconds: settings.meanTalkSeconds,
    }),
  });
  call.openingLine = renderOpeningLine(call);
  state.conversations.add(call, now);
  network.connect(call, now);
  return { conversationId, agentId: agent.agentId };
}

export interface ForeignOrder {
  to: string;
  firstMessage?: string | undefined;
  variables: CallVariables;
  course: ForcedCourse;
}

/** Dials for another system: an ordinary record, but no batch of the client knows the call. */
export function placeForeignCall(switchboard: Switchboard, number: PhoneNumber, agentId: string, order: ForeignOrder): Call {
  const { settings, state, clock, network, people } = switchboard;
  const { to, firstMessage, variables, course } = order;
  // A separate series, so that batch calls do not depend on these.
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

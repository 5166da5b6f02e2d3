import { deriveId } from '../random.ts';
import { takesInbound, type PhoneNumber } from '../state/agent.ts';
import { newCall } from '../state/call.ts';
import { decideInbound } from './callee.ts';
import { renderOpeningLine } from '../conversation/variables.ts';
import type { VoiceInstruction } from './webhook.ts';
import type { Switchboard } from './phone-network.ts';

/** A call comes in on an imported number: its agent answers at once, if it has one and a line is free. */
export function takeInboundCall(
  { settings, state, clock, network, people }: Switchboard,
  number: PhoneNumber,
  from: string,
): VoiceInstruction {
  const agent = state.agents.get(number.agentId ?? '');
  if (!takesInbound(number)) return { reject: { reason: 'outbound_only' } };
  if (agent === undefined) return { reject: { reason: 'no_agent' } };
  if (!network.hasFreeLine) return { reject: { reason: 'no_free_line' } };
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
  return { connect: { conversationId: call.conversationId, agentId: agent.agentId } };
}

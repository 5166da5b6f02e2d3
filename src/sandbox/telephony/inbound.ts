import { deriveId, Random } from '../random.ts';
import type { Service } from '../service.ts';
import type { PhoneNumber } from '../state/agent.ts';
import type { Call } from './call.ts';
import { renderOpeningLine } from './opening-line.ts';

/** Somebody calls an imported number: its agent answers at once. Null when no agent is assigned, for then nobody does. */
export function takeInboundCall({ settings, state, clock }: Service, number: PhoneNumber, from: string): Call | null {
  const agent = state.agents.get(number.agentId ?? '');
  if (agent === undefined) return null;
  const now = clock.now();
  const nth = state.count(`calls from ${from} to ${number.phoneNumberId}`);
  const key = [settings.seed, 'inbound', number.phoneNumberId, from, nth] as const;
  const random = new Random(...key);
  const endedAt = Math.round(
    now + Math.min(600_000, Math.max(5_000, random.logNormal(settings.meanTalkSeconds * 1000, 0.5))),
  );
  const call: Call = {
    callId: deriveId('call', ...key),
    conversationId: deriveId('conv', ...key),
    direction: 'inbound',
    batchId: null,
    requestId: null,
    agentId: agent.agentId,
    phoneNumberId: number.phoneNumberId,
    to: from,
    nth,
    variables: {},
    override: undefined,
    acceptedAt: now,
    realAcceptedAt: clock.realNow(),
    hiddenForMs: 0,
    dialedAt: now,
    agent,
    agentNumber: number.phoneNumber,
    openingLine: renderOpeningLine(agent.config, undefined, {}),
    course: {
      result: 'answered',
      answeredAt: now,
      endedAt,
      analysedAt: Math.round(endedAt + random.between(2_000, 8_000)),
      silent: false,
      optedOut: false,
      cooperative: random.chance(0.7),
      brokeDown: false,
      terminationReason: 'Call ended by remote party',
    },
    recordedAt: null,
    recordDeleted: false,
  };
  state.conversations.add(call, now);
  return call;
}

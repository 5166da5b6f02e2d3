import { isoTime } from '../times.ts';
import type { Service } from './service.ts';
import type { Call, CallChange } from '../state/call.ts';

/** Tells those who follow live what happens to calls, and of a batch with its first call. */
export function followCalls({ callListeners, events }: Pick<Service, 'callListeners' | 'events'>): void {
  let batchId: string | null = null;
  callListeners.add((call, change, at) => {
    if (change === 'queued' && call.batchId !== null && call.batchId !== batchId) {
      ({ batchId } = call);
      events.emit('batch', at, {
        change: 'accepted',
        batch_id: batchId,
        agent_id: call.agentId,
        phone_number_id: call.phoneNumberId,
      });
    }
    events.emit('call', at, describe(call, change));
  });
}

function describe(call: Call, change: CallChange): Record<string, unknown> {
  const { course } = call;
  // What a call comes to is not told before it is decided on the line.
  const known = change === 'answered' || change === 'ended' || change === 'analysed';
  return {
    change,
    call_id: call.callId,
    conversation_id: call.recordedAt === null ? null : call.conversationId,
    batch_id: call.batchId,
    agent_id: call.agentId,
    phone_number_id: call.phoneNumberId,
    direction: call.direction,
    to: call.to,
    result: known && course !== null ? course.result : null,
    dialed_at: call.dialedAt === null ? null : isoTime(call.dialedAt),
  };
}

import { createHmac } from 'node:crypto';
import { fetch } from 'undici';
import { keyHeaders, type ServiceApi } from '../../../src/rules/service-api.ts';
import type { RunningSandbox } from '../../../src/sandbox/start.ts';

export const secretOfService = 'secret_of_the_service';

/** What the service sends by itself, signed. */
export interface ToldEvent {
  headers: Record<string, string>;
  body: string;
}

/** Of the call that ended last and has a record, as the service would tell of it now; null: there is none. */
export async function newestEvent(sandbox: RunningSandbox, api: ServiceApi): Promise<ToldEvent | null> {
  const ended = sandbox.calls().filter((call) => call.batchId !== null && call.endedAt !== null && call.visible);
  const [last] = ended.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  if (last === undefined) return null;
  const { agentId, conversationId, result } = last;
  const address = `${sandbox.url}/v1/convai/conversations/${conversationId}`;
  const read = async (): Promise<unknown> => (await fetch(address, { headers: { [keyHeaders[api]]: 'sk_sandbox_ok' } })).json();
  const isReached = result === 'answered' || result === 'voicemail';
  const seconds = Math.floor(sandbox.clock.now() / 1000);
  const body = JSON.stringify({
    type: isReached ? 'post_call_transcription' : 'call_initiation_failure',
    event_timestamp: seconds,
    data: isReached ? await read() : { agent_id: agentId, conversation_id: conversationId, failure_reason: 'busy', metadata: {} },
  });
  const digest = createHmac('sha256', secretOfService).update(`${seconds}.${body}`).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'elevenlabs-signature': `t=${seconds},v0=${digest}` } };
}

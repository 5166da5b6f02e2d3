import { createHmac } from 'node:crypto';
import { fetch } from 'undici';
import { keyHeaders, type ServiceApi } from '../../../src/rules/service-api.ts';
import type { RunningSandbox } from '../../../src/sandbox/start.ts';

export const secretOfService = 'secret_of_the_service';

/** What the service sends by itself, signed. */
export type ToldEvent = { headers: Record<string, string>; body: string };

/** Of the call that ended last and has a record, as the service would tell of it now; null: there is none. */
export async function newestEvent(sandbox: RunningSandbox, api: ServiceApi): Promise<ToldEvent | null> {
  const ended = sandbox.calls().filter((call) => call.batchId !== null && call.endedAt !== null && call.visible);
  const [last] = ended.toSorted((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
  if (last === undefined) return null;
  const { agentId, conversationId, result } = last;
  const request = { headers: { [keyHeaders[api]]: 'sk_sandbox_ok' } };
  const record = (await (await fetch(`${sandbox.url}/v1/convai/conversations/${conversationId}`, request)).json()) as object;
  const isReached = result === 'answered' || result === 'voicemail';
  const data = isReached ? record : { agent_id: agentId, conversation_id: conversationId, failure_reason: 'busy', metadata: {} };
  const seconds = Math.floor(sandbox.clock.now() / 1000);
  const type = isReached ? 'post_call_transcription' : 'call_initiation_failure';
  const body = JSON.stringify({ type, event_timestamp: seconds, data });
  const digest = createHmac('sha256', secretOfService).update(`${seconds}.${body}`).digest('hex');
  return { body, headers: { 'content-type': 'application/json', 'elevenlabs-signature': `t=${seconds},v0=${digest}` } };
}

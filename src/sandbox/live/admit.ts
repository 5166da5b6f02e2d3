import type { Service } from '../core/service/service.ts';
import { notFound, ServiceError } from '../core/service-error.ts';
import type { CredentialKind } from '../core/state/credential-store.ts';
import type { Admission } from './socket-call.ts';

export const conversationPath = '/v1/convai/conversation';
/** Where a conversation token is taken in place of a LiveKit server. */
export const rtcPath = '/v1/convai/rtc';

type Parts = Pick<Service, 'state' | 'clock' | 'conduct' | 'network'>;

/** Uses up the credential of a connection that may begin a conversation. Throws `ServiceError`; then nothing has been used up. */
export function admit(service: Parts, { pathname, searchParams }: URL, sequence: number): Admission {
  if (pathname === rtcPath) {
    const token = readOnce(searchParams, 'token');
    requireOpen(service, token, 'token', sequence);
    return takeUp(service, token, 'webrtc');
  }
  const agentId = readOnce(searchParams, 'agent_id');
  const signature = readOnce(searchParams, 'conversation_signature');
  const named = requireOpen(service, signature, 'signed_url', sequence);
  if (named !== agentId) throw unauthorized('wrong_agent', 'The signed URL is for another agent; use it as it was given.');
  return takeUp(service, signature, 'websocket');
}

/** Throws `ServiceError` where no conversations are held. */
export function requireSocketPath({ pathname }: URL): void {
  if (pathname === conversationPath || pathname === rtcPath) return;
  const message = `No socket is served at ${pathname}; conversations are held at ${conversationPath}.`;
  throw new ServiceError(404, message, { code: 'route_not_found' });
}

/** The agent that an unused credential was issued for. */
function requireOpen({ state, clock, conduct }: Parts, secret: string, kind: CredentialKind, sequence: number): string {
  const { state: found, credential } = state.credentials.look(secret, clock.now());
  const what = kind === 'token' ? 'token' : 'signed URL';
  if (credential === null || credential.kind !== kind)
    throw unauthorized(`invalid_${kind}`, `The ${what} was not issued here. Get one for every conversation.`);
  if (found === 'open') return credential.agentId;
  conduct.noteCredentialReuse(kind, { request: sequence });
  const why = found === 'used' ? 'has been used; it serves one conversation' : 'has expired';
  throw unauthorized(`${kind}_${found}`, `The ${what} ${why}. Get another one.`);
}

/** Everything else is in order before the credential is used up. */
function takeUp({ state, clock, network }: Parts, secret: string, channel: Admission['channel']): Admission {
  const now = clock.now();
  const { credential } = state.credentials.look(secret, now);
  if (credential !== null && !state.agents.has(credential.agentId)) throw notFound('agent', credential.agentId, 'agent_id');
  if (!network.hasFreeLine)
    throw new ServiceError(429, 'All lines of the plan are in use. Wait, then try again with growing pauses.', {
      code: 'concurrency_limit_exceeded',
    });
  const used = state.credentials.redeem(secret, now);
  if (used === null) throw unauthorized('invalid_credential', 'The credential cannot be used any more. Get another one.');
  return { agentId: used.agentId, channel, conversationId: used.conversationId ?? null };
}

function readOnce(query: URLSearchParams, name: string): string {
  const [value, ...more] = query.getAll(name);
  const problem = more.length > 0 ? 'stands there more than once' : value === undefined || value === '' ? 'is missing' : null;
  if (problem === null) return value ?? '';
  throw new ServiceError(400, `${name} ${problem} in the query. Use the address as it was given.`, { code: 'bad_request', param: name });
}

function unauthorized(code: string, message: string): ServiceError {
  return new ServiceError(401, message, { code });
}

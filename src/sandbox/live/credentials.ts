import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { deriveId } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import { lifetimeMs, type CredentialKind } from '../core/state/credential-store.ts';
import { factsOf } from '../core/dialects.ts';
import { findAgent } from '../core/service/found.ts';
import { serveRoutes } from '../http/serve-routes.ts';
import { notFound, ServiceError } from '../core/service-error.ts';
import type { Admission } from './socket-call.ts';

/** Tokens are JWTs with a LiveKit server's claims; their keys survive a reset. */
export function serveCredentials(app: FastifyInstance, service: Service): void {
  const { clock, settings } = service;
  const { apiKey, apiSecret } = settings.livekit ?? {
    apiKey: `API${randomBytes(8).toString('hex')}`,
    apiSecret: randomBytes(32).toString('hex'),
  };

  serveRoutes(app, service, {
    get_signed_url: ({ request, query: { agent_id: agentId } }) => {
      findAgent(service, agentId, 'agent_id');
      // The contract promises wss, but the sandbox speaks no TLS.
      const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'wss' : 'ws';
      const address = new URL(`${scheme}://${request.host}${conversationPath}`);
      address.searchParams.set('agent_id', agentId);
      address.searchParams.set('conversation_signature', service.state.credentials.issueSignature(agentId, clock.now()));
      return { signed_url: address.href };
    },

    get_token: async ({ query: { agent_id: agentId } }) => {
      findAgent(service, agentId, 'agent_id');
      const { state } = service;
      const now = clock.now();
      const nth = state.count(`tokens of ${agentId}`);
      const room = deriveId('conv', settings.seed, 'token', agentId, nth);
      const identity = deriveId('user', settings.seed, 'token', agentId, nth);
      const issuedAt = Math.floor(now / 1000);
      const expiresAt = Math.floor((now + lifetimeMs.token) / 1000);
      // Many small files: loaded with the first token.
      const { SignJWT } = await import('jose');
      const token = await new SignJWT({
        name: identity,
        metadata: JSON.stringify({ agent_id: agentId, conversation_id: room }),
        video: { roomJoin: true, room, canPublish: true, canSubscribe: true, canPublishData: true },
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuer(apiKey)
        .setSubject(identity)
        .setJti(randomUUID())
        .setIssuedAt(issuedAt)
        .setNotBefore(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(new TextEncoder().encode(apiSecret));
      state.credentials.keep(token, { kind: 'token', agentId, expiresAt: expiresAt * 1000, conversationId: room }, clock.now());
      return factsOf(settings).further ? { token, conversation_id: room } : { token };
    },
  });
}

const conversationPath = '/v1/convai/conversation';
/** Accepts conversation tokens in place of a LiveKit server. */
const rtcPath = '/v1/convai/rtc';

type Parts = Pick<Service, 'state' | 'clock' | 'conduct' | 'network'>;

/** Throws `ServiceError`, and then consumes no credential. */
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

/** Throws `ServiceError` for a path without conversations. */
export function requireSocketPath({ pathname }: URL): void {
  if (pathname === conversationPath || pathname === rtcPath) return;
  const message = `No socket is served at ${pathname}; conversations are held at ${conversationPath}.`;
  throw new ServiceError(404, message, { code: 'route_not_found' });
}

/** The agent of an unused credential. Throws 401 otherwise. */
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

/** Checks everything else before consuming the credential. */
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

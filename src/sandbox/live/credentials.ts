import { randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { conversationPath } from './admit.ts';
import { deriveId } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import { lifetimeMs } from '../core/state/credential-store.ts';
import { furtherRoutes } from '../core/operations.ts';
import { findAgent } from '../core/service/found.ts';
import { serveOperation, readQuery } from '../http/serve-operation.ts';

/** Signed URLs, and tokens: JWTs with the claims of a LiveKit server. The keys of tokens outlive a reset. */
export function serveCredentials(app: FastifyInstance, service: Service): void {
  const { schemas, clock, settings } = service;
  const { apiKey, apiSecret } = settings.livekit ?? {
    apiKey: `API${randomBytes(8).toString('hex')}`,
    apiSecret: randomBytes(32).toString('hex'),
  };

  serveOperation(
    app,
    'get_signed_url',
    (request) => {
      const { agent_id: agentId } = readQuery(request, schemas.credentialQuery);
      findAgent(service, agentId, 'agent_id');
      // The contract promises wss. The sandbox itself speaks no TLS, and an address is there to be opened as it is given.
      const scheme = request.headers['x-forwarded-proto'] === 'https' ? 'wss' : 'ws';
      const address = new URL(`${scheme}://${request.host}${conversationPath}`);
      address.searchParams.set('agent_id', agentId);
      address.searchParams.set('conversation_signature', service.state.credentials.issueSignature(agentId, clock.now()));
      return { signed_url: address.href };
    },
    settings.dialect !== 'spec' ? [furtherRoutes.get_signed_url] : [],
  );

  serveOperation(app, 'get_token', async (request) => {
    const { agent_id: agentId } = readQuery(request, schemas.credentialQuery);
    findAgent(service, agentId, 'agent_id');
    const { state } = service;
    const now = clock.now();
    const nth = state.count(`tokens of ${agentId}`);
    const room = deriveId('conv', settings.seed, 'token', agentId, nth);
    const identity = deriveId('user', settings.seed, 'token', agentId, nth);
    const issuedAt = Math.floor(now / 1000);
    const expiresAt = Math.floor((now + lifetimeMs.token) / 1000);
    // Many small files, read when the first token is wanted.
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
    return settings.dialect === 'spec' ? { token } : { token, conversation_id: room };
  });
}

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { conversationPath, rtcPath } from './admit.ts';
import { deriveId } from '../core/random.ts';
import type { ConversationTokens } from './conversation-tokens.ts';
import type { Service } from '../core/service/service.ts';
import { lifetimeMs } from '../core/state/credential-store.ts';
import { furtherRoutes } from '../core/operations.ts';
import { findAgent } from '../core/service/found.ts';
import { serveControl } from '../http/serve-control.ts';
import { serveOperation, readQuery } from '../http/serve-operation.ts';

export function serveCredentials(app: FastifyInstance, service: Service, tokens: ConversationTokens): void {
  const { schemas, clock, settings } = service;

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
    const token = await tokens.sign({ room, identity, agentId, issuedAt, expiresAt });
    state.credentials.keep(token, { kind: 'token', agentId, expiresAt: expiresAt * 1000, conversationId: room }, clock.now());
    return settings.dialect === 'spec' ? { token } : { token, conversation_id: room };
  });
}

const verifyBody = z.strictObject({ token: z.string().min(1) });
const verifyQuery = z.strictObject({ consume: z.stringbool().default(false) });

export function controlTokens(app: FastifyInstance, service: Service, tokens: ConversationTokens): void {
  serveControl(app, 'GET /_sandbox/rtc', {
    says: 'Tells for which media server conversation tokens are signed.',
    answer: () => ({
      api_key: tokens.apiKey,
      secret: tokens.isConfigured ? 'configured' : 'made up for the life of this process',
      livekit_url: tokens.url,
      join_url: `${service.baseUrl.replace(/^http/, 'ws')}${rtcPath}`,
    }),
  });

  serveControl(app, 'POST /_sandbox/rtc/verify', {
    says: 'Checks a conversation token as a media server would.',
    query: verifyQuery,
    body: verifyBody,
    answer: async ({ query, body }) => {
      const { token } = body();
      const { consume } = query();
      const verdict = await tokens.verify(token, service.clock.now());
      const { credentials } = service.state;
      const now = service.clock.now();
      const { state, credential } = credentials.look(token, now);
      const valid = verdict.valid && state !== 'used';
      const consumed = consume && valid && credentials.redeem(token, now) !== null;
      return {
        valid,
        reason: verdict.reason ?? (valid ? null : 'used'),
        issued_here: credential !== null,
        consumed,
        agent_id: credential?.agentId ?? null,
        conversation_id: credential?.conversationId ?? null,
        claims: verdict.claims,
      };
    },
  });
}

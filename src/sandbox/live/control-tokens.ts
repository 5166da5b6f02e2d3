import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { rtcPath } from './admit.ts';
import { serveControl } from '../http/serve-control.ts';
import type { ConversationTokens } from './conversation-tokens.ts';
import type { Service } from '../core/service/service.ts';

const verifyBody = z.strictObject({ token: z.string().min(1) });
const verifyQuery = z.strictObject({ consume: z.stringbool().default(false) });

/** Conversation tokens from the other side: what a media server would make of them. */
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

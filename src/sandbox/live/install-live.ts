import type { FastifyInstance } from 'fastify';
import type { ModelCaller } from '../llm/model-caller.ts';
import type { Service } from '../core/service/service.ts';
import { controlTokens } from './control-tokens.ts';
import { ConversationTokens } from './conversation-tokens.ts';
import { serveCredentials } from './credentials.ts';
import { serveSockets } from './serve-sockets.ts';
import { SocketSessions } from './socket-sessions.ts';

const reasons = {
  reset: 'The sandbox was reset.',
  replaced: 'Another state was put in place of this one.',
  closed: 'The sandbox stops.',
};

/** Conversations over sockets, and the credentials that open them. The keys of tokens outlive a reset. */
export function installLive(app: FastifyInstance, service: Service, modelCaller: ModelCaller): void {
  const tokens = new ConversationTokens(service.settings.livekit);
  const sockets = new SocketSessions(service, modelCaller);
  service.features.push({
    leave: (why) => sockets.stop(reasons[why]),
    underWay: () => ({ sockets: sockets.size }),
  });
  serveCredentials(app, service, tokens);
  controlTokens(app, service, tokens);
  serveSockets(app, service, { sockets, tokens });
}

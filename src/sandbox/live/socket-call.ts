import { endings } from '../core/conversation/converse.ts';
import { configOf, missingVariables, renderOpeningLine } from '../core/conversation/call-config.ts';
import type { Turn } from '../core/state/talk.ts';
import { deriveId, Random } from '../core/random.ts';
import type { Service } from '../core/service/service.ts';
import type { Agent } from '../core/state/agent.ts';
import { newCall, openCourse, type Call, type Channel, type SocketFacts } from '../core/state/call.ts';
import { type Initiation, ClientMistake } from './client-messages.ts';

export interface Admission {
  agentId: string;
  channel: Exclude<Channel, 'phone'>;
  /** Named by the token; null: to be made. */
  conversationId: string | null;
}

const mostTurns = 2_000;
const mostNotes = 1_000;

/** Creates the conversation that a client begins; not yet listed, and without a line. */
export function createSocketCall(
  { settings, state, clock }: Pick<Service, 'settings' | 'state' | 'clock'>,
  { channel, conversationId }: Admission,
  agent: Agent,
  initiation: Initiation | null,
): Call {
  const now = clock.now();
  const nth = state.count(`sockets to ${agent.agentId}`);
  const id = conversationId ?? deriveId('conv', settings.seed, 'socket', agent.agentId, nth);
  const override = initiation?.conversation_config_override;
  const call = newCall({
    callId: deriveId('call', settings.seed, id),
    conversationId: id,
    direction: 'inbound',
    channel,
    agentId: agent.agentId,
    phoneNumberId: '',
    // There is no number; the channel takes its place.
    to: channel,
    nth,
    variables: initiation?.dynamic_variables ?? {},
    override,
    userId: initiation?.user_id ?? undefined,
    modelExtraBody: initiation?.custom_llm_extra_body,
    acceptedAt: now,
    realAcceptedAt: clock.realNow(),
    dialedAt: now,
    agent,
    course: openCourse(now, { analysisMs: new Random(settings.seed, id, 'analysis').between(2_000, 8_000), cooperative: true }),
    live: { turns: [], endedAt: now, terminationReason: endings.lost, brokeDown: false },
  });
  call.socket = {
    authorizationMethod: channel === 'websocket' ? 'signed_url' : 'livekit_token',
    textOnly: configOf(call).conversation?.['text_only'] === true,
    sourceInfo: initiation?.source_info ?? null,
    contextualUpdates: [],
    feedback: [],
  };
  call.openingLine = renderOpeningLine(call);
  return call;
}

/** Throws `ClientMistake` when the agent's words need a missing variable (gaps A.4). */
export function requireVariables(call: Call): void {
  const missing = missingVariables(call);
  if (missing.length === 0) return;
  const names = missing.join(', ');
  throw new ClientMistake('missing_dynamic_variable', `The agent needs ${names}: send them as dynamic_variables.`);
}

/** Adds a turn and returns its position. Ignored beyond 2,000 turns. */
export function addTurn(call: Call, turn: Turn): number {
  const { live } = call;
  if (live === null) return -1;
  if (live.turns.length < mostTurns) call.live = { ...live, turns: [...live.turns, turn], endedAt: turn.until };
  return live.turns.length;
}

export function changeTurn(call: Call, position: number, changes: Partial<Turn>): void {
  const { live } = call;
  if (live === null || live.turns[position] === undefined) return;
  const turns = live.turns.map((turn, index) => (index === position ? { ...turn, ...changes } : turn));
  call.live = { ...live, turns };
}

export function addContextualUpdate(call: Call, update: SocketFacts['contextualUpdates'][number]): void {
  const { socket } = call;
  if (socket === undefined || socket.contextualUpdates.length >= mostNotes) return;
  call.socket = { ...socket, contextualUpdates: [...socket.contextualUpdates, update] };
}

export function addFeedback(call: Call, feedback: SocketFacts['feedback'][number]): void {
  const { socket } = call;
  if (socket === undefined || socket.feedback.length >= mostNotes) return;
  call.socket = { ...socket, feedback: [...socket.feedback, feedback] };
}

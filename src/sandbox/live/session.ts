import type { WebSocket } from 'ws';
import { agentLines } from '../core/world/lines.ts';
import type { AgentReply } from '../core/conversation/agent-mind.ts';
import { configOf, maxDurationMs, inputFormat, outputFormat } from '../core/conversation/call-config.ts';
import { endings } from '../core/conversation/converse.ts';
import type { Service } from '../core/service/service.ts';
import type { Call } from '../core/state/call.ts';
import { AgentTurns } from './agent-turns.ts';
import { type ClientMessage, type Initiation, ClientMistake } from './client-messages.ts';
import { ClientTools } from './client-tools.ts';
import { Heartbeat, Patience } from './heartbeat.ts';
import { eventFilter, Outbox, closeReason, endingFor, errorOf, type Ending } from './outbox.ts';
import { addContextualUpdate, addFeedback, addTurn, createSocketCall, requireVariables, type Admission } from './socket-call.ts';
import { socketResponderOf } from './socket-mind.ts';
import { Timer } from './timer.ts';
import { UserAudio } from './user-audio.ts';

interface Started {
  call: Call;
  agent: AgentTurns;
  tools: ClientTools;
  heartbeat: Heartbeat;
  audio: UserAudio;
}

export interface SessionParts {
  service: Service;
  socket: WebSocket;
  admission: Admission;
  readMessage: (frame: string) => ClientMessage | null;
  over: (session: Session) => void;
}

/** Times: service time, except the wait before it begins. */
export class Session {
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  readonly #stopping = new AbortController();
  #initiation: NodeJS.Timeout | undefined;
  readonly #patience: Patience;
  readonly #longest: Timer;
  #started: Started | null = null;
  #over = false;
  #eventId = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { scheduler, settings } = parts.service;
    this.#outbox = new Outbox(parts.socket, settings.sockets.maxUnsentBytes, () => this.#giveUpReader());
    this.#longest = new Timer(scheduler);
    const { noInputMs } = settings.sockets;
    const deaf = `Nothing came from the client for ${noInputMs / 1000} seconds.`;
    this.#patience = new Patience({
      scheduler,
      noInputMs,
      deaf: (at) => this.end({ reason: deaf, code: 1002, errorType: 'transport_receive_timeout', at }),
      askAgain: (at) => this.#guard(() => this.#askAgain(at)),
      giveUp: (at) => this.end({ reason: endings.silence, code: 1000, at }),
    });
  }

  get call(): Call | null {
    return this.#started?.call ?? null;
  }

  /** Waits briefly for the client's first message; an arrived one is read first, even in a busy sandbox. */
  open(): void {
    const begin = (): void => {
      this.#parts.service.scheduler.runDue();
      if (this.#started === null) this.#guard(() => this.#start(null));
    };
    this.#initiation = setTimeout(() => setImmediate(begin), this.#parts.service.settings.sockets.initiationWaitMs);
    this.#initiation.unref();
  }

  receive(frame: string): void {
    this.#guard(() => {
      const message = this.#parts.readMessage(frame);
      if (message === null) return;
      if (message.type === 'conversation_initiation_client_data') {
        if (this.#started !== null)
          throw new ClientMistake('invalid_message', 'The conversation has begun: initiation data come first, or not at all.');
        this.#start(message);
        return;
      }
      if (this.#started === null) this.#start(null);
      if (this.#started !== null) this.#take(message, this.#started);
    });
  }

  disconnected(code: number): void {
    const left = code === 1000 || code === 1001;
    this.end({ reason: left ? endings.remote : endings.lost, code: 1000 });
  }

  #start(initiation: Initiation | null): void {
    clearTimeout(this.#initiation);
    const { service, admission } = this.#parts;
    const { clock, network, scheduler, settings, state } = service;
    const agent = state.agents.get(admission.agentId);
    if (agent === undefined) throw new ClientMistake('agent_not_found', 'The agent was deleted.');
    if (!network.hasFreeLine) throw new ClientMistake('concurrency_limit_exceeded', 'All lines of the plan are in use; try again later.');
    const now = clock.now();
    const call = createSocketCall(service, admission, agent, initiation);
    const config = configOf(call);
    const output = outputFormat(config);
    const input = inputFormat(config);
    const outbox = this.#outbox;
    const nextEventId = (): number => (this.#eventId += 1);
    const tools = new ClientTools({ clock, scheduler, outbox, nextEventId, withinMs: settings.sockets.toolWithinMs });
    const started: Started = {
      call,
      tools,
      agent: new AgentTurns({
        service,
        call,
        mind: socketResponderOf(call, settings, tools, this.#stopping.signal),
        outbox,
        format: output,
        nextEventId,
        spoken: (reply, at) => this.#guard(() => this.#agentSpoke(reply, at)),
        failed: (error) => this.fail(error),
      }),
      heartbeat: new Heartbeat({
        scheduler,
        outbox,
        settings: settings.sockets,
        nextEventId,
        dead: (at) => this.end({ reason: 'The client answered no ping.', code: 1002, errorType: 'pong_timeout', at }),
      }),
      audio: new UserAudio({
        scheduler,
        outbox,
        format: input,
        endOfSpeechMs: settings.sockets.endOfSpeechMs,
        nextEventId,
        began: (at) => this.#guard(() => this.#userBegins(at)),
        ended: (text, from, until) => this.#guard(() => this.#userSpoke(text, from, until)),
      }),
    };
    this.#started = started;
    state.conversations.add(call, now);
    network.connect(call, now);
    requireVariables(call);
    outbox.filter(eventFilter(config.conversation?.['client_events'], call.socket?.textOnly === true));
    outbox.send('conversation_initiation_metadata', {
      conversation_id: call.conversationId,
      agent_output_audio_format: output,
      user_input_audio_format: input,
    });
    started.heartbeat.start(now);
    this.#longest.set(now + maxDurationMs(config), (at) => this.end({ reason: endings.duration, code: 1000, at }));
    this.#patience.heardFrom(now);
    const { openingLine } = call;
    if (openingLine !== null && openingLine !== '') started.agent.say({ text: openingLine, ends: false }, now);
  }

  #take(message: Exclude<ClientMessage, Initiation>, started: Started): void {
    const { clock } = this.#parts.service;
    const { call, tools, heartbeat, audio } = started;
    const now = clock.now();
    if (message.type !== 'pong') this.#patience.heardFrom(now);
    switch (message.type) {
      case 'pong':
        heartbeat.answered(message.event_id, now);
        break;
      case 'user_message':
      case 'multimodal_message':
        this.#userBegins(now);
        this.#userSpoke(message.text, now, now);
        break;
      case 'user_audio_chunk':
        if (call.socket?.textOnly !== true) audio.hear(message.user_audio_chunk, now);
        break;
      case 'user_activity':
        this.#patience.userBegins();
        this.#waitForUser(now);
        break;
      case 'contextual_update':
        addContextualUpdate(call, { at: now, text: message.text, contextId: message.context_id ?? null });
        break;
      case 'feedback':
        addFeedback(call, { at: now, eventId: message.event_id ?? null, score: message.score });
        break;
      case 'client_tool_result':
        tools.answer(message.tool_call_id, message.result, message.is_error);
        break;
    }
  }

  #userBegins(at: number): void {
    this.#patience.userBegins();
    this.#started?.agent.interrupt(at);
  }

  #userSpoke(text: string, at: number, until: number): void {
    if (this.#started === null) return;
    addTurn(this.#started.call, { speaker: 'user', text, at, until });
    this.#started.agent.answer();
  }

  #agentSpoke(reply: AgentReply, at: number): void {
    if (reply.ends) this.end({ reason: endings.tool, code: 1000, at });
    else this.#waitForUser(at);
  }

  #waitForUser(at: number): void {
    const { call } = this.#started ?? {};
    if (call !== undefined && call.socket?.textOnly !== true) this.#patience.waitForUser(configOf(call), at);
  }

  #askAgain(at: number): void {
    const { call, agent, audio } = this.#started ?? {};
    if (call === undefined || agent === undefined || agent.busy || audio?.speaking === true) return;
    agent.say({ text: agentLines.canYouHear, ends: false }, at);
  }

  #giveUpReader(): void {
    this.end({ reason: 'The client reads too slowly.', code: 1002 });
    this.#parts.socket.terminate();
  }

  /** Keeps a failure in one conversation from reaching another. */
  #guard(work: () => void): void {
    if (this.#over) return;
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.end(endingFor(error));
  }

  end(ending: Ending): void {
    if (this.#over) return;
    this.#over = true;
    const { service, socket, over } = this.#parts;
    clearTimeout(this.#initiation);
    this.#longest.clear();
    this.#patience.stop();
    if (this.#started !== null) this.#endCall(this.#started, ending);
    this.#stopping.abort();
    if (ending.errorType !== undefined) this.#outbox.send('error', errorOf(ending));
    socket.close(ending.code, closeReason(ending));
    over(this);
    service.scheduler.runDue();
  }

  #endCall({ call, agent, tools, heartbeat, audio }: Started, { reason, at, brokeDown = false }: Ending): void {
    const { service } = this.#parts;
    const endedAt = at ?? service.clock.now();
    heartbeat.stop();
    audio.stop();
    agent.stop(endedAt);
    tools.stop();
    service.network.hangUp(call, { turns: call.live?.turns ?? [], endedAt, terminationReason: reason, brokeDown });
  }
}

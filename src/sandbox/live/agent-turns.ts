import { agentPitch, sound } from '../audio/tones.ts';
import type { AudioFormat } from '../schemas/agent-schemas.ts';
import type { AgentReply } from '../core/conversation/agent-mind.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { cutTurn, speakingMs } from '../core/state/talk.ts';
import type { Service } from '../core/service/service.ts';
import type { Call } from '../core/state/call.ts';
import { AudioStream } from './audio-stream.ts';
import type { Outbox } from './outbox.ts';
import { addTurn, changeTurn } from './socket-call.ts';
import type { SocketResponder, SocketReply } from './socket-mind.ts';
import { Timer } from './timer.ts';

interface Speaking {
  position: number;
  eventId: number;
  reply: AgentReply;
  at: number;
  until: number;
  stream: AudioStream | null;
}

export interface AgentTurnParts {
  service: Pick<Service, 'settings' | 'clock' | 'scheduler'>;
  call: Call;
  mind: SocketResponder;
  outbox: Outbox;
  format: AudioFormat;
  nextEventId: () => number;
  spoken: (reply: AgentReply, at: number) => void;
  failed: (error: unknown) => void;
}

/** The agent's side of a socket conversation. */
export class AgentTurns {
  readonly #parts: AgentTurnParts;
  readonly #textOnly: boolean;
  readonly #begin: Timer;
  readonly #end: Timer;
  #thinking = false;
  #outdated = false;
  #speaking: Speaking | null = null;
  #stopped = false;

  constructor(parts: AgentTurnParts) {
    this.#parts = parts;
    this.#textOnly = parts.call.socket?.textOnly === true;
    this.#begin = new Timer(parts.service.scheduler);
    this.#end = new Timer(parts.service.scheduler);
  }

  get busy(): boolean {
    return this.#thinking || this.#speaking !== null;
  }

  /** Answers the words so far; an answer in preparation is outdated. */
  answer(): void {
    if (this.#thinking) this.#outdated = true;
    else void this.#think();
  }

  say(reply: AgentReply, at: number): void {
    const { call, outbox, nextEventId } = this.#parts;
    const eventId = nextEventId();
    const { text, usage, tools } = reply;
    const until = this.#textOnly ? at : at + speakingMs(text);
    const position = addTurn(call, {
      speaker: 'agent',
      text,
      at,
      until,
      ...(usage === undefined ? {} : { usage }),
      ...(tools === undefined ? {} : { tools }),
    });
    for (const { name, toolCallId, isError } of tools ?? [])
      outbox.send('agent_tool_response', { tool_name: name, tool_call_id: toolCallId, is_error: isError });
    outbox.send('agent_response', { agent_response: text, event_id: eventId });
    this.#sendParts(text, eventId);
    if (this.#textOnly) {
      this.#parts.spoken(reply, at);
      return;
    }
    this.#play({ position, eventId, reply, at, until, stream: null });
  }

  /** The user speaks: the agent stops, and unheard words are taken back. */
  interrupt(at: number): void {
    this.#begin.clear();
    const speaking = this.#speaking;
    if (speaking === null) return;
    const heardText = this.#cutOff(speaking, at);
    const { outbox } = this.#parts;
    outbox.send('interruption', { event_id: speaking.eventId });
    outbox.send('agent_response_correction', {
      original_agent_response: speaking.reply.text,
      corrected_agent_response: heardText,
      event_id: speaking.eventId,
    });
  }

  stop(at: number): void {
    this.#stopped = true;
    this.#begin.clear();
    if (this.#speaking !== null) this.#cutOff(this.#speaking, at);
  }

  #cutOff(speaking: Speaking, at: number): string {
    speaking.stream?.stop();
    this.#end.clear();
    this.#speaking = null;
    const { call } = this.#parts;
    const { text } = speaking.reply;
    const cut = cutTurn({ speaker: 'agent', text, at: speaking.at, until: speaking.until }, at);
    if (at < speaking.until) changeTurn(call, speaking.position, cut);
    return cut.text;
  }

  async #think(): Promise<void> {
    const { call, mind, failed } = this.#parts;
    this.#thinking = true;
    try {
      let reply: SocketReply;
      do {
        this.#outdated = false;
        reply = await mind.reply(call.live?.turns ?? []);
      } while (this.#outdated && !this.#stopped);
      this.#thinking = false;
      if (!this.#stopped) this.#sayAfterPause(reply);
    } catch (error) {
      this.#thinking = false;
      if (!this.#stopped) failed(error);
    }
  }

  #sayAfterPause(reply: SocketReply): void {
    const { settings, clock } = this.#parts.service;
    const now = clock.now();
    if (reply.pauseMs === 0 || this.#textOnly || settings.sockets.pacing === 'fast') this.say(reply, now);
    else this.#begin.set(now + reply.pauseMs, (at) => this.say(reply, at));
  }

  #sendParts(text: string, eventId: number): void {
    const { outbox } = this.#parts;
    if (!outbox.wants('agent_chat_response_part')) return;
    const send = (part: string, type: 'start' | 'delta' | 'stop'): void =>
      outbox.send('agent_chat_response_part', { text: part, type, event_id: eventId });
    send('', 'start');
    for (const word of text.match(/\S+\s*/g) ?? []) send(word, 'delta');
    send('', 'stop');
  }

  #play(speaking: Speaking): void {
    this.#speaking = speaking;
    const { service, call, outbox, format } = this.#parts;
    const { clock, scheduler, settings } = service;
    const { reply, eventId, at, until } = speaking;
    if (outbox.wants('audio')) {
      const audio = sound(reply.text, agentPitch(configOf(call).tts?.voice_id ?? ''), format);
      const turn = { text: reply.text, audio, format, eventId, startAt: at };
      speaking.stream = new AudioStream(turn, { outbox, clock, scheduler, pacing: settings.sockets.pacing });
      speaking.stream.start();
    }
    this.#end.set(until, (when) => {
      this.#speaking = null;
      this.#parts.spoken(reply, when);
    });
  }
}

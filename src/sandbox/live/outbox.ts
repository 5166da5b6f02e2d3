import type { WebSocket } from 'ws';
import type { AudioFormat } from '../schemas/agent-schemas.ts';
import { ModelUnavailable } from '../core/conversation/agent-mind.ts';
import { ownFailure } from '../http/error-replies.ts';
import { ServiceError } from '../core/service-error.ts';
import { ClientMistake } from './client-messages.ts';

/** When each character is heard, ms from the start of the piece. */
export interface Alignment {
  chars: string[];
  char_start_times_ms: number[];
  char_durations_ms: number[];
}

/** Service events by type, in the shapes of gaps A.9. */
export interface ServerEvents {
  conversation_initiation_metadata: {
    conversation_id: string;
    agent_output_audio_format: AudioFormat;
    user_input_audio_format: AudioFormat;
  };
  audio: { audio_base_64: string; event_id: number; alignment: Alignment };
  agent_response: { agent_response: string; event_id: number };
  agent_response_correction: { original_agent_response: string; corrected_agent_response: string; event_id: number };
  agent_chat_response_part: { text: string; type: 'start' | 'delta' | 'stop'; event_id: number };
  agent_tool_response: { tool_name: string; tool_call_id: string; is_error: boolean };
  user_transcript: { user_transcript: string; event_id: number };
  interruption: { event_id: number };
  /** `ping_ms`: duration of the last answered ping; null before one. */
  ping: { event_id: number; ping_ms: number | null };
  vad_score: { vad_score: number };
  client_tool_call: { tool_name: string; tool_call_id: string; parameters: Record<string, unknown>; event_id: number };
  error: { code: number; error_type: string; message: string; reason: string };
}

export type ServerEventType = keyof ServerEvents;

/** Field that holds an event's facts, if not its type plus `_event`. */
const otherFields: Readonly<Partial<Record<ServerEventType, string>>> = {
  agent_chat_response_part: 'text_response_part',
  agent_tool_response: 'agent_tool_response',
  user_transcript: 'user_transcription_event',
  client_tool_call: 'client_tool_call',
};

export function serverEvent<Type extends ServerEventType>(type: Type, facts: ServerEvents[Type]): string {
  return JSON.stringify({ type, [otherFields[type] ?? `${type}_event`]: facts });
}

/** Sent regardless of the agent's `client_events`: conversations need them. */
const alwaysSent: readonly string[] = ['conversation_initiation_metadata', 'ping', 'client_tool_call', 'error'];
const sentByDefault: readonly string[] = ['audio', 'interruption', 'agent_response', 'agent_response_correction', 'user_transcript'];

/** Filters events by the agent's `conversation.client_events`, if set. */
export function eventFilter(clientEvents: unknown, textOnly: boolean): (type: ServerEventType) => boolean {
  const listed: readonly unknown[] = Array.isArray(clientEvents)
    ? clientEvents
    : [...sentByDefault, ...(textOnly ? ['agent_chat_response_part'] : [])];
  return (type) => alwaysSent.includes(type) || listed.includes(type);
}

/** Most stream data handed to the connection ahead of the client. */
const streamAheadBytes = 256 * 1024;

/** Buffers unread data up to a limit, then drops the client. */
export class Outbox {
  readonly #socket: WebSocket;
  readonly #maxUnsentBytes: number;
  readonly #giveUp: () => void;
  #wants: (type: ServerEventType) => boolean = () => true;
  #givenUp = false;

  constructor(socket: WebSocket, maxUnsentBytes: number, giveUp: () => void) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
    this.#giveUp = giveUp;
  }

  /** From now on drops events that the agent's settings leave out. */
  filter(wants: (type: ServerEventType) => boolean): void {
    this.#wants = wants;
  }

  wants(type: ServerEventType): boolean {
    return this.#wants(type);
  }

  /** `sent` runs once the connection has taken the event, possibly never. */
  send<Type extends ServerEventType>(type: Type, facts: ServerEvents[Type], sent?: () => void): void {
    if (!this.#wants(type) || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#socket.send(serverEvent(type, facts), () => sent?.());
    if (this.#socket.bufferedAmount <= this.#maxUnsentBytes || this.#givenUp) return;
    this.#givenUp = true;
    this.#giveUp();
  }

  get takesMore(): boolean {
    return this.#socket.bufferedAmount < Math.min(streamAheadBytes, this.#maxUnsentBytes / 2);
  }
}

export interface Ending {
  reason: string;
  code: number;
  errorType?: string | undefined;
  brokeDown?: boolean;
  at?: number;
}

/** Gaps A.9: 1008 for a client's mistake, 1002 for a failing model, 1011 for the sandbox's own fault. */
export function endingFor(error: unknown): Ending {
  if (error instanceof ClientMistake) {
    const { message: reason, kind } = error;
    return { reason, code: 1008, errorType: kind, brokeDown: kind === 'missing_dynamic_variable' };
  }
  if (error instanceof ServiceError) return { reason: error.message, code: 1008, errorType: error.facts.code };
  if (error instanceof ModelUnavailable) {
    const { message: reason } = error;
    const errorType = /^\w+(?=:)/.exec(reason)?.[0] ?? 'custom_llm_error';
    return { reason, code: 1002, errorType, brokeDown: true };
  }
  const { message: reason, facts } = ownFailure(error);
  return { reason, code: 1011, errorType: facts.code, brokeDown: true };
}

/** A close frame holds 123 bytes. */
export function closeReason({ reason, errorType }: Ending): string {
  const text = errorType ?? reason;
  return Buffer.from(text)
    .subarray(0, 120)
    .toString()
    .replace(/\uFFFD$/, '');
}

export function errorOf(ending: Ending): ServerEvents['error'] {
  const errorType = closeReason(ending);
  return { code: ending.code, error_type: errorType, message: ending.reason, reason: errorType };
}

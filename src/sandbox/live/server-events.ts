import type { AudioFormat } from '../core/audio-format.ts';

/** What the service tells a client, in the shapes of gaps A.9. */
export type ServerEvent = { type: ServerEventType } & Record<string, unknown>;

export type ServerEventType =
  | 'conversation_initiation_metadata'
  | 'audio'
  | 'agent_response'
  | 'agent_response_correction'
  | 'agent_chat_response_part'
  | 'agent_tool_response'
  | 'user_transcript'
  | 'interruption'
  | 'ping'
  | 'vad_score'
  | 'client_tool_call'
  | 'error';

/** Sent whatever an agent's `client_events` say: without them a conversation cannot be held. */
const alwaysSent: readonly string[] = ['conversation_initiation_metadata', 'ping', 'client_tool_call', 'error'];
const sentByDefault: readonly string[] = [
  'audio',
  'interruption',
  'agent_response',
  'agent_response_correction',
  'user_transcript',
];

/** Which events a client gets: `conversation.client_events` of the agent, where it has any. */
export function eventFilter(clientEvents: unknown, textOnly: boolean): (type: ServerEventType) => boolean {
  const listed: readonly unknown[] = Array.isArray(clientEvents)
    ? clientEvents
    : [...sentByDefault, ...(textOnly ? ['agent_chat_response_part'] : [])];
  return (type) => alwaysSent.includes(type) || listed.includes(type);
}

export function initiationMetadata(conversationId: string, output: AudioFormat, input: AudioFormat): ServerEvent {
  return {
    type: 'conversation_initiation_metadata',
    conversation_initiation_metadata_event: {
      conversation_id: conversationId,
      agent_output_audio_format: output,
      user_input_audio_format: input,
    },
  };
}

/** When each character is heard, milliseconds from the start of the piece. */
export interface Alignment {
  chars: string[];
  char_start_times_ms: number[];
  char_durations_ms: number[];
}

export function audioEvent(audio: Buffer, eventId: number, alignment: Alignment): ServerEvent {
  return { type: 'audio', audio_event: { audio_base_64: audio.toString('base64'), event_id: eventId, alignment } };
}

export function agentResponse(text: string, eventId: number): ServerEvent {
  return { type: 'agent_response', agent_response_event: { agent_response: text, event_id: eventId } };
}

export function agentResponseCorrection(original: string, corrected: string, eventId: number): ServerEvent {
  return {
    type: 'agent_response_correction',
    agent_response_correction_event: {
      original_agent_response: original,
      corrected_agent_response: corrected,
      event_id: eventId,
    },
  };
}

export function chatResponsePart(text: string, type: 'start' | 'delta' | 'stop', eventId: number): ServerEvent {
  return { type: 'agent_chat_response_part', text_response_part: { text, type, event_id: eventId } };
}

export function agentToolResponse(name: string, toolCallId: string, isError: boolean): ServerEvent {
  return {
    type: 'agent_tool_response',
    agent_tool_response: { tool_name: name, tool_call_id: toolCallId, is_error: isError },
  };
}

export function userTranscript(text: string, eventId: number): ServerEvent {
  return { type: 'user_transcript', user_transcription_event: { user_transcript: text, event_id: eventId } };
}

export function interruption(eventId: number): ServerEvent {
  return { type: 'interruption', interruption_event: { event_id: eventId } };
}

/** `pingMs` is how long the last answered ping took; null before there is one. */
export function ping(eventId: number, pingMs: number | null): ServerEvent {
  return { type: 'ping', ping_event: { event_id: eventId, ping_ms: pingMs } };
}

export function vadScore(score: number): ServerEvent {
  return { type: 'vad_score', vad_score_event: { vad_score: score } };
}

export function clientToolCall(
  name: string,
  toolCallId: string,
  parameters: Record<string, unknown>,
  eventId: number,
): ServerEvent {
  return {
    type: 'client_tool_call',
    client_tool_call: { tool_name: name, tool_call_id: toolCallId, parameters, event_id: eventId },
  };
}

export function errorEvent(code: number, errorType: string, message: string): ServerEvent {
  return { type: 'error', error_event: { code, error_type: errorType, message, reason: errorType } };
}

/** Defaults of socket conversations. Ms of service time unless noted. */
export const defaultSocketSettings = {
  /** Sends agent audio in real time, or as fast as the client takes it. */
  pacing: 'realtime' as 'realtime' | 'fast',
  /** Real ms to wait for the client's first message before starting without it. */
  initiationWaitMs: 5_000,
  pingEveryMs: 10_000,
  /** A ping unanswered for this long means a dead connection. */
  pongWithinMs: 20_000,
  /** Without any message but pongs for this long, the conversation ends. */
  noInputMs: 60_000,
  /** Default time limit of a client tool. */
  toolWithinMs: 20_000,
  /** Silence after which a speaker has finished. */
  endOfSpeechMs: 700,
  maxFrameBytes: 1024 * 1024,
  /** Disconnects a client with more unread bytes than this. */
  maxUnsentBytes: 4 * 1024 * 1024,
  /** Per second of the machine's time. */
  maxMessagesPerSecond: 500,
};

export type SocketSettings = typeof defaultSocketSettings;

export interface LiveKitSettings {
  apiKey: string;
  apiSecret: string;
}

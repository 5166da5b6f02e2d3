/** How conversations over sockets behave, by default. Milliseconds are service time where nothing else is said. */
export const defaultSocketSettings = {
  /** The agent's audio is sent as it would be heard, or as fast as it is taken. */
  pacing: 'realtime' as 'realtime' | 'fast',
  /** How long a connection waits for the client's first message before the conversation starts without it. Real time. */
  initiationWaitMs: 5_000,
  pingEveryMs: 10_000,
  /** Without an answer to a ping for this long the connection counts as dead. */
  pongWithinMs: 20_000,
  /** Without any message but pongs for this long the conversation ends. */
  noInputMs: 60_000,
  /** How long a client may take with a tool that does not say so itself. */
  toolWithinMs: 20_000,
  /** Silence after which somebody who spoke has finished. */
  endOfSpeechMs: 700,
  maxFrameBytes: 1024 * 1024,
  /** A client that reads so slowly that more than this waits for it is cut off. */
  maxUnsentBytes: 4 * 1024 * 1024,
  /** In one second of the machine's time. */
  maxMessagesPerSecond: 500,
};

export type SocketSettings = typeof defaultSocketSettings;

export interface LiveKitSettings {
  apiKey: string;
  apiSecret: string;
}

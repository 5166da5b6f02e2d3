/** How conversations over sockets behave. Milliseconds are service time. */
export interface SocketSettings {
  /** The agent's audio is sent as it would be heard, or as fast as it is taken. Default realtime. */
  pacing: 'realtime' | 'fast';
  /** How long a connection waits for the client's first message before the conversation starts without it. Default 2,000. */
  initiationWaitMs: number;
  /** Default 10,000. */
  pingEveryMs: number;
  /** Without an answer to a ping for this long the connection counts as dead. Default 20,000. */
  pongWithinMs: number;
  /** Without any message but pongs for this long the conversation ends. Default 60,000. */
  noInputMs: number;
  /** How long a client may take with a tool that does not say so itself. Default 20,000. */
  toolWithinMs: number;
  /** Silence after which somebody who spoke has finished. Default 700. */
  endOfSpeechMs: number;
  /** Default 1,048,576. */
  maxFrameBytes: number;
  /** A client that reads so slowly that more than this waits for it is cut off. Default 4,194,304. */
  maxUnsentBytes: number;
  /** In one second of the machine's time. Default 500. */
  maxMessagesPerSecond: number;
}

export const defaultSocketSettings: SocketSettings = {
  pacing: 'realtime',
  initiationWaitMs: 2_000,
  pingEveryMs: 10_000,
  pongWithinMs: 20_000,
  noInputMs: 60_000,
  toolWithinMs: 20_000,
  endOfSpeechMs: 700,
  maxFrameBytes: 1024 * 1024,
  maxUnsentBytes: 4 * 1024 * 1024,
  maxMessagesPerSecond: 500,
};

/** Key, secret and address of a LiveKit server whose tokens are issued. */
export interface LiveKitSettings {
  apiKey: string;
  apiSecret: string;
  /** Told to clients; the sandbox itself never connects to it. */
  url?: string | undefined;
}

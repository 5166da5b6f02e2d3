/** What is known of the place where something is done: a command has its terminal's, a server its own. */
export interface Surroundings {
  /** What to give to `readConfig`; undefined for the environment of this process. */
  env: NodeJS.ProcessEnv | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** Words to whoever asked: hints, and what went wrong beside the thing itself. */
  stderr: NodeJS.WritableStream;
}

/** How long and how much is waited for from a model behind an address. Real milliseconds: the model is real, whatever the clock. */
export interface ModelLimits {
  /** Until the connection stands. Default 5,000. */
  connectMs: number;
  /** From the question to the first word (gaps A.11). Default 20,000; shorter where a backup model waits. */
  firstTokenMs: number;
  /** Between two words. Default 10,000. */
  idleMs: number;
  /** From the question to the last word. Default 60,000. */
  wholeMs: number;
  /** Default 1 MiB. */
  answerBytes: number;
}

export const defaultModelLimits: ModelLimits = {
  connectMs: 5_000,
  firstTokenMs: 20_000,
  idleMs: 10_000,
  wholeMs: 60_000,
  answerBytes: 1_048_576,
};

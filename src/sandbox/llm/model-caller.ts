import type { Outbound } from '../core/allowed-host.ts';
import type { Clock } from '../core/clock/clock.ts';
import { ChatCompletions, type ModelQuestion } from './chat-completions.ts';
import type { Completion } from './completion.ts';
import { ModelFailure, completionsAddress, showAddress, redactSecrets } from './outbound.ts';
import type { ModelLimits } from '../core/settings/connection-settings.ts';
import type { ModelRequestLog } from './model-requests.ts';

export interface AnsweredQuestion {
  completion: Completion;
  /** Real milliseconds. */
  firstTokenMs: number;
}

/** Asks models and keeps a record of it, for the owner of a model to look at. */
export class ModelCaller {
  readonly #completions: ChatCompletions;
  readonly #log: ModelRequestLog;
  readonly #clock: Clock;

  constructor(log: ModelRequestLog, clock: Clock, limits: ModelLimits, outbound: Outbound) {
    this.#completions = new ChatCompletions(limits, outbound);
    this.#log = log;
    this.#clock = clock;
  }

  /** Throws `ModelFailure`. */
  async ask(question: ModelQuestion, conversationId: string): Promise<AnsweredQuestion> {
    const clean = (text: string): string => redactSecrets(text, question.headers);
    const entry = this.#log.begin({
      conversationId,
      at: this.#clock.now(),
      address: showAddress(URL.canParse(question.url) ? completionsAddress(question.url) : question.url),
      headerNames: Object.keys(question.headers),
      request: clean(JSON.stringify(question.body)),
    });
    try {
      const completion = cleanCompletion(await this.#completions.ask(question, entry), clean);
      entry.answer = completion;
      return { completion, firstTokenMs: entry.firstTokenMs ?? 0 };
    } catch (error) {
      if (!(error instanceof ModelFailure)) throw error;
      entry.failure = { code: error.code, message: clean(error.message) };
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#completions.close();
  }
}

function cleanCompletion(completion: Completion, clean: (text: string) => string): Completion {
  return {
    ...completion,
    text: clean(completion.text),
    tools: completion.tools.map((tool) => ({
      ...tool,
      argumentsText: clean(tool.argumentsText),
      parameters: tool.parameters === null ? null : (JSON.parse(clean(JSON.stringify(tool.parameters))) as Record<string, unknown>),
    })),
  };
}

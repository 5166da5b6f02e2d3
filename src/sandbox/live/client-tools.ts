import type { AgentTool, ToolResult, ToolRunner } from '../llm/model-tools.ts';
import type { Clock } from '../core/clock/clock.ts';
import type { Scheduler } from '../core/clock/scheduler.ts';
import type { Outbox } from './outbox.ts';
import { Timer } from './timer.ts';

interface ClientToolParts {
  clock: Clock;
  scheduler: Scheduler;
  outbox: Outbox;
  nextEventId: () => number;
  /** For a tool that does not say itself how long it may take, milliseconds of service time. */
  withinMs: number;
  /** Runs the tools that are not the client's. */
  others: ToolRunner;
}

const longestResult = 20_000;

/** Tools that the client runs: it is asked over the socket, and its answer waited for. */
export class ClientTools {
  readonly #parts: ClientToolParts;
  readonly #open = new Map<string, (result: ToolResult) => void>();
  #count = 0;

  constructor(parts: ClientToolParts) {
    this.#parts = parts;
  }

  readonly run: ToolRunner = async (tool, parameters, signal) => {
    if (tool.type !== 'client') return this.#parts.others(tool, parameters, signal);
    return this.ask(tool, `tool_${(this.#count += 1)}`, parameters);
  };

  /** Never rejects. */
  async ask(tool: AgentTool, toolCallId: string, parameters: Record<string, unknown>): Promise<ToolResult> {
    const { clock, scheduler, outbox, nextEventId, withinMs } = this.#parts;
    const call = { tool_name: tool.name, tool_call_id: toolCallId, parameters, event_id: nextEventId() };
    if (tool.expects_response === false) {
      outbox.send('client_tool_call', call);
      return { text: 'The client was asked and answers nothing.', isError: false };
    }
    const limitMs = tool.response_timeout_secs == null ? withinMs : tool.response_timeout_secs * 1_000;
    return new Promise((resolve) => {
      const timer = new Timer(scheduler);
      const settle = (result: ToolResult): void => {
        timer.clear();
        this.#open.delete(toolCallId);
        resolve(result);
      };
      this.#open.set(toolCallId, settle);
      timer.set(clock.now() + limitMs, () =>
        settle({ text: `${tool.name} gave no result within ${limitMs / 1000} seconds.`, isError: true }),
      );
      outbox.send('client_tool_call', call);
    });
  }

  /** A result that nobody waits for, because it is late or was given before, changes nothing. */
  answer(toolCallId: string, result: unknown, isError: boolean): void {
    const text = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    this.#open.get(toolCallId)?.({ text: text.slice(0, longestResult), isError });
  }

  /** The client is gone. */
  stop(): void {
    for (const settle of this.#open.values()) settle({ text: 'The client has gone.', isError: true });
  }
}

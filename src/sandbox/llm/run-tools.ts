import type { Outbound } from '../core/allowed-host.ts';
import { requireAllowed, redactSecrets, sendableHeaders } from './outbound.ts';
import { ModelFailure } from './model-failure.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { ToolResult, ToolRunner } from './model-tools.ts';

/** Tools of a conversation by phone: those with an address are called, and there is no client that could run any other. */
export function createPhoneTools({ outbound, modelLimits }: SandboxSettings): ToolRunner {
  return async (tool, parameters, signal) => {
    const { type, name, api_schema: api, response_timeout_secs: seconds } = tool;
    const url = api?.url ?? tool.url;
    if (type === 'webhook' && url != null) {
      const timeoutMs = seconds == null ? modelLimits.firstTokenMs : seconds * 1_000;
      return callWebhookTool({ url, headers: api?.request_headers ?? {}, parameters, timeoutMs, outbound, signal });
    }
    if (type === 'system') return { text: `The sandbox does not have the system tool ${name}.`, isError: true };
    return { text: `A call by phone has no client that could run ${name}.`, isError: true };
  };
}

export interface WebhookToolCall {
  url: string;
  /** Secrets: sent, and never shown. */
  headers: Readonly<Record<string, string>>;
  parameters: Record<string, unknown>;
  timeoutMs: number;
  outbound: Outbound;
  signal: AbortSignal;
}

const longestResult = 8_192;

/** Posts the parameters to a tool's address and gives back what it answers, at most 8,192 characters. Never rejects. */
export async function callWebhookTool(call: WebhookToolCall): Promise<ToolResult> {
  try {
    requireAllowed(call.url, call.outbound);
    const { request } = await import('undici');
    const answer = await request(call.url, {
      method: 'POST',
      headers: { ...sendableHeaders(call.headers), 'content-type': 'application/json', 'accept-encoding': 'identity' },
      body: JSON.stringify(call.parameters),
      signal: AbortSignal.any([call.signal, AbortSignal.timeout(call.timeoutMs)]),
    });
    // A body that is given up tells so by an error event, which nobody else hears.
    answer.body.on('error', () => undefined);
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.length > longestResult) break;
    }
    const shown = redactSecrets(text.slice(0, longestResult), call.headers);
    if (answer.statusCode >= 200 && answer.statusCode < 300) return { text: shown, isError: false };
    return { text: `The tool answered HTTP ${answer.statusCode}.`, isError: true };
  } catch (error) {
    return { text: `The tool could not be used: ${reason(error, call.timeoutMs)}.`, isError: true };
  }
}

function reason(error: unknown, timeoutMs: number): string {
  if (error instanceof ModelFailure) return error.message;
  if (!(error instanceof Error)) return 'unknown error';
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`;
  if (error.name === 'AbortError') return 'the conversation is over';
  return 'code' in error && typeof error.code === 'string' ? error.code : 'the connection failed';
}

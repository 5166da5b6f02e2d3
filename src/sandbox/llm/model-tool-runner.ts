import { callWebhookTool } from './webhook-tool.ts';
import type { SandboxSettings } from '../core/settings/settings.ts';
import type { ToolRunner } from './model-tools.ts';

/** Tools of a conversation by phone: those with an address are called, and there is no client that could run any other. */
export function createPhoneTools(settings: Pick<SandboxSettings, 'outbound' | 'modelLimits'>): ToolRunner {
  return {
    run: async (tool, parameters, signal) => {
      const url = tool.api_schema?.url ?? tool.url;
      if (tool.type === 'webhook' && url != null) {
        return callWebhookTool({
          url,
          headers: tool.api_schema?.request_headers ?? {},
          parameters,
          timeoutMs:
            tool.response_timeout_secs == null ? settings.modelLimits.firstTokenMs : tool.response_timeout_secs * 1_000,
          outbound: settings.outbound,
          signal,
        });
      }
      if (tool.type === 'system')
        return { text: `The sandbox does not have the system tool ${tool.name}.`, isError: true };
      return { text: `A call by phone has no client that could run ${tool.name}.`, isError: true };
    },
  };
}

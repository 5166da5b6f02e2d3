import { z } from 'zod';
import type { ChatTool } from './messages.ts';
import type { ConversationConfig } from '../schemas/agent-schemas.ts';

/** The tool with which a model ends a conversation. Every model has it. */
export const endCall = 'end_call';

const freeForm = z.record(z.string(), z.unknown());

/** What is read of a tool of an agent; whatever else stands there is kept and not looked at. */
const agentTool = z.looseObject({
  type: z.enum(['webhook', 'client', 'system']).catch('client'),
  name: z.string().min(1),
  description: z.string().catch(''),
  parameters: freeForm.nullish().catch(null),
  url: z.string().nullish(),
  response_timeout_secs: z.number().min(1).max(120).nullish().catch(null),
  api_schema: z
    .looseObject({
      url: z.string().nullish(),
      method: z.string().nullish(),
      request_headers: z.record(z.string(), z.string()).nullish().catch(null),
      request_body_schema: freeForm.nullish().catch(null),
    })
    .nullish()
    .catch(null),
});
export type AgentTool = z.infer<typeof agentTool>;

/** Gives a model's use of a tool its result. Never rejects: what goes wrong is a result too. */
export type ToolRunner = (tool: AgentTool, parameters: Record<string, unknown>, signal: AbortSignal) => Promise<ToolResult>;

export interface ToolResult {
  text: string;
  isError: boolean;
}

export function toolsOf(config: ConversationConfig): AgentTool[] {
  const tools: unknown = (config.agent?.prompt as { tools?: unknown } | undefined)?.tools;
  if (!Array.isArray(tools)) return [];
  return tools.map((tool) => agentTool.safeParse(tool).data).filter((tool) => tool !== undefined);
}

/** What a model is told about its tools: those of the agent, and `end_call`. */
export function describeTools(tools: readonly AgentTool[]): ChatTool[] {
  const own = tools.filter(({ name }) => name !== endCall);
  return [
    describe(endCall, 'Ends the conversation. Say goodbye in `message`, and why it ends in `reason`.', {
      type: 'object',
      properties: { reason: { type: 'string' }, message: { type: 'string' } },
      required: [],
    }),
    ...own.map((tool) =>
      describe(tool.name, tool.description, tool.api_schema?.request_body_schema ?? tool.parameters ?? { type: 'object', properties: {} }),
    ),
  ];
}

function describe(name: string, description: string, parameters: Record<string, unknown>): ChatTool {
  return { type: 'function', function: { name, description, parameters } };
}

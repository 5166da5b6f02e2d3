import type { ConversationConfig } from '../schemas/agent-schemas.ts';
import type { CallVariables } from '../schemas/request-schemas.ts';

/** What the agent says first in a call: the call's own line, else the agent's, with `{{name}}` filled in where a value was sent. */
export function renderOpeningLine(
  config: ConversationConfig,
  override: ConversationConfig | undefined,
  variables: CallVariables,
): string {
  const line = override?.agent?.first_message ?? config.agent?.first_message ?? 'Hello.';
  return line.replaceAll(/\{\{\s*([\w.-]+)\s*\}\}/g, (placeholder, name: string) =>
    Object.hasOwn(variables, name) ? String(variables[name]) : placeholder,
  );
}

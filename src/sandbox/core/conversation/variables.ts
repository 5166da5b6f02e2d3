import type { CallVariables } from '../../schemas/request-schemas.ts';
import type { Call } from '../state/call.ts';
import { configOf, innerSettings } from './call-config.ts';

const placeholder = /\{\{\s*([\w.-]+)\s*\}\}/g;

/** Replaces `{{name}}` where a value is known; anything else stays as it is. */
export function fillIn(text: string, variables: () => CallVariables): string {
  if (!text.includes('{{')) return text;
  const values = variables();
  return text.replaceAll(placeholder, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/**
 * What `{{name}}` stands for in a call: the agent's own defaults, then what was sent with the call, then the service's
 * `system__` names (gaps A.4), which nobody else can set.
 */
export function variablesOf(call: Call): CallVariables {
  return { ...defaultsOf(call), ...call.variables, ...systemVariables(call) };
}

function defaultsOf({ agent, override }: Call): CallVariables {
  return {
    ...placeholdersOf(innerSettings(agent?.config).agent?.dynamic_variables),
    ...placeholdersOf(innerSettings(override).agent?.dynamic_variables),
  };
}

function placeholdersOf(given: Record<string, unknown> | null | undefined): CallVariables {
  const placeholders = given?.['dynamic_variable_placeholders'];
  if (typeof placeholders !== 'object' || placeholders === null) return {};
  const values: CallVariables = {};
  for (const [name, value] of Object.entries(placeholders as Record<string, unknown>))
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') values[name] = value;
  return values;
}

function systemVariables(call: Call): CallVariables {
  const outbound = call.direction === 'outbound';
  const own = call.agentNumber ?? '';
  return {
    system__agent_id: call.agentId,
    system__conversation_id: call.conversationId,
    system__caller_id: outbound ? own : call.to,
    system__called_number: outbound ? call.to : own,
    system__call_duration_secs: 0,
    system__time_utc: new Date(call.dialedAt ?? call.acceptedAt).toISOString(),
  };
}

/** The system prompt of a call, with its variables filled in; those named `secret__…` are told to nobody (gaps A.4). */
export function promptOf(call: Call): string {
  return fillIn(configOf(call).agent?.prompt?.prompt ?? '', () =>
    Object.fromEntries(Object.entries(variablesOf(call)).filter(([name]) => !name.startsWith('secret__'))),
  );
}

/** What the agent says first in a call: the call's own line, else the agent's, with `{{name}}` filled in where a value is known. */
export function renderOpeningLine(call: Call): string {
  const line = call.override?.agent?.first_message ?? call.agent?.config.agent?.first_message ?? 'Hello.';
  return fillIn(line, () => variablesOf(call));
}

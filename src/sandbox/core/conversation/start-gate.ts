import type { Call } from '../state/call.ts';
import { missingVariables } from './call-config.ts';

/** Upstream's close code for a conversation that broke its start rules. */
export const startRefusedCode = 1008;

type Fields = Record<string, unknown>;

/** Why a conversation may not begin, by upstream's rules; null when it may. */
export function whyNotStarted(call: Call): string | null {
  const permitted = fieldsOf(fieldsOf(call.agent?.platform)['overrides']);
  const refused = [
    ...notPermitted(call.override ?? {}, permitted['conversation_config_override'], []),
    ...(call.modelExtraBody === undefined || permitted['custom_llm_extra_body'] === true ? [] : ['custom_llm_extra_body']),
    ...Object.keys(clientFlags).filter((field) => {
      const flag = clientFlags[field];
      return flag !== undefined && call.clientData?.[field] !== undefined && permitted[flag] !== true;
    }),
  ];
  const [field] = refused;
  if (field !== undefined) return `Override for field '${field}' is not allowed by config.`;
  const missing = missingVariables(call);
  return missing.length === 0 ? null : `Missing required dynamic variables: ${missing.join(', ')}.`;
}

const clientFlags: Readonly<Record<string, string>> = {
  starting_workflow_node_id: 'enable_starting_workflow_node_id_from_client',
  procedure_ids: 'enable_procedure_ids_from_client',
  start_procedure_ids: 'enable_procedure_ids_from_client',
};

/** Paths of override fields that the agent does not permit with `true`. */
function notPermitted(override: object, permitted: unknown, path: readonly string[]): string[] {
  return Object.entries(override as Fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const place = [...path, name];
    const { [name]: permission } = fieldsOf(permitted);
    if (typeof value === 'object' && !Array.isArray(value)) return notPermitted(value, permission, place);
    return permission === true ? [] : [place.join('.')];
  });
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

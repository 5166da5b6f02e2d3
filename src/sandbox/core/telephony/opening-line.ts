import { fillIn, variablesOf } from '../conversation/variables.ts';
import type { Call } from '../state/call.ts';

/** What the agent says first in a call: the call's own line, else the agent's, with `{{name}}` filled in where a value is known. */
export function renderOpeningLine(call: Call): string {
  const line = call.override?.agent?.first_message ?? call.agent?.config.agent?.first_message ?? 'Hello.';
  return fillIn(line, () => variablesOf(call));
}

import type { Call } from '../core/state/call.ts';
import { configOf } from '../core/conversation/call-config.ts';
import { fillIn, variablesOf } from '../core/conversation/variables.ts';

/** The prompt of a call as a model gets it: variables named `secret__…` stay unfilled, for no model is told them (gaps A.4). */
export function promptForModel(call: Call): string {
  const prompt = fillIn(configOf(call).agent?.prompt?.prompt ?? '', () =>
    Object.fromEntries(Object.entries(variablesOf(call)).filter(([name]) => !name.startsWith('secret__'))),
  );
  return [prompt, ...contextOf(call)].filter((part) => part !== '').join('\n\n');
}

/** What the client told beside the conversation (gaps A.9: `contextual_update`); of several under one id the last counts. */
function contextOf({ socket }: Call): string[] {
  const updates = socket?.contextualUpdates ?? [];
  return updates
    .filter(({ contextId }, index) => {
      return contextId === null || updates.findLastIndex((other) => other.contextId === contextId) === index;
    })
    .map(({ text }) => `Context: ${text}`);
}

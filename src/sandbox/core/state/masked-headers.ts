import { concealed } from '../../schemas/conceal.ts';
import type { ConversationConfig } from '../../schemas/agent-schemas.ts';
import { refuseField } from '../../schemas/validate.ts';

interface HeaderChange {
  agent?: { llm?: { custom_llm?: { extra_headers?: Record<string, string | null> | null } | null } | null } | null;
}

/**
 * A change in which header values that look as reads show them are left out, so that those kept stay: what was read can be sent back.
 * Throws `InvalidRequest` where none is kept.
 */
export function keepMasked(kept: ConversationConfig, change: object | null | undefined): object | null | undefined {
  const { agent } = (change ?? {}) as HeaderChange;
  const headers = agent?.llm?.custom_llm?.extra_headers;
  if (headers == null) return change;
  const keptHeaders = kept.agent?.llm?.custom_llm?.extra_headers ?? {};
  const masked = Object.keys(headers).filter((name) => headers[name] === concealed);
  const unknown = masked.find((name) => !Object.hasOwn(keptHeaders, name));
  if (unknown !== undefined) {
    const loc = ['body', 'conversation_config', 'agent', 'llm', 'custom_llm', 'extra_headers', unknown];
    throw refuseField(
      loc,
      `"${concealed}" stands for a value that is kept, and none is; send the value itself.`,
      'masked_value',
    );
  }
  const rest = Object.fromEntries(Object.entries(headers).filter(([name]) => !masked.includes(name)));
  const customLlm = { ...agent?.llm?.custom_llm, extra_headers: rest };
  return { ...change, agent: { ...agent, llm: { ...agent?.llm, custom_llm: customLlm } } };
}

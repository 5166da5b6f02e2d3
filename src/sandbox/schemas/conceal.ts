import type { ConversationConfig } from './agent-schemas.ts';
import type { CallVariables } from './request-schemas.ts';

/** What a read shows in place of a credential. */
export const concealed = '[redacted]';

/** The settings with the values of headers that are sent to a model taken out: they are credentials. */
export function concealHeaders(config: ConversationConfig): ConversationConfig {
  const headers = config.agent?.llm?.custom_llm?.extra_headers;
  if (headers == null) return config;
  const names = Object.fromEntries(Object.keys(headers).map((name) => [name, concealed]));
  const { agent } = config;
  return {
    ...config,
    agent: { ...agent, llm: { ...agent?.llm, custom_llm: { ...agent?.llm?.custom_llm, extra_headers: names } } },
  };
}

/** The variables with the values of those named `secret__…` taken out. */
export function concealSecrets(variables: CallVariables): CallVariables {
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [name, name.startsWith('secret__') ? concealed : value]),
  );
}

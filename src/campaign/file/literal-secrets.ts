import { hasQuery, isKeptUrl, isSecretAddress, keptUrlFix } from '../../shared/input/kept-url.ts';
import type { hookSettings } from './settings/hooks.ts';
import type { Written } from './settings/setting.ts';
import { textsIn, type wordSettings } from './settings/words.ts';

/** Where a secret would stand in a campaign file as it is, and what to write instead. */
export interface LiteralSecret {
  path: PropertyKey[];
  fix: string;
}

type WrittenSettings = Written<typeof hookSettings & typeof wordSettings>;

const hookFix = `write where the address stands, ${keptUrlFix}: what follows its "?" may be a key, and would be kept in the database as it is`;
const overrideFix =
  'set it on the agent itself, such as in a header of its own language model, or take it from a column with {{ column }}: what stands here would be kept in the database as it is';
const variableFix =
  'take it from a column of the list with {{ column }}, or keep it with the agent: what stands here would be kept in the database as it is';

const headers = /(^|_)headers$/i;
const secretName = /^secret__|(^|_)(api_?key|authorization|(auth|access|bearer)_?token|secret|password)$/i;
const oneColumn = /^\s*\{\{\s*[\w ]+\s*\}\}\s*$/;

/**
 * Settings whose text is a secret as far as can be told from its place: queries of hooks' addresses, headers, addresses with a query or a
 * password and whatever is called a key, a token or a password. A campaign's settings are kept in its ledger, so none of them may hold one.
 */
export function literalSecrets(settings: WrittenSettings): LiteralSecret[] {
  const found: LiteralSecret[] = [];
  for (const hook of ['pre_dial', 'on_completion', 'on_pause'] as const) {
    const url = settings[hook]?.url;
    if (url !== undefined && !isKeptUrl(url) && hasQuery(url)) found.push({ path: [hook, 'url'], fix: hookFix });
  }
  for (const { path, text } of textsIn(settings.conversation_config_override, ['conversation_config_override'])) {
    const isNamed = path.some((key) => headers.test(String(key))) || secretName.test(String(path.at(-1)));
    if ((isNamed && isLiteral(text)) || isSecretAddress(text)) found.push({ path, fix: overrideFix });
  }
  for (const [name, value] of Object.entries(settings.variables?.values ?? {})) {
    if (secretName.test(name) && isLiteral(value)) found.push({ path: ['variables', 'values', name], fix: variableFix });
  }
  return found;
}

function isLiteral(text: string): boolean {
  return text !== '' && !oneColumn.test(text);
}

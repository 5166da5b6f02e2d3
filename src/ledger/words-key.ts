import { hash } from 'node:crypto';
import type { CampaignRules } from '../rules/campaign-rules.ts';
import { nearForm } from '../rules/correlation/near-form.ts';
import { compileTemplates } from '../rules/personalisation.ts';
import { recipientFields } from '../rules/columns.ts';

/** Shared by all calls with the agent's own line. */
const agentsOwnLine = '-';

/** SHA-256 of the line in near form, cut to 132 bits. Null: the agent's own line. */
export function wordsKey(line: string | null): string {
  const near = line === null ? '' : nearForm(line);
  return near === '' ? agentsOwnLine : hash('sha256', near, 'base64url').slice(0, 22);
}

/** Key of a row's opening line by its cells; null when it cannot be rendered, and is never dialled. */
export function wordsKeysOf(rules: CampaignRules): (cells: readonly string[]) => string | null {
  if (rules.firstMessage === null) return () => agentsOwnLine;
  const templates = compileTemplates({ firstMessage: rules.firstMessage, variables: null, list: rules.list });
  return (cells) => {
    const rendered = templates.render(recipientFields(rules.list.columns, cells));
    return rendered.ok ? wordsKey(rendered.firstMessage) : null;
  };
}

import type { CampaignRules } from '../src/rules/campaign-rules.ts';
import { compileTemplates } from '../src/rules/personalisation.ts';
import { recipientFields } from '../src/rules/columns.ts';
import type { RenderRecipient } from '../src/ledger/rows/create-batch.ts';

const mostKept = 50;
const kept = new Map<string, RenderRecipient>();

/** Compiled once per process, since a campaign's rules never change. */
export function renderWith(rules: CampaignRules): RenderRecipient {
  const key = JSON.stringify([rules.firstMessage, rules.variables, rules.override, rules.list.columns]);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const templates = compileTemplates(rules);
  const render: RenderRecipient = (cells) => {
    const rendered = templates.render(recipientFields(rules.list.columns, cells));
    if (!rendered.ok) return null;
    const { ok: _, ...texts } = rendered;
    return texts;
  };
  if (kept.size >= mostKept) kept.clear();
  kept.set(key, render);
  return render;
}

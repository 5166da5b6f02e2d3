import { code, count, empty, figure, panel } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import type { FaultRegistry } from '../faults/book.ts';
import { faultPresets } from '../faults/presets.ts';
import { button, table, type View, type ViewRequest } from './elements.ts';

type ListedRule = ReturnType<FaultRegistry['list']>[number];

const sample = '{ "operation": 14, "nth": 2, "effect": { "type": "error", "status": 503 } }';

export function faultsView({ service }: ViewRequest): View {
  const rules = service.faults.list();
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const own = rules.filter(({ id }) => !faultPresets.some(({ rule }) => rule.id === id));
  return {
    title: 'Faults',
    body: [
      panel(
        'Ready-made faults',
        html`<ul class="switches">
          ${faultPresets.map(({ id, title, description, rule }) =>
            switchLine({ key: `preset-${id}`, title, description, rule: byId.get(rule.id), add: rule }),
          )}
        </ul>`,
        rules.length === 0
          ? null
          : button('Remove all rules', {
              request: 'DELETE /_sandbox/faults',
              said: 'All fault rules are gone.',
              confirm: `Remove ${count(rules.length, 'fault rule')}?`,
            }),
      ),
      panel(
        'Rules of your own',
        table('Rules of your own', own, {
          key: ({ id }) => `rule-${id}`,
          columns: ruleColumns,
          none: empty('No rule of your own', 'Add one below. A rule says which operation it hits, how often, and with what effect.'),
        }),
      ),
      panel(
        'Add a rule',
        html`<form class="stack" data-request="POST /_sandbox/faults" data-said="The rule is in force.">
          <label for="rule">A rule as JSON, or an array of them</label>
          <textarea id="rule" name="rule" rows="5" spellcheck="false" required data-kind="whole">${sample}</textarea>
          <div class="actions"><button class="btn">Add rule</button></div>
        </form>`,
      ),
    ],
  };
}

const ruleColumns = {
  Rule: ({ id, title }: ListedRule) => title ?? html`<code>${id}</code>`,
  'What it does': ({ id, title: _title, seen: _seen, hits: _hits, enabled: _enabled, ...what }: ListedRule) =>
    html`<details>
      <summary>${what.effect.type} on ${what.operation === '*' ? 'any operation' : what.operation}</summary>
      ${code(JSON.stringify(what, null, 2), `Rule ${id}`)}
    </details>`,
  Requests: ({ seen }: ListedRule) => figure(String(seen)),
  Hits: ({ hits }: ListedRule) => figure(String(hits)),
  Enabled: (rule: ListedRule) => switchOf(rule.title ?? rule.id, rule, undefined),
  '': ({ id, title }: ListedRule) =>
    button(
      'Remove',
      { request: `DELETE /_sandbox/faults?id=${encodeURIComponent(id)}`, said: 'The rule is gone.' },
      html`aria-label="Remove ${title ?? id}"`,
    ),
};

function switchLine(line: { key: string; title: string; description: string; rule: ListedRule | undefined; add: { id: string } }): Html {
  const { rule } = line;
  return html`<li id="${line.key}">
    ${switchOf(line.title, rule, line.add)}
    <div>
      <p class="switch-title">${line.title}</p>
      <p class="soft">${line.description}</p>
    </div>
    <p class="num hits">
      ${rule === undefined || rule.seen === 0 ? null : `${count(rule.hits, 'hit')} of ${rule.seen.toLocaleString('en')}`}
    </p>
  </li>`;
}

function switchOf(title: string, rule: ListedRule | undefined, add: object | undefined): Html {
  const on = rule?.enabled === true;
  const request = rule === undefined ? 'POST /_sandbox/faults' : `PATCH /_sandbox/faults?id=${encodeURIComponent(rule.id)}`;
  return button(
    '',
    { request, body: rule === undefined ? add : { enabled: !on }, said: `${title}: ${on ? 'off' : 'on'}.` },
    html`role="switch" aria-checked="${String(on)}" aria-label="${title}"`,
    'switch',
  );
}

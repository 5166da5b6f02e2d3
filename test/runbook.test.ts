import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const runbook = readFileSync(`${root}docs/runbook.md`, 'utf8');
const rules = readFileSync(`${root}deploy/observability/alerts.yml`, 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

function alertsIn(source: string): Rule[] {
  return (parse(source) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
}

/** Faults of the rules or of the runbook's text about them. */
function inspect(source: string, page: string): string[] {
  const alerts = alertsIn(source);
  const sections = new Map(
    page
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split('\n')[0] ?? '', section]),
  );
  const names = alerts.map(({ alert }) => alert);
  return [
    ...alerts.flatMap(({ alert, labels, annotations }) => [
      ...(/^```sh\n(\.\/carillon .*\n)+```$/m.test(sections.get(alert) ?? '') ? [] : [`${alert}: no commands`]),
      ...(annotations.runbook === `docs/runbook.md#${alert.toLowerCase()}` ? [] : [`${alert}: runbook`]),
      ...(['critical', 'warning'].includes(labels.severity) ? [] : [`${alert}: severity`]),
    ]),
    ...[...sections.keys()].filter((name) => !names.includes(name)).map((name) => `${name}: no such alert`),
  ];
}

test('every alert has its section in the runbook with commands to type, and every section its alert', () => {
  expect(alertsIn(rules).length).toBeGreaterThan(10);
  expect(inspect(rules, runbook)).toEqual([]);
  expect(inspect(rules, runbook.replace('### CarillonStalled', '### CarillonStale'))).toEqual([
    'CarillonStalled: no commands',
    'CarillonStale: no such alert',
  ]);
  expect(inspect(rules.replace('#carillonstalled', '#carillonstale'), runbook)).toEqual(['CarillonStalled: runbook']);
});

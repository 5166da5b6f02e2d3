import { aside, badge, count, empty, figure, instant, panel, table } from '../../presentation/html/elements.ts';
import { html, type Html } from '../../presentation/html/html.ts';
import { describeViolation } from '../judge/conduct-report.ts';
import type { View, ViewRequest } from './elements.ts';

const mostViolations = 20;

export function conductView({ service }: ViewRequest): View {
  const { ok, checks, requests } = service.conduct.report();
  const broken = checks.filter((check) => !check.ok);
  return {
    title: 'Conduct',
    follows: ['request', 'batch'],
    body: [
      panel(
        'What a caller is held to',
        table(
          'What a caller is held to',
          checks.map((check) => ({
            key: `check-${check.name}`,
            cells: {
              Rule: sentence(check.rule),
              Verdict: verdict(check.ok, requests),
              Observed: figure(check.observed),
              'Not judged': figure(check.notJudged),
              Violations: figure(check.violationCount),
            },
          })),
        ),
        ok ? verdict(true, requests, 'All kept') : badge('bad', `${count(broken.length, 'rule')} violated`),
      ),
      broken.length === 0
        ? empty('No violations', html`A pipeline can ask for the same report: <code>GET /_sandbox/conduct?format=junit</code>.`)
        : broken.map((check) =>
            panel(
              sentence(check.rule),
              html`<ol class="findings">
                ${check.violations
                  .slice(0, mostViolations)
                  .map((violation) => html`<li>${instant(violation.at, 'full')} ${describeViolation(violation)}</li>`)}
              </ol>`,
              aside(count(check.violationCount, 'violation')),
            ),
          ),
    ],
  };
}

function verdict(ok: boolean, requests: number, kept = 'Kept'): Html {
  if (!ok) return badge('bad', 'Violated');
  return requests === 0 ? badge('quiet', 'Nothing observed') : badge('good', kept);
}

function sentence(rule: string): string {
  return rule.charAt(0).toUpperCase() + rule.slice(1);
}

import { describeViolation, type ConductReport } from './conduct-report.ts';

/** JUnit XML: one test case per check, and one that there was anything to check. */
export function toJUnit(report: ConductReport): string {
  const failures = report.checks.filter((check) => !check.ok).length + (report.requests === 0 ? 1 : 0);
  const tests = report.checks.length + 1;
  const at = new Date(report.at).toISOString().replace(/\.\d+Z$/, '');
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="conduct" tests="${tests}" failures="${failures}" errors="0" time="0">`,
    `  <testsuite name="conduct" tests="${tests}" failures="${failures}" errors="0" skipped="0" time="0" timestamp="${at}">`,
    ...describeUse(report.requests),
    ...report.checks.flatMap(describeCase),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function describeUse(requests: number): string[] {
  const open = '    <testcase classname="conduct.requests" name="the service is called" time="0"';
  if (requests > 0) return [`${open}/>`];
  const failure = '      <failure type="requests" message="nothing observed">No request came to the service.</failure>';
  return [`${open}>`, failure, '    </testcase>'];
}

function describeCase({ name, rule, ok, violationCount, violations }: ConductReport['checks'][number]): string[] {
  const open = `    <testcase classname="conduct.${name}" name="${escape(rule)}" time="0"`;
  if (ok) return [`${open}/>`];
  const lines = violations.map((each) => `${new Date(each.at).toISOString()} ${describeViolation(each)}`);
  const more = violationCount - violations.length;
  if (more > 0) lines.push(`and ${more} more`);
  const count = `${violationCount} ${violationCount === 1 ? 'violation' : 'violations'}`;
  return [`${open}>`, `      <failure type="${name}" message="${count}">${escape(lines.join('\n'))}</failure>`, '    </testcase>'];
}

/** Drops characters that XML 1.0 forbids. */
function escape(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

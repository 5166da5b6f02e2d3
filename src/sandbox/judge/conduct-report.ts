const checkNames = {
  double_dial: 'no number is dialled while a call to it is open',
  redial_too_soon: 'no number is dialled again at once',
  request_id_reuse: 'no request is accepted twice',
  retry_after: 'Retry-After is waited for',
  parallel_requests: 'no more parallel requests than allowed',
  key_in_url: 'no API key in an address',
  deleted_use: 'deleted things are left alone',
  polling: 'conversations are not polled faster than needed',
  dials_per_number: 'no number is dialled too often',
} as const;

type CheckName = keyof typeof checkNames;

interface Violation {
  at: number;
  what: string;
  [fact: string]: unknown;
}

export interface ConductReport {
  ok: boolean;
  /** Epoch milliseconds of service time. */
  at: number;
  checks: {
    name: CheckName;
    rule: string;
    ok: boolean;
    /** How much there was to judge: occasions, or the highest value met. */
    observed: number;
    violationCount: number;
    /** The first 100. */
    violations: Violation[];
  }[];
}

const keptViolations = 100;

export class ConductChecks {
  readonly #observed = new Map<CheckName, number>();
  readonly #violations = new Map<CheckName, Violation[]>();
  readonly #counts = new Map<CheckName, number>();

  observe(check: CheckName): void {
    this.#observed.set(check, (this.#observed.get(check) ?? 0) + 1);
  }

  observeMost(check: CheckName, value: number): void {
    this.#observed.set(check, Math.max(this.#observed.get(check) ?? 0, value));
  }

  violate(check: CheckName, violation: Violation): void {
    this.#counts.set(check, (this.#counts.get(check) ?? 0) + 1);
    const kept = this.#violations.get(check) ?? [];
    if (kept.length < keptViolations) kept.push(violation);
    this.#violations.set(check, kept);
  }

  report(at: number): ConductReport {
    const checks = (Object.keys(checkNames) as CheckName[]).map((name) => {
      const violationCount = this.#counts.get(name) ?? 0;
      const violations = [...(this.#violations.get(name) ?? [])];
      return {
        name,
        rule: checkNames[name],
        ok: violationCount === 0,
        observed: this.#observed.get(name) ?? 0,
        violationCount,
        violations,
      };
    });
    return { ok: checks.every((check) => check.ok), at, checks };
  }
}

/** The report for people: one line per check, and the violations below those that failed. */
export function formatConduct(report: ConductReport): string {
  const lines = report.checks.flatMap((check) => [
    `${check.ok ? 'ok  ' : 'FAIL'}  ${check.rule} (observed ${check.observed}${check.ok ? '' : `, violated ${check.violationCount} times`})`,
    ...check.violations
      .slice(0, 10)
      .map((violation) => `        ${new Date(violation.at).toISOString()} ${describe(violation)}`),
  ]);
  return `${[`conduct: ${report.ok ? 'ok' : 'VIOLATIONS'}`, ...lines].join('\n')}\n`;
}

function describe({ at: _at, what, ...facts }: Violation): string {
  const details = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  return details.length === 0
    ? what
    : `${what} (${details.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}

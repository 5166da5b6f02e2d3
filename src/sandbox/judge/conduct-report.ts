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
  calling_hours: 'people are called within their calling hours',
  credential_reuse: 'a signed URL or token starts one conversation',
  revoked_key: 'a revoked key is not used on',
} as const;

export type CheckName = keyof typeof checkNames;

export interface Violation {
  at: number;
  what: string;
  [fact: string]: unknown;
}

interface Tally {
  /** Occasions checked, or the highest value seen. */
  observed: number;
  /** Occasions without enough facts to check. */
  notJudged: number;
  violationCount: number;
  violations: Violation[];
}

export interface ConductReport {
  ok: boolean;
  at: number;
  /** Requests since the checks began; with none, `ok` means nothing. */
  requests: number;
  checks: ({ name: CheckName; rule: string; ok: boolean } & Tally)[];
}

const keptViolations = 100;

export class ConductChecks {
  readonly #tallies = new Map<CheckName, Tally>();
  #requests = 0;

  countRequest(): void {
    this.#requests += 1;
  }

  observe(check: CheckName): void {
    this.#of(check).observed += 1;
  }

  observeMost(check: CheckName, value: number): void {
    const tally = this.#of(check);
    tally.observed = Math.max(tally.observed, value);
  }

  leaveOpen(check: CheckName): void {
    this.#of(check).notJudged += 1;
  }

  violate(check: CheckName, violation: Violation): void {
    const tally = this.#of(check);
    tally.violationCount += 1;
    if (tally.violations.length < keptViolations) tally.violations.push(violation);
  }

  /** `off`: checks that were not requested. */
  report(at: number, off: readonly CheckName[] = []): ConductReport {
    const requestedChecks = (Object.keys(checkNames) as CheckName[]).filter((name) => !off.includes(name));
    const checks = requestedChecks.map((name) => {
      const tally = this.#of(name);
      const ok = tally.violationCount === 0;
      return { name, rule: checkNames[name], ok, ...tally, violations: [...tally.violations] };
    });
    return { ok: checks.every((check) => check.ok), at, requests: this.#requests, checks };
  }

  #of(check: CheckName): Tally {
    const tally = this.#tallies.get(check) ?? { observed: 0, notJudged: 0, violationCount: 0, violations: [] };
    this.#tallies.set(check, tally);
    return tally;
  }
}

/** The verdict in a word or two; a report without requests is no pass. */
export function verdictOf({ ok, requests }: ConductReport): string {
  if (!ok) return 'VIOLATIONS';
  return requests === 0 ? 'NOTHING OBSERVED' : 'ok';
}

/** Plain-text report: one line per check, violations below failed ones. */
export function formatConduct(report: ConductReport): string {
  const lines = report.checks.flatMap((check) => [
    `${wordOf(check, report.requests)}  ${check.rule} (${countsOf(check)})`,
    ...check.violations.slice(0, 10).map((violation) => `        ${new Date(violation.at).toISOString()} ${describeViolation(violation)}`),
  ]);
  return `${[`conduct: ${verdictOf(report)}`, ...lines].join('\n')}\n`;
}

function wordOf({ ok }: ConductReport['checks'][number], requests: number): string {
  if (!ok) return 'FAIL';
  return requests === 0 ? '-   ' : 'ok  ';
}

function countsOf({ observed, notJudged, violationCount }: ConductReport['checks'][number]): string {
  return [
    `observed ${observed}`,
    ...(notJudged === 0 ? [] : [`not judged ${notJudged}`]),
    ...(violationCount === 0 ? [] : [`violated ${violationCount} times`]),
  ].join(', ');
}

export function describeViolation({ at: _at, what, ...facts }: Violation): string {
  const details = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined);
  return details.length === 0 ? what : `${what} (${details.map(([name, value]) => `${name} ${String(value)}`).join(', ')})`;
}

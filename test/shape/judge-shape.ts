import { outcomes } from '../../src/rules/outcome.ts';
import type { CallTruth } from '../../src/sandbox/core/telephony/call-truth.ts';
import { judgeCalls } from '../judge/judge-calls.ts';
import { cellsOf, type Listed } from '../world/population.ts';
import type { ResultLine } from './world.ts';

/** What a campaign left behind outside of the product: the service's own calls, the list, and the results file. */
export interface Trial {
  calls: readonly Pick<CallTruth, 'to' | 'requestId' | 'batchId' | 'acceptedAt' | 'endedAt' | 'result' | 'optedOut'>[];
  people: readonly Listed[];
  results: readonly ResultLine[];
  maxAttempts: number;
  /** Calls in a row that the carrier could not place and that do not count. */
  maxUncounted: number;
  /** Rows that may be left to an operator: those of requests that were under way when something was killed. */
  mostUnresolved: number;
  /** By number: an outcome that an act of a person may have given. */
  acted?: ReadonlyMap<string, string>;
}

/** What was broken, in words; calls are joined with rows by number alone. An empty list is an acquittal. */
export function judgeShape(trial: Trial): string[] {
  return [...judgeNumbers(trial), ...judgeRequests(trial), ...judgeResults(trial)];
}

function callsByNumber({ calls }: Trial): Map<string, Trial['calls'][number][]> {
  const byNumber = new Map<string, Trial['calls'][number][]>();
  for (const call of calls.toSorted((a, b) => a.acceptedAt - b.acceptedAt)) byNumber.set(call.to, [...(byNumber.get(call.to) ?? []), call]);
  return byNumber;
}

function* judgeNumbers(trial: Trial): Generator<string> {
  const callable = new Set(trial.people.filter(({ kind }) => kind === 'callable').map(({ phone }) => phone));
  for (const [number, calls] of callsByNumber(trial)) {
    if (!callable.has(number)) yield `${number} was called and must not be`;
    if (isOverBudget(trial, calls)) yield `${number} was called ${calls.length} times`;
  }
  for (const { rule, later } of judgeCalls(trial.calls)) yield `${later.to}: ${rule} (${later.requestId})`;
}

/** Whether a call was made when those before it had used up the attempts. */
function isOverBudget({ maxAttempts, maxUncounted }: Trial, calls: Trial['calls']): boolean {
  let counted = 0;
  let failedInARow = 0;
  for (const { result } of calls.slice(0, -1)) {
    failedInARow = result === 'failed' ? failedInARow + 1 : 0;
    if (result !== 'failed' || failedInARow > maxUncounted) counted += 1;
  }
  return counted >= maxAttempts;
}

/** A batch is `<campaign>/<round>/<n>`, a request of it `<batch>/<k>`. */
function* judgeRequests({ calls }: Trial): Generator<string> {
  const accepted = new Map<string, Set<string | null>>();
  for (const { requestId, batchId } of calls) {
    const batch = requestId?.split('/').slice(0, -1).join('/') ?? '';
    if (batch === '') yield `A batch came without the name of its request (${batchId})`;
    accepted.set(batch, (accepted.get(batch) ?? new Set()).add(batchId));
  }
  for (const [batch, times] of accepted)
    if (times.size > 1) yield `Batch ${batch} was accepted ${times.size} times: there was a second request`;
}

function* judgeResults(trial: Trial): Generator<string> {
  const { people, results } = trial;
  const byNumber = callsByNumber(trial);
  if (results.length !== people.length) yield `The list has ${people.length} rows, the results have ${results.length}`;
  for (const [index, person] of people.entries()) {
    const line = results[index];
    if (line === undefined) continue;
    const row = `Row ${index + 1}`;
    if (line.row !== index + 1 || JSON.stringify(line.cells) !== JSON.stringify(cellsOf(person))) yield `${row} is not the row of the list`;
    if (!outcomes.some((outcome) => outcome === line.outcome)) yield `${row} has no outcome but ${line.outcome}`;
    const acted = trial.acted?.get(person.phone);
    const own = allowedOutcomes(person, byNumber.get(person.phone) ?? []);
    const wanted = acted === undefined || own.some((outcome) => reached.includes(outcome)) ? own : [acted, ...own];
    if (!wanted.includes(line.outcome)) yield `${row} is ${line.outcome}, and its calls say ${wanted.slice(0, -1).join(' or ')}`;
  }
  const unresolved = results.filter(({ outcome }) => outcome === 'unresolved').length;
  if (unresolved > trial.mostUnresolved)
    yield `${unresolved} rows are left to an operator, more than the ${trial.mostUnresolved} that were under way`;
}

/** Nothing that is done afterwards changes these. */
const reached = ['completed', 'opted_out'];

/** The last one may be anybody's, within the limit. */
function allowedOutcomes({ kind }: Listed, calls: Trial['calls']): string[] {
  if (kind === 'bad') return ['rejected', 'unresolved'];
  if (kind === 'barred') return ['suppressed', 'unresolved'];
  if (calls.some(({ optedOut }) => optedOut)) return ['opted_out', 'unresolved'];
  if (calls.some(({ result }) => result === 'answered')) return ['completed', 'unresolved'];
  return calls.length === 0 ? ['unresolved'] : ['exhausted', 'unresolved'];
}

import type { ForecastInput } from './forecast.ts';
import { grainOf } from './grain.ts';
import { paceMs, type StartLimit } from './line-use.ts';

/** Approximate steps of a simulation while the lines are busy. */
const mostSteps = 1_000;

/**
 * Joins successive calls on a line into one, so that a simulation is cheap at any size. Counts are of joined calls; instants are right to a
 * few hundredths of the whole.
 */
export function coarsened(input: ForecastInput): ForecastInput {
  const { course, linesAt } = input;
  const paced = pacedLines(input);
  const joined = Math.ceil(busyMs(input, paced) / (mostSteps * grainOf(course.answeredMs, course.unansweredMs)));
  if (joined <= 1) return input;
  let rest = 0;
  const groups = input.groups
    .toSorted((left, right) => (left.notBefore ?? input.at) - (right.notBefore ?? input.at))
    .map((group, index, { length }) => {
      rest += group.count;
      // The last group decides when the campaign ends.
      const count = index === length - 1 ? Math.ceil(rest / joined) : Math.floor(rest / joined);
      rest -= count * joined;
      return { ...group, count };
    });
  return {
    ...input,
    groups,
    course: { ...course, answeredMs: course.answeredMs * joined, unansweredMs: course.unansweredMs * joined },
    grainMs: joined * grainOf(course.answeredMs, course.unansweredMs),
    // This step cannot resolve starts per minute: limits the lines they keep busy instead.
    startLimits: input.startLimits.filter((limit) => !isPace(limit)).map((limit) => joinedLimit(limit, joined)),
    linesAt: (sinceMs) => Math.min(linesAt(sinceMs), paced),
  };
}

/** The same limit for calls that each represent `joined` calls. */
function joinedLimit({ most, withinMs }: StartLimit, joined: number): StartLimit {
  return most >= joined ? { most: Math.floor(most / joined), withinMs } : { most: 1, withinMs: (withinMs * joined) / most };
}

/** Lines that the starts per minute keep busy. */
function pacedLines({ course, startLimits }: ForecastInput): number {
  const pace = startLimits.find(isPace);
  return pace === undefined ? Infinity : Math.max(1, Math.round((pace.most * meanMs(course)) / paceMs));
}

function isPace({ withinMs }: StartLimit): boolean {
  return withinMs === paceMs;
}

/** Duration if calls wait only for lines. */
function busyMs({ groups, course, linesAt }: ForecastInput, paced: number): number {
  const people = groups.reduce((sum, { count }) => sum + count, 0);
  const calls = people * (1 + (1 - course.answerRate) * course.retries);
  return (calls * meanMs(course)) / Math.max(1, Math.min(linesAt(Infinity), paced));
}

function meanMs({ answerRate, answeredMs, unansweredMs }: ForecastInput['course']): number {
  return answerRate * answeredMs + (1 - answerRate) * unansweredMs;
}

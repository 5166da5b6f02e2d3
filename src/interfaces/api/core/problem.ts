export {
  errorFacts,
  nothingHere,
  problem,
  ProblemError,
  problemOf,
  problemSchema,
  readPart,
  refuseFaultyText,
} from '../../../operations/runs/problem.ts';
export type { Problem } from '../../../operations/runs/problem.ts';

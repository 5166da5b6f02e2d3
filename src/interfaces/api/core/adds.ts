import { ProblemError } from '../../../operations/runs/problem.ts';

/** Requests to add rows that one server answers at once. */
const mostAdds = 100;

/**
 * Begins an addition and answers what ends it; throws ProblemError for one too many, before the database is asked: a thousand at once would
 * wait for its connections until they fail.
 */
export function countAdds(): () => () => void {
  let underWay = 0;
  return () => {
    if (underWay >= mostAdds)
      throw new ProblemError(
        429,
        'too_many_at_once',
        'More rows are being added than can be written at once. Repeat the request in a second.',
      );
    underWay += 1;
    return () => void (underWay -= 1);
  };
}

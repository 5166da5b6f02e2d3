import { ProblemError } from '../../../operations/runs/problem.ts';

/** Maximum concurrent add-row requests per server. */
const mostAdds = 100;

/**
 * Returns a function that registers an addition and returns its release. Throws ProblemError (429) above the limit; otherwise all would
 * wait for database connections until they fail.
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

import { z } from 'zod';
import { didYouMean } from '../../input/nearest-name.ts';
import type { Api } from './app.ts';
import { ProblemError } from './problem.ts';

/** From here on a parameter of the query that a route does not have is refused: one that is misspelt would be ignored in silence. */
export function refuseUnknownQuery(app: Api): void {
  app.addHook('preValidation', async (request) => {
    const schema: unknown = request.routeOptions.schema?.querystring;
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const name = Object.keys(request.query as object).find((each) => !known.includes(each));
    if (name === undefined) return;
    throw new ProblemError(
      400,
      'invalid',
      `The query has no parameter ${JSON.stringify(name)} here.${didYouMean(name, known)}`,
    );
  });
}

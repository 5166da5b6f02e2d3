import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ProblemError } from '../../../operations/runs/problem.ts';
import { didYouMean } from '../../../rules/nearest-name.ts';

/** Throws ProblemError for an unknown parameter; a misspelt one would be ignored silently. */
export async function refuseUnknownQuery({ routeOptions, query }: FastifyRequest): Promise<void> {
  const schema: unknown = routeOptions.schema?.querystring;
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  const name = Object.keys(query as object).find((each) => !known.includes(each));
  if (name === undefined) return;
  const detail = `The query has no parameter ${JSON.stringify(name)} here.${didYouMean(name, known)}`;
  throw new ProblemError(400, 'invalid', detail);
}

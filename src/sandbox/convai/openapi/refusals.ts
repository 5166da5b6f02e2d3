import type { OperationName } from '../../core/operations.ts';
import { jsonContent, refTo } from '../../openapi/document.ts';
import type { JsonSchema } from '../../openapi/json-schema.ts';
import { operationTexts } from './operation-texts.ts';

/** The statuses by which every operation may refuse; the contract names 429 alone. */
const always = [400, 401, 403, 422, 429, 500] as const;

const ofBodies = [413, 415] as const;

const names = {
  400: ['BadRequest', 'It cannot be read, or has a key `__proto__`, or `constructor` with `prototype` in it.'],
  401: ['Unauthorized', 'The key is missing, wrong or revoked.'],
  403: ['Forbidden', 'The key may not do that.'],
  404: ['NotFound', 'There is no such thing, or it was deleted.'],
  409: ['Conflict', 'It is there already.'],
  413: ['TooLarge', 'The body is too large.'],
  415: ['UnsupportedMediaType', 'The body is not JSON.'],
  422: ['Invalid', 'Fields cannot be accepted; each is named.'],
  429: ['TooManyRequests', 'A limit of the plan is reached. Wait, then try again with growing pauses.'],
  500: ['Failed', 'The service failed. Whether it acted on the request is not known.'],
} as const;

/** For `components.responses`. */
export const refusalAnswers: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(names).map(([status, [name, description]]) => [name, describeRefusal(status, description)]),
);

export function refusalsOf(operation: OperationName): JsonSchema {
  const { request, refusals = [] } = operationTexts[operation];
  const statuses = [...always, ...refusals, ...(request === undefined ? [] : ofBodies)];
  return Object.fromEntries(statuses.map((status) => [status, refTo('responses', names[status][0])]));
}

function describeRefusal(status: string, description: string): JsonSchema {
  const headers = {
    'x-request-id': refTo('headers', 'RequestId'),
    'retry-after': status === '429' ? refTo('headers', 'RetryAfter') : undefined,
  };
  return {
    description,
    headers,
    content: jsonContent(refTo('schemas', status === '422' ? 'ValidationError' : 'Error')),
  };
}

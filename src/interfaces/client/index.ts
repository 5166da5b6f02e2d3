import type { Method, OperationId } from '../../operations/list.ts';
import { outlines } from '../../operations/outlines.ts';
import { followEvents, type CarillonEvent, type FollowInput } from './follow-events.ts';
import { sendRequest, type AnyInput, type CarillonClientOptions } from './request.ts';

/* The public surface of `carillon/client`: a client of Carillon's own API. What is not named here may change without notice. */
export { CarillonProblem, CarillonUnreachable } from './request.ts';
export type { CarillonEvent, FollowInput } from './follow-events.ts';
export type { CarillonClientOptions } from './request.ts';

/** A method for each operation of the API, named by its operationId: `/api/v1/openapi.json` describes each and its role. */
export type CarillonClient = {
  [Id in Exclude<OperationId, 'followEvents'>]: Method<Id>;
} & {
  /** Iterates over new events; reconnects without missing any. */
  followEvents(input?: FollowInput): AsyncGenerator<CarillonEvent, void>;
};

/**
 * A client of Carillon's HTTP API. Connects when a method is called, and needs no closing. Changes have an Idempotency-Key, so each is
 * applied once however often it is sent; pass `key` if a change must outlive this process.
 *
 * @throws TypeError if `baseUrl` is no http or https address, or `token` is empty.
 */
export function createCarillonClient(options: CarillonClientOptions): CarillonClient {
  if (!URL.canParse(options.baseUrl) || !/^https?:$/.test(new URL(options.baseUrl).protocol))
    throw new TypeError('baseUrl is no http or https address; give one such as http://127.0.0.1:4080.');
  if (options.token === '') throw new TypeError('token is empty; carillon token create makes one.');
  const methods = Object.entries(outlines).map(([id, operation]) => [id, (input: AnyInput = {}) => sendRequest(options, operation, input)]);
  return {
    ...Object.fromEntries(methods),
    followEvents: (input?: FollowInput) => followEvents(options, input),
  } as CarillonClient;
}

import type { Method, OperationId } from '../../operations/list.ts';
import { outlines } from '../../operations/outlines.ts';
import { followEvents, type CarillonEvent, type FollowInput } from './follow-events.ts';
import { sendRequest, type AnyInput, type CarillonClientOptions } from './request.ts';

/* The public surface of `carillon/client`: a client of Carillon's own API. What is not named here may change without notice. */
export { CarillonProblem, CarillonUnreachable } from './request.ts';
export type { CarillonEvent, FollowInput } from './follow-events.ts';
export type { CarillonClientOptions } from './request.ts';

/** A method for each operation of the API, named by its operationId: `/api/v1/openapi.json` says what each does and which role it takes. */
export type CarillonClient = {
  [Id in Exclude<OperationId, 'followEvents'>]: Method<Id>;
} & {
  /** Iterates over events as they are added; a connection that breaks is made again, and nothing is missed. */
  followEvents(input?: FollowInput): AsyncGenerator<CarillonEvent, void>;
};

/**
 * A client of Carillon's own HTTP API. It connects when a method is called, and needs no closing. A change carries an Idempotency-Key, so
 * that it is carried out once however often it is sent; give `key` yourself if the change has to outlive this process.
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

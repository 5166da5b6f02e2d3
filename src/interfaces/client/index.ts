/** The public surface of `carillon/client`: a client of Carillon's own API. What is not named here may change without notice. */
export { createCarillonClient, type CarillonClient } from './client.ts';
export { CarillonProblem, CarillonUnreachable } from './request.ts';
export type { CarillonEvent, FollowInput } from './follow-events.ts';
export type { CarillonClientOptions } from './request.ts';

import { ServiceOptionsError } from '../port/errors.ts';

/**
 * The key to send: the one given, else SVC_API_KEY of the environment, as the contract has it of client libraries. Throws
 * ServiceOptionsError where there is none, and where a header cannot carry it.
 */
export function readApiKey(given: string | undefined): string {
  const key = given ?? process.env['SVC_API_KEY'];
  if (key === undefined) {
    throw new ServiceOptionsError('There is no API key. Pass apiKey, or set SVC_API_KEY in the environment.');
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ServiceOptionsError('The API key is empty, or a header cannot carry its characters. Check SVC_API_KEY.');
}

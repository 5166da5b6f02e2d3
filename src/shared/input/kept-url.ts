import { readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { isLoopback } from '../../rules/service-api.ts';
import { codeOf } from './errors.ts';

/**
 * Reference to a secret address: `env://CARILLON_URL_…`, a variable of the worker, or `url-file:///path`, a file on its machine. Its target
 * is read at each use and never stored.
 */
export type KeptUrl = string;

/** Thrown when a reference is unusable. The message names the reference, never its value. */
export class KeptUrlError extends Error {
  override readonly name = 'KeptUrlError' as const;
}

/** The prefix prevents a campaign file from sending other worker secrets out. */
const variable = /^env:\/\/(CARILLON_URL_[A-Z0-9_]{1,100})$/;
const file = /^url-file:\/\/(.{1,4000})$/;

const wholeAddress = /^(https?|wss?):\/\/\S+$/i;

export const keptUrlFix = 'env://CARILLON_URL_<NAME>, or url-file:///path/to/file';

export function isKeptUrl(text: string): boolean {
  return variable.test(text) || isAbsolute(file.exec(text)?.[1] ?? '');
}

/** Resolves a reference; returns any other text unchanged. Throws KeptUrlError. */
export async function revealUrl(text: string, readVariable: (name: string) => string | undefined): Promise<string> {
  if (!isKeptUrl(text)) return text;
  const [, name] = variable.exec(text) ?? [];
  const [, path = ''] = file.exec(text) ?? [];
  const found = name === undefined ? await readText(path, text) : readVariable(name);
  const url = found?.trim() ?? '';
  if (url === '') throw new KeptUrlError(`${text} is not set for this worker`);
  if (!URL.canParse(url.replaceAll(/\{\{[^{}]*\}\}/g, '0'))) throw new KeptUrlError(`what stands in ${text} is no address`);
  return url;
}

async function readText(path: string, reference: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    throw new KeptUrlError(`${reference} cannot be read by this worker (${code})`, { cause: error });
  }
}

/** True for an address that may contain a secret: with a query or user info. */
export function isSecretAddress(text: string): boolean {
  return wholeAddress.test(text) && (hasQuery(text) || /^\w+:\/\/[^/]*@/.test(text));
}

export function hasQuery(url: string): boolean {
  return url.includes('?');
}

const longestUrl = 2000;
export const hookUrlFix =
  'write an address such as https://hooks.example.com/carillon, without user and password; http only for this machine (127.0.0.1); or where it stands, env://CARILLON_URL_<NAME>';

export function parseHookUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > longestUrl || !URL.canParse(value)) return null;
  if (isKeptUrl(value)) return value;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return null;
  const allowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
  return allowed ? url.href : null;
}

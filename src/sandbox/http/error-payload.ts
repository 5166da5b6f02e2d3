import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '../faults/effect.ts';
import { errorBody } from '../core/service-error.ts';

/** The body of a failure that a fault rule asks for. */
export function errorPayload(
  effect: { type: 'html'; status: number } | { type: 'error'; status: number; body: ErrorBody },
  errorId: string,
): string {
  const { message, ...facts } = factsOf(effect.status);
  switch (effect.type === 'html' ? 'html' : effect.body) {
    case 'object':
      return JSON.stringify(errorBody(message, facts, errorId));
    case 'legacy':
      return JSON.stringify({ detail: { status: facts.code, message } });
    case 'string':
      return JSON.stringify({ detail: message });
    case 'empty':
      return '';
    case 'html':
      return `<html><head><title>${effect.status}</title></head><body><h1>Bad gateway</h1></body></html>`;
  }
}

function factsOf(status: number): { type: string; code: string; message: string } {
  const type = status >= 500 ? 'server_error' : 'invalid_request';
  if (status === 500) return { type, code: 'internal_error', message: 'Something went wrong on our side.' };
  const name = STATUS_CODES[status] ?? 'Unknown error';
  return { type, code: name.toLowerCase().replaceAll(/\W+/g, '_'), message: `${name}.` };
}

import { parseJson } from '../core/json.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { refuseField } from '../schemas/validate.ts';
import { ServiceError } from '../core/service-error.ts';

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); ; quote = text.indexOf('"', quote + 1)) {
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
}

/** Far deeper stored text would overflow the stack when read again; no contract body is this deep. */
export const mostLevels = 100;

/** True when a JSON text nests deeper than `levels`; scans without parsing. */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') index = endOfString(text, index) - 1;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > levels) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}

/** Exports nest a few levels deeper and come back through the controls. */
const mostControlLevels = mostLevels + 20;

/** Accepts JSON only; an empty body counts as none, regardless of its content type. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseStrictly = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const read = readText(request, body as Buffer);
    if (read instanceof Error) return done(read);
    if (read === '') return done(null, undefined);
    const levels = request.url.startsWith('/_sandbox') ? mostControlLevels : mostLevels;
    if (isNestedDeeper(read, levels)) return done(refuseField(['body'], `This is nested more than ${levels} levels deep.`, 'too_deep'));
    return void parseStrictly(request, read, (error, value) => {
      if (error === null) done(null, value);
      else done(parseJson(read) === undefined ? error : forbiddenKey());
    });
  });
}

function readText({ headers }: FastifyRequest, body: Buffer): string | Error {
  const coding = headers['content-encoding'] ?? 'identity';
  if (coding !== 'identity') {
    const message = `The body is sent as ${coding}; send it as it is, without content-encoding.`;
    return new ServiceError(415, message, { code: 'unsupported_content_encoding' });
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    const message = 'The body is not UTF-8; JSON is sent in no other encoding.';
    return new ServiceError(400, message, { code: 'invalid_encoding' });
  }
}

/** Valid JSON that the parser refuses has a key that would change how objects behave. */
function forbiddenKey(): Error {
  const message = 'A key in it is __proto__, or constructor with prototype in it; leave it out.';
  return new ServiceError(400, message, { code: 'forbidden_key' });
}

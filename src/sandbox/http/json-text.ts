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

/** Nobody nests what the contract takes this deep; far deeper, and what was stored cannot be read again for want of stack. */
export const mostLevels = 100;

/** Whether objects and lists in a JSON text stand in each other more than `levels` deep. The text is only looked through, not parsed. */
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

/** What is exported stands a few levels deeper in its document, and comes back by the controls. */
const mostControlLevels = mostLevels + 20;

/** JSON or nothing; an empty body counts as none, whatever its content type says. */
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

/** What the parser refuses although it is JSON has a key that would change how objects behave. */
function forbiddenKey(): Error {
  const message = 'A key in it is __proto__, or constructor with prototype in it; leave it out.';
  return new ServiceError(400, message, { code: 'forbidden_key' });
}

import { parseJson } from '../core/json.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { captureRequest } from '../judge/captures.ts';
import { refuseField } from '../schemas/validate.ts';
import { ServiceError } from '../core/service-error.ts';
import { duplicateKey, isNestedDeeper, mostLevels } from './json-text.ts';

/** What is exported stands a few levels deeper in its document, and comes back by the controls. */
const mostControlLevels = mostLevels + 20;

/** JSON or nothing; an empty body counts as none, whatever its content type says. */
export function acceptJsonOnly(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const parseStrictly = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const read = readText(request, body as Buffer);
    if (read instanceof Error) return done(read);
    const { capture } = request.exchange;
    if (capture !== null) captureRequest(capture, read);
    if (read === '') return done(null, undefined);
    const levels = request.url.startsWith('/_sandbox') ? mostControlLevels : mostLevels;
    if (isNestedDeeper(read, levels)) return done(refuseField(['body'], `This is nested more than ${levels} levels deep.`, 'too_deep'));
    return void parseStrictly(request, read, (error, value) => {
      if (error !== null) return done(parseJson(read) === undefined ? error : forbiddenKey());
      const twice = duplicateKey(read);
      if (twice === null) done(null, value);
      else done(refuseField(['body', ...twice], 'This key stands twice in its object; send it once.', 'duplicate_key'));
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

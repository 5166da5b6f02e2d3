import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { codeOf } from '../../../shared/input/errors.ts';
import { ProblemError } from './problem.ts';

/** Bounds of a form; what is left out is the server's. */
type FormLimits = NonNullable<NonNullable<Parameters<FastifyRequest['parts']>[0]>['limits']>;

const tooManyParts = /^FST_(FIELDS|FILES|PARTS)_LIMIT$/;

/** The parts of a form, each when the one before it has been read. Throws ProblemError for a form that cannot be read. */
export async function* readParts(request: FastifyRequest, limits: FormLimits = {}): AsyncGenerator<Multipart> {
  try {
    yield* request.parts({ limits });
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Keeps the file of a part at a path, and answers its SHA-256. What is too large is not read to its end, since it may have none. */
export async function keepFile({ fieldname, file }: MultipartFile, path: string): Promise<string> {
  const hash = createHash('sha256');
  const hashed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  file.once('limit', () => file.destroy(new ProblemError(413, 'upload_too_large', `The file ${fieldname} is too large.`)));
  await pipeline(file, hashed, createWriteStream(path, { mode: 0o600 })).catch((error: unknown) => {
    throw refusalOf(error);
  });
  return hash.digest('hex');
}

/** Whoever reads the form names no code for what is wrong with its bytes; a disk that is full has one. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ProblemError) return error;
  const code = codeOf(error);
  if (code !== null && tooManyParts.test(code))
    return new ProblemError(400, 'upload', 'The form has a field or file that is not expected: send the named files alone.');
  if (code !== null) return error;
  return new ProblemError(400, 'upload', 'The form cannot be read: it has no boundary, or breaks off before its end.');
}

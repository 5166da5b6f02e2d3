import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyRequest } from 'fastify';
import { ProblemError, problemOf } from './problem.ts';

/** Files that came with a request, in a folder that is gone after it. */
export interface Uploads<Name extends string> {
  folder: string;
  /** Where each lies, by the name of its part. */
  paths: Readonly<Record<Name, string>>;
  /** SHA-256 of each: the same files under another key are another request, and the same one under the same key. */
  hashes: Readonly<Record<Name, string>>;
}

/** Receives exactly these files, does the work, and removes them. Throws ProblemError for a file that is missing, too many or too large. */
export async function withUploads<Name extends string, Answer>(
  request: FastifyRequest,
  names: readonly Name[],
  work: (uploads: Uploads<Name>) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart())
    throw new ProblemError(415, 'not_multipart', `Send multipart/form-data with the files ${names.join(' and ')}.`);
  const folder = await mkdtemp(join(tmpdir(), 'carillon-upload-'));
  try {
    const [paths, hashes]: [Record<string, string>, Record<string, string>] = [{}, {}];
    for await (const part of request.files()) {
      const name = names.find((each) => each === part.fieldname);
      if (name === undefined || name in paths)
        throw new ProblemError(
          400,
          'upload',
          `The part ${JSON.stringify(part.fieldname)} is not expected, or came twice; send ${names.join(' and ')}.`,
        );
      const path = join(folder, name);
      const hash = createHash('sha256');
      const hashed = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          hash.update(chunk);
          done(null, chunk);
        },
      });
      // Not to its end: what is too large may have none.
      part.file.once('limit', () =>
        part.file.destroy(new ProblemError(413, 'upload_too_large', `The file ${name} is too large.`)),
      );
      await pipeline(part.file, hashed, createWriteStream(path, { mode: 0o600 }));
      [paths[name], hashes[name]] = [path, hash.digest('hex')];
    }
    const missing = names.filter((name) => !(name in paths));
    if (missing.length > 0) throw new ProblemError(400, 'upload', `The file ${missing.join(' and ')} is missing.`);
    return await work({ folder, paths: paths as Record<Name, string>, hashes: hashes as Record<Name, string> });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives a file that was received the name under which another one speaks of it: a plain name, so that nothing else can be meant. */
export async function renameUpload(folder: string, path: string, name: string): Promise<void> {
  await rename(path, join(folder, name));
}

/** The refusal that an error comes to, without the folder: where files lie here is nobody's business. */
export function withoutFolder(error: unknown, folder: string): unknown {
  const { status, code, detail } = problemOf(error);
  if (status >= 500 || error instanceof ProblemError) return error;
  return new ProblemError(status, code, detail.replaceAll(`${folder}/`, ''));
}

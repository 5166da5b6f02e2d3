import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import { perform, type RunId, type Sent } from '../../../operations/runs/perform.ts';
import type { SentFiles } from '../../../operations/list.ts';
import { holderOf, type ApiContext } from '../../api/core/app.ts';
import { errorFacts, ProblemError, problemOf, refuseFaultyText, type Problem } from '../../../operations/runs/problem.ts';
import { keepFile, readParts, withFolder } from '../../api/core/uploads.ts';
import type { Answer, FieldError } from './press.ts';

type Carried = { refused: null; answer: Answer; replayed: boolean } | { refused: string; status: number; errors: readonly FieldError[] };

/** With the user's token. Returns refusals, throws defects. */
export async function carryOut(context: ApiContext, request: FastifyRequest, op: RunId, sent: Sent): Promise<Carried> {
  let ended = (): void => {};
  try {
    if (op === 'addRows') ended = request.server.beginAdd();
    const { params, query, body = null } = sent;
    refuseFaultyText({ params, query, body });
    const { answer, replayed } = await perform(context, op, sent, holderOf(request));
    return { refused: null, answer, replayed };
  } catch (error) {
    const refusal = problemOf(error);
    if (refusal.status === 500) throw error;
    const facts = { ...errorFacts(error), route: request.routeOptions.url };
    if (refusal.code === 'unavailable') context.logger.warn(facts, 'the database or Temporal did not answer');
    return { refused: refusalText(refusal), status: refusal.status, errors: refusal.errors ?? [] };
  } finally {
    ended();
  }
}

/** Some refusals name the fields in their detail already. */
function refusalText({ detail, errors = [] }: Pick<Problem, 'detail' | 'errors'>): string {
  const fields = errors.map(({ path, message }) => `${path}: ${message}`).filter((text) => !detail.includes(text));
  return [detail, ...fields.map((text) => `${text}.`)].join(' ');
}

const mostFields = 50;
const mostFieldBytes = 1_000_000;
/** The API accepts larger ones. */
const mostFileBytes = 100_000_000;

/**
 * Runs the work with a submitted form and its files in a temporary folder. `names`: file fields, omitted if empty. `titles`: original
 * names. Throws ProblemError for oversized or unexpected parts.
 */
export async function withSentForm<Answer>(
  request: FastifyRequest,
  names: readonly string[],
  work: (fields: URLSearchParams, files: SentFiles, titles: Readonly<Record<string, string>>) => Promise<Answer>,
): Promise<Answer> {
  if (!request.isMultipart()) return work(request.body as URLSearchParams, { folder: '', paths: {}, hashes: {} }, {});
  return withFolder(async (folder) => {
    const fields = new URLSearchParams();
    const [paths, hashes, titles]: [Record<string, string>, Record<string, string>, Record<string, string>] = [{}, {}, {}];
    const limits = { fields: mostFields, fieldSize: mostFieldBytes, fileSize: mostFileBytes };
    for await (const part of readParts(request, limits)) {
      if (part.type === 'field') {
        if (part.valueTruncated) throw new ProblemError(413, 'too_large', `What was written in ${part.fieldname} is too long.`);
        fields.append(part.fieldname, String(part.value));
        continue;
      }
      const { fieldname } = part;
      if (!names.includes(fieldname) || fieldname in paths)
        throw new ProblemError(400, 'upload', `A file ${JSON.stringify(fieldname)} is not expected, or came twice.`);
      const path = join(folder, fieldname);
      const hash = await keepFile(part, path);
      // Without a chosen file, a browser sends one without a name.
      if (part.filename) [paths[fieldname], hashes[fieldname], titles[fieldname]] = [path, hash, part.filename];
    }
    return work(fields, { folder, paths, hashes }, titles);
  });
}

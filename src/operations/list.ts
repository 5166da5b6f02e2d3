import type { z } from 'zod';
import { campaignOperations } from './campaigns.ts';
import { doubtOperations } from './doubts.ts';
import { editOperations } from './edits.ts';
import { eventOperations } from './events.ts';
import { insightOperations } from './insight.ts';
import { limitOperations } from './limits.ts';
import type { Kind, Operation } from './operation.ts';
import { rowOperations } from './rows.ts';
import { scheduleOperations } from './schedules.ts';
import { plainOperations, recoverOperation } from './steering.ts';
import { suppressionOperations } from './suppressions.ts';
import { tokenOperations } from './tokens.ts';
import { webhookOperations } from './webhooks.ts';

/**
 * The source of route, role, texts and schemas for API, client, commands and page. Implementations are in `runs`, so that client and
 * `--help` load none of the product.
 */
export const operations = {
  ...campaignOperations,
  ...plainOperations,
  ...recoverOperation,
  ...limitOperations,
  ...rowOperations,
  ...editOperations,
  ...doubtOperations,
  ...insightOperations,
  ...eventOperations,
  ...suppressionOperations,
  ...scheduleOperations,
  ...webhookOperations,
  ...tokenOperations,
};

type Operations = typeof operations;
export type OperationId = keyof Operations;

export const operationOf = (id: OperationId): Operation => operations[id];

/** In whole sentences. */
export function sentencesOf(id: OperationId): string {
  const { says, more = '' } = operationOf(id);
  return `${says}. ${more}`.trimEnd();
}

/** Parsed input: path parameters by name, `query` and `body`. */
export type Taken<Id extends OperationId> = (Read<Operations[Id], 'params'> extends infer Params extends object ? Params : unknown) & {
  query: Read<Operations[Id], 'query'>;
  body: Read<Operations[Id], 'body'>;
} & (Operations[Id] extends { files: readonly (infer Name extends string)[] } ? { files: SentFiles<Name> } : unknown);

/** In a folder deleted after the request. */
export interface SentFiles<Name extends string = string> {
  folder: string;
  paths: Readonly<Record<Name, string>>;
  /** SHA-256, to compare requests under the same key. */
  hashes: Readonly<Record<Name, string>>;
}

/** Before serialisation; unknown for a download. */
export type Answer<Id extends OperationId> = Operations[Id] extends { answer: infer Schema extends z.ZodType } ? z.input<Schema> : unknown;

/** What the server parses, or one item of a repeatable parameter. */
type Parameter<Read> = Read | (Read extends readonly (infer Item)[] ? Item : never);
type QueryOf<Schema extends z.ZodType> = {
  [Name in keyof z.input<Schema>]: Parameter<z.output<Schema>[Name & keyof z.output<Schema>]>;
};

/** Optional when the value is, or when all its members are. */
type Member<Name extends string, Value> = undefined extends Value
  ? { [Key in Name]?: Value }
  : {} extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };

/** Undefined without that part. */
export type Read<Of, Part extends 'params' | 'query' | 'body'> =
  Of extends Record<Part, infer Schema extends z.ZodType> ? z.output<Schema> : undefined;

/** A client method's argument: path parameters and files by name, `query`, `body`, and `key` for a change. */
type InputOf<Of, How extends Kind> = (Of extends { params: infer Schema extends z.ZodType } ? z.output<Schema> : unknown) &
  (Of extends { files: readonly (infer Name extends string)[] } ? Record<Name, Blob> : unknown) &
  (Of extends { query: infer Schema extends z.ZodType } ? Member<'query', QueryOf<Schema>> : unknown) &
  (Of extends { body: infer Schema extends z.ZodType } ? Member<'body', z.input<Schema>> : unknown) &
  (How extends 'change' ? { key?: string } : unknown);

type AnswerOf<Of, How extends Kind> = How extends 'download'
  ? Response
  : Of extends { answer: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : never;

/** The argument is optional when all members are. */
export type Method<Id extends OperationId, Of = Operations[Id], How extends Kind = Operations[Id]['kind']> =
  {} extends InputOf<Of, How>
    ? (input?: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>
    : (input: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>;

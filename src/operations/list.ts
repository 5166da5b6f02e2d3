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
 * Every operation by its id: API, client, commands and page have route, role, sentences and schemas from here. How each is carried out
 * is in `runs`, so that the client and the help of the command line load none of the product.
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

/** An operation of which nothing is known but that it is one. */
export const operationOf = (id: OperationId): Operation => operations[id];

/** What an operation does and what to know besides, in whole sentences. */
export function sentencesOf(id: OperationId): string {
  const { says, more = '' } = operationOf(id);
  return `${says}. ${more}`.trimEnd();
}

/** What an operation takes, as its schemas have read it: parameters of the path by name, `query` and `body`. */
export type Taken<Id extends OperationId> = (Read<Operations[Id], 'params'> extends infer Params extends object ? Params : unknown) & {
  query: Read<Operations[Id], 'query'>;
  body: Read<Operations[Id], 'body'>;
} & (Operations[Id] extends { files: readonly (infer Name extends string)[] } ? { files: SentFiles<Name> } : unknown);

/** Files that came with a request, in a folder that is gone after it. */
export interface SentFiles<Name extends string = string> {
  folder: string;
  paths: Readonly<Record<Name, string>>;
  /** SHA-256 of each: the same files under another key are another request, and the same one under the same key. */
  hashes: Readonly<Record<Name, string>>;
}

/** What an operation answers, before it is written; unknown of a download. */
export type Answer<Id extends OperationId> = Operations[Id] extends { answer: infer Schema extends z.ZodType } ? z.input<Schema> : unknown;

/** A parameter as it is written into an address: what the server reads of it, or one where it takes several. */
type Parameter<Read> = Read | (Read extends readonly (infer Item)[] ? Item : never);
type QueryOf<Schema extends z.ZodType> = {
  [Name in keyof z.input<Schema>]: Parameter<z.output<Schema>[Name & keyof z.output<Schema>]>;
};

/** The members of a record that may be left out as a whole are left out with it. */
type Member<Name extends string, Value> = undefined extends Value
  ? { [Key in Name]?: Value }
  : {} extends Value
    ? { [Key in Name]?: Value }
    : { [Key in Name]: Value };

/** What the schema of a part has read; undefined where the operation has no such part. */
export type Read<Of, Part extends 'params' | 'query' | 'body'> =
  Of extends Record<Part, infer Schema extends z.ZodType> ? z.output<Schema> : undefined;

/** The one object that a method takes: parameters of the path and files by name, `query`, `body`, and `key` of a change. */
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

/** The method of the client for an operation. What may be left out altogether is. */
export type Method<Id extends OperationId, Of = Operations[Id], How extends Kind = Operations[Id]['kind']> =
  {} extends InputOf<Of, How>
    ? (input?: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>
    : (input: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>;

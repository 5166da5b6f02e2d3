import type { OperationId, operations } from '../list.ts';
import type { z } from 'zod';
import { editShapes } from './edits.ts';
import { callShapes, rowShapes, doubtShapes } from './rows.ts';
import { campaignShapes, createShapes } from './campaign.ts';
import { eventShapes, webhookShapes } from './webhooks.ts';
import { handOnShapes } from './exports.ts';
import { scheduleShapes } from './schedules.ts';
import { steerShapes } from './steer.ts';
import { suppressionShapes } from './suppressions.ts';
import { tokenShapes } from './tokens.ts';
import type { Kind } from '../operation.ts';

export const shapes = {
  ...campaignShapes,
  ...createShapes,
  ...steerShapes,
  ...rowShapes,
  ...callShapes,
  ...doubtShapes,
  ...editShapes,
  ...handOnShapes,
  ...eventShapes,
  ...suppressionShapes,
  ...scheduleShapes,
  ...webhookShapes,
  ...tokenShapes,
} satisfies Record<OperationId, Shape>;

/** What an operation takes, as its schemas have read it: parameters of the path by name, `query` and `body`. */
export type Taken<Id extends OperationId> = (Read<(typeof shapes)[Id], 'params'> extends infer Params extends object ? Params : unknown) & {
  query: Read<(typeof shapes)[Id], 'query'>;
  body: Read<(typeof shapes)[Id], 'body'>;
} & ((typeof shapes)[Id] extends { files: readonly (infer Name extends string)[] } ? { files: SentFiles<Name> } : unknown);

/** Files that came with a request, in a folder that is gone after it. */
export interface SentFiles<Name extends string = string> {
  folder: string;
  paths: Readonly<Record<Name, string>>;
  /** SHA-256 of each: the same files under another key are another request, and the same one under the same key. */
  hashes: Readonly<Record<Name, string>>;
}

/** What an operation answers, before it is written; unknown of a download. */
export type Answer<Id extends OperationId> = (typeof shapes)[Id] extends { answer: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : unknown;

/** What an operation takes and answers. */
export interface Shape {
  params?: z.ZodType;
  query?: z.ZodType;
  headers?: z.ZodType;
  body?: z.ZodType;
  /** Names of the files that it takes. */
  files?: readonly string[];
  answer?: z.ZodType;
  /** Instead of an answer, of a download: its media types, and whether it comes in parts where they are asked for (206). */
  produces?: { content: z.ZodType; types: readonly string[]; inParts?: boolean };
  /** Default: 200. */
  status?: 201;
  /** Statuses with which it may refuse besides those of every operation of its kind. */
  refuses?: readonly number[];
}

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
export type Method<Of, Id extends OperationId, How extends Kind = (typeof operations)[Id]['kind']> =
  {} extends InputOf<Of, How>
    ? (input?: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>
    : (input: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>;

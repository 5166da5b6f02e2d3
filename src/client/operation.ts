import type { z } from 'zod';

/** Method and path of an operation, as its route has it. */
export type Route = `${'GET' | 'POST' | 'DELETE'} /api/v1/${string}`;

/** What an operation takes and answers, by the schemas of its route. */
export interface Shape {
  params?: z.ZodType;
  query?: z.ZodType;
  body?: z.ZodType;
  /** Names of the files that it takes. */
  files?: string;
  answer?: z.ZodType;
}

/**
 * `read`: changes nothing. `change`: carries an Idempotency-Key. `ask`: a POST without one, which is sent once. `download`: a read whose
 * answer is handed on as it comes.
 */
export type Kind = 'read' | 'change' | 'ask' | 'download';

/** An operation; its shape is there for the types alone. */
export interface Operation<Of extends Shape = Shape, How extends Kind = Kind> {
  readonly route: Route;
  readonly kind: How;
  readonly shape?: Of;
}

export const read = <Of extends Shape>(route: Route): Operation<Of, 'read'> => ({ route, kind: 'read' });
export const change = <Of extends Shape>(route: Route): Operation<Of, 'change'> => ({ route, kind: 'change' });
export const ask = <Of extends Shape>(route: Route): Operation<Of, 'ask'> => ({ route, kind: 'ask' });
export const download = <Of extends Shape>(route: Route): Operation<Of, 'download'> => ({ route, kind: 'download' });

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

/** The one object that a method takes: parameters of the path and files by name, `query`, `body`, and `key` of a change. */
export type InputOf<Of extends Shape, How extends Kind> = (Of extends { params: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : unknown) &
  (Of extends { files: infer Name extends string } ? Record<Name, Blob> : unknown) &
  (Of extends { query: infer Schema extends z.ZodType } ? Member<'query', QueryOf<Schema>> : unknown) &
  (Of extends { body: infer Schema extends z.ZodType } ? Member<'body', z.input<Schema>> : unknown) &
  (How extends 'change' ? { key?: string } : unknown);

type AnswerOf<Of extends Shape, How extends Kind> = How extends 'download'
  ? Response
  : Of extends { answer: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : never;

/** The method of an operation. What may be left out altogether is. */
export type Method<Each> =
  Each extends Operation<infer Of, infer How>
    ? {} extends InputOf<Of, How>
      ? (input?: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>
      : (input: InputOf<Of, How>) => Promise<AnswerOf<Of, How>>
    : never;

import type { z } from 'zod';

/** What the index and the OpenAPI document say of a control. */
export interface ControlAbout {
  /** One sentence. */
  says: string;
  /** What the handler checks the request with. */
  query?: z.ZodType;
  body?: z.ZodType;
  bodyIsOptional?: boolean;
  /** Media type of the body; JSON when left out. */
  takes?: string;
  /** Media types of the answer, the usual one first; JSON when left out. */
  answers?: readonly string[];
  /** Answered without the control token. */
  open?: boolean;
  /** Longest body; the server's limit when left out. */
  longestBytes?: number;
}

/** A control as it is installed, such as `GET /_sandbox/calls`. */
export interface ControlRoute {
  method: string;
  path: string;
  about: ControlAbout;
}

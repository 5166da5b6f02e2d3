import type { RunId } from '../../../operations/runs/perform.ts';
import type { SentFiles } from '../../../operations/list.ts';
import type { Answer, FormInput, Confirmation } from './press.ts';
import type { ViewRequest } from './view.ts';

/** Its address shows a form, and the form runs an operation. */
export interface ConsoleAction {
  path: string;
  /** Its role is required for the form. */
  op: RunId;
  form: (request: ViewRequest, given: FormInput) => Confirmation | Promise<Confirmation>;
  /** File fields; the form is then sent as `multipart/form-data`. */
  files?: readonly string[];
  /** Input besides the path parameters; default: none. */
  call?: (sent: Sent, request: ViewRequest) => Call | Promise<Call>;
  /** Redirect and message. Null: shows the form again with the answer, as after a dry run. */
  done: (sent: Sent, answer: Answer) => { to: string; said: string } | null;
}

export interface Sent {
  campaignId: string;
  row: number;
  fields: URLSearchParams;
  /** By field name. */
  files: SentFiles;
}

export interface Call {
  /** Runs instead, such as a preview. */
  op?: RunId;
  query?: Readonly<Record<string, string>>;
  body?: object;
}

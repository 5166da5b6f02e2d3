import type { RunId } from '../../../operations/runs/perform.ts';
import type { SentFiles } from '../../../operations/list.ts';
import type { Answer, Given, Press } from './press.ts';
import type { ViewRequest } from './view.ts';

/** A change that the page offers: its address shows a form, and what the form sends is carried out as an operation. */
export interface ConsoleAction {
  path: string;
  /** The operation, whose role the form takes. */
  op: RunId;
  form: (request: ViewRequest, given: Given) => Press | Promise<Press>;
  /** Names of the files that its form takes; such a form is sent as `multipart/form-data`. */
  files?: readonly string[];
  /** What the operation takes besides what the path names; left out: nothing. */
  call?: (sent: Sent, request: ViewRequest) => Call | Promise<Call>;
  /** Where to go when it is done, and what is said there. Null: nowhere, the form is shown with the answer, as after a dry run. */
  done: (sent: Sent, answer: Answer) => { to: string; said: string } | null;
}

export interface Sent {
  campaignId: string;
  row: number;
  fields: URLSearchParams;
  /** Those that were chosen, by the names of their fields. */
  files: SentFiles;
}

export interface Call {
  /** Another operation that is asked first, such as a preview. */
  op?: RunId;
  query?: Readonly<Record<string, string>>;
  body?: object;
}

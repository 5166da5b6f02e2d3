import { randomUUID } from 'node:crypto';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { operations, type OperationId } from '../../../operations/list.ts';
import { filledPath } from '../../../operations/operation.ts';
import type { TokenRole } from '../../../ledger/console/tokens.ts';
import type { View, ViewRequest } from './view.ts';

/** A change that the page offers: its address shows a form, and what the form sends is carried out by the API. */
export interface ConsoleAction {
  /** Such as `/campaigns/:campaign/pause`. */
  path: string;
  role: TokenRole;
  /** Says in numbers what it will do, with the form that does it. */
  form: (request: ViewRequest, given: Given) => Promise<View>;
  /** Names of the files that its form takes; such a form is sent as `multipart/form-data`. */
  files?: readonly string[];
  call: (sent: Sent, request: ViewRequest) => ApiCall | Promise<ApiCall>;
  /** Where to go when it is done, and what is said there. Null: nowhere, the form is shown with the answer, as after a dry run. */
  done: (sent: Sent, answer: ApiAnswer) => { to: string; said: string } | null;
}

/** What a form is shown with. */
export interface Given {
  /** What was sent and refused; null where nothing was sent yet. */
  fields: URLSearchParams | null;
  /** Why, in the API's own words. */
  refused: string | null;
  /** The fields of the request that were refused; `refused` names them, too. */
  errors?: readonly FieldError[];
  /** What the API has answered where `done` says to show it. */
  answer: ApiAnswer['body'] | null;
}

export interface FieldError {
  path: string;
  message: string;
}

export interface Sent {
  params: Readonly<Record<string, string>>;
  fields: URLSearchParams;
  /** Those that were chosen, by the names of their fields. */
  files: Readonly<Record<string, Blob>>;
}

export interface ApiCall {
  method: 'POST' | 'DELETE';
  url: string;
  /** JSON, or a `FormData` with files. */
  body?: object;
}

/** The request of an operation on what the path of the page names. */
export function apiCall(
  id: OperationId,
  params: Sent['params'] = {},
  query: Readonly<Record<string, string>> = {},
): Pick<ApiCall, 'method' | 'url'> {
  const { route } = operations[id];
  const asked = new URLSearchParams(query).toString();
  const url = `${filledPath(route, params)}${asked === '' ? '' : `?${asked}`}`;
  return { method: route.startsWith('DELETE') ? 'DELETE' : 'POST', url };
}

export interface ApiAnswer {
  /** The same request was carried out before: a button was pressed twice. */
  replayed: boolean;
  body: Record<string, unknown>;
}

/** The form of an action: it sends itself to the address at which it stands, with a key of its own, so that pressing twice acts once. */
export function actionForm(
  { refused, errors = [] }: Pick<Given, 'refused' | 'errors'>,
  { body, button, tone, back, files, keep = 'Back, change nothing', tells = [] }: ActionForm,
): Html {
  const isToldBelow = errors.length > 0 && errors.every(({ path }) => tells.includes(path));
  return html`
    ${refused === null || isToldBelow ? null : html`<p class="refused" role="alert">${refused}</p>`}
    <form class="act" method="post" ${files === undefined ? null : html`enctype="multipart/form-data"`}>
      <input type="hidden" name="key" value="${randomUUID()}" />
      ${body}
      <p class="actions">
        <button class="btn primary${tone === 'danger' ? ' danger' : ''}">${button}</button>
        <a class="btn bare" href="${back}">${keep}</a>
      </p>
    </form>
  `;
}

interface ActionForm {
  body?: HtmlValue;
  button: string;
  tone?: 'danger';
  back: string;
  keep?: string;
  files?: true;
  /** Fields of the request whose errors `body` shows where they are written. */
  tells?: readonly string[];
}

import { randomUUID } from 'node:crypto';
import { html, type Html, type HtmlValue } from '../../html/html.ts';
import type { TokenRole } from '../../ledger/desk/tokens.ts';
import type { View, ViewRequest } from './view.ts';

/** A change that the page offers: its address shows a form, and what the form sends is carried out by the API. */
export interface DeskAction {
  /** Such as `/campaigns/:campaign/pause`. */
  path: string;
  role: TokenRole;
  /** Says in numbers what it will do, with the form that does it. */
  form: (request: ViewRequest, given: Given) => Promise<View>;
  call: (sent: Sent) => ApiCall;
  /** Where to go when it is done, and what is said there. */
  done: (sent: Sent, answer: ApiAnswer) => { to: string; said: string };
}

/** What a form is shown with. */
export interface Given {
  /** What was sent and refused; null where nothing was sent yet. */
  fields: URLSearchParams | null;
  /** Why, in the API's own words. */
  refused: string | null;
}

export interface Sent {
  params: Readonly<Record<string, string>>;
  fields: URLSearchParams;
}

/** A request to this server's own API. */
export interface ApiCall {
  method: 'POST' | 'DELETE';
  url: string;
  body?: object;
}

export interface ApiAnswer {
  /** The same request was carried out before: a button was pressed twice. */
  replayed: boolean;
  body: Record<string, unknown>;
}

/** The form of an action: it sends itself to the address at which it stands, with a key of its own, so that pressing twice acts once. */
export function actionForm({ refused }: Given, { body, button, tone, back }: ActionForm): Html {
  return html`
    ${refused === null ? null : html`<p class="refused" role="alert">${refused}</p>`}
    <form class="act" method="post">
      <input type="hidden" name="key" value="${randomUUID()}" />
      ${body}
      <p class="actions">
        <button ${tone === 'danger' ? html`class="danger"` : null}>${button}</button>
        <a href="${back}">Back, change nothing</a>
      </p>
    </form>
  `;
}

interface ActionForm {
  body?: HtmlValue;
  button: string;
  tone?: 'danger';
  back: string;
}

import { badge, type Tone } from '../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../presentation/html/html.ts';
import type { CallState } from '../core/state/call.ts';

const stateWords: Record<CallState, [Tone, string]> = {
  queued: ['quiet', 'Queued'],
  dialing: ['wait', 'Dialing'],
  in_progress: ['live', 'On the line'],
  processing: ['wait', 'Processing'],
  done: ['good', 'Done'],
  failed: ['bad', 'Failed'],
};

export function stateWord(state: CallState): string {
  return stateWords[state][1];
}

export function stateBadge(state: CallState): Html {
  return badge(...stateWords[state]);
}

/** The address of a view; what is empty is left out. */
export function viewPath(view: string, more: Record<string, string | number | undefined> = {}): string {
  const query = new URLSearchParams({ view });
  for (const [name, value] of Object.entries(more)) if (value !== undefined && value !== '') query.set(name, String(value));
  return `/?${query.toString()}`;
}

export interface ButtonRequest {
  request: string;
  body?: unknown;
  said: string;
  confirm?: string;
}

export function button(text: string, { request, body, said, confirm }: ButtonRequest, attributes: HtmlValue = null): Html {
  const asked = confirm === undefined ? null : html`data-confirm="${confirm}"`;
  const sent = body === undefined ? null : html`data-body="${JSON.stringify(body)}"`;
  return html`<form class="inline" data-request="${request}" data-said="${said}" ${sent} ${asked}>
    <button ${attributes}>${text}</button>
  </form>`;
}
